import { WasmError } from './errors.ts'

/** A byte range of the module. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** Reads numbers of a Wasm binary; never beyond `end`. */
export class WasmReader {
  readonly bytes: Uint8Array
  at: number
  end: number

  constructor(bytes: Uint8Array, at: number, end: number) {
    this.bytes = bytes
    this.at = at
    this.end = end
  }

  byte(): number {
    if (this.at >= this.end) throw malformed(this.at, 'unexpected end')
    return this.bytes[this.at++] as number
  }

  /** Unsigned LEB128 of at most 32 bits; longer forms than needed are allowed, as the engines allow them. */
  u32(): number {
    let byte = this.byte()
    if (byte < 128) return byte
    let value = byte & 127
    for (let shift = 7; shift < 35; shift += 7) {
      byte = this.byte()
      if (shift === 28 && byte > 15) throw malformed(this.at, 'integer too large')
      value |= (byte & 127) << shift
      if (byte < 128) return value >>> 0
    }
    throw malformed(this.at, 'integer too long')
  }

  /** Signed LEB128 of 32 bits. */
  s32(): number {
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte()
      value |= (byte & 127) << shift
      if (byte < 128) return shift < 28 ? (value << (25 - shift)) >> (25 - shift) : value
    }
    throw malformed(this.at, 'integer too long')
  }

  /** Passes over a LEB128 of at most 10 bytes. */
  skipLeb(): void {
    for (let count = 0; count < 10; count++) if (this.byte() < 128) return
    throw malformed(this.at, 'integer too long')
  }

  skip(count: number): void {
    if (count > this.end - this.at) throw malformed(this.at, 'unexpected end')
    this.at += count
  }

  /** A length-prefixed run of bytes. */
  run(): Range {
    const length = this.u32()
    const start = this.at
    this.skip(length)
    return { start, end: this.at }
  }
}

/** Decoding failed at `at`. */
export function malformed(at: number, what: string): WasmError {
  return new WasmError('WASM_MALFORMED', `Cannot decode module: ${what} at byte ${at}`, { at })
}

/** The reference refuses what is at `at`. */
export function refused(at: number, what: string): WasmError {
  return new WasmError('WASM_REFUSED', `Cannot use module: ${what} at byte ${at}`, { at })
}
