/** Below this many bytes a loop copies faster than `set(subarray)` (measured on Node 24: 60 ns per call). */
const SHORT_COPY = 40

/** A growing byte buffer with the number forms of a Wasm binary. */
export class ByteSink {
  bytes: Uint8Array
  length = 0

  /** @param capacity - bytes to start with */
  constructor(capacity: number) {
    this.bytes = new Uint8Array(capacity)
  }

  /** Makes room for `count` more bytes. */
  reserve(count: number): void {
    const need = this.length + count
    if (need <= this.bytes.length) return
    const grown = new Uint8Array(Math.max(need, this.bytes.length * 2))
    grown.set(this.bytes.subarray(0, this.length))
    this.bytes = grown
  }

  byte(value: number): void {
    if (this.length === this.bytes.length) this.reserve(1)
    this.bytes[this.length++] = value
  }

  /** Unsigned LEB128, shortest form. */
  u32(value: number): void {
    this.reserve(5)
    while (value > 127) {
      this.bytes[this.length++] = (value & 127) | 128
      value >>>= 7
    }
    this.bytes[this.length++] = value
  }

  /** Signed LEB128 of a 32-bit integer, shortest form. */
  s32(value: number): void {
    this.reserve(5)
    for (;;) {
      const low = value & 127
      value >>= 7
      if ((value === 0 && (low & 64) === 0) || (value === -1 && (low & 64) !== 0)) {
        this.bytes[this.length++] = low
        return
      }
      this.bytes[this.length++] = low | 128
    }
  }

  /** Signed LEB128 of the 64-bit integer `high * 2^32 + low`, shortest form; both halves as unsigned. */
  s64(high: number, low: number): void {
    this.reserve(10)
    high |= 0
    low |= 0
    for (;;) {
      const bits = low & 127
      low = (low >>> 7) | (high << 25)
      high >>= 7
      if ((high === 0 && low === 0 && (bits & 64) === 0) || (high === -1 && low === -1 && (bits & 64) !== 0)) {
        this.bytes[this.length++] = bits
        return
      }
      this.bytes[this.length++] = bits | 128
    }
  }

  /** Writes instructions, see instructions.ts. */
  emit(...instructions: (readonly number[])[]): void {
    for (const instruction of instructions) this.code(instruction)
  }

  /** The same for one piece of code: for what is written once per edit, where a list of arguments shows. */
  code(instructions: readonly number[]): void {
    const count = instructions.length
    this.reserve(count)
    const { bytes } = this
    let at = this.length
    for (let index = 0; index < count; index++) bytes[at++] = instructions[index] as number
    this.length = at
  }

  /** Copies `source[from, to)`. */
  copy(source: Uint8Array, from: number, to: number): void {
    const count = to - from
    this.reserve(count)
    if (count < SHORT_COPY) {
      const { bytes } = this
      let at = this.length
      for (let index = from; index < to; index++) bytes[at++] = source[index] as number
      this.length = at
    } else {
      this.bytes.set(source.subarray(from, to), this.length)
      this.length += count
    }
  }

  /** A length-prefixed run of bytes (ASCII text, for instance). */
  text(value: string): void {
    this.u32(value.length)
    for (let index = 0; index < value.length; index++) this.byte(value.charCodeAt(index))
  }

  /** Starts something whose size comes first; give the result to {@link endSized}. */
  beginSized(): number {
    this.reserve(5)
    this.length += 5
    return this.length
  }

  /** Writes the size, in its shortest form, in front of all that was written since `start`. */
  endSized(start: number): void {
    const end = this.length
    this.length = start - 5
    this.u32(end - start)
    this.bytes.copyWithin(this.length, start, end)
    this.length += end - start
  }
}
