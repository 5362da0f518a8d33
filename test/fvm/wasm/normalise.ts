/**
 * Rewrites a module with every number in its shortest form, as encoders write it: our rewriter copies untouched
 * instructions with the padding that linkers leave, the reference encodes all anew.
 */
import { ByteSink } from '../../../src/fvm/wasm/byteSink.ts'
import { OPCODE_IMMEDIATE } from '../../../src/fvm/wasm/opcodes.ts'
import { WasmReader } from '../../../src/fvm/wasm/wasmReader.ts'

/** Numbers that follow each bulk instruction. */
const BULK_NUMBERS = [0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1]

/**
 * @param style - how the reference's encoder writes what has two forms: 'fvm4' (wasm-encoder: element segments name
 * table 0; sections of exports and elements even when empty), 'fvm2' (parity-wasm, then ref-fvm's `fix_wasm_sections`: a data count wherever there is data)
 */
export function normalise(bytes: Uint8Array, style: 'fvm4' | 'fvm2'): Uint8Array {
  const dataCount = countOf(bytes, 11)
  const seen = new Set<number>()
  const out = new ByteSink(bytes.length)
  out.copy(bytes, 0, 8)
  const reader = new WasmReader(bytes, 8, bytes.length)
  while (reader.at < bytes.length) {
    const id = reader.byte()
    const { start, end } = reader.run()
    if (id === 0 || (id === 12 && style === 'fvm2')) continue
    if (id === 10 && style === 'fvm2' && dataCount !== undefined) {
      out.byte(12)
      const size = out.beginSized()
      out.u32(dataCount)
      out.endSized(size)
    }
    for (const section of [7, 9]) {
      if (section < id && style === 'fvm4' && !seen.has(section)) {
        for (const byte of [section, 1, 0]) out.byte(byte)
        seen.add(section)
      }
    }
    seen.add(id)
    out.byte(id)
    const size = out.beginSized()
    if (id === 10) code(bytes, start, end, out)
    else if (id === 9 && style === 'fvm4') elements(bytes, start, end, out)
    else out.copy(bytes, start, end)
    out.endSized(size)
  }
  return out.bytes.slice(0, out.length)
}

function countOf(bytes: Uint8Array, section: number): number | undefined {
  const reader = new WasmReader(bytes, 8, bytes.length)
  while (reader.at < bytes.length) {
    const id = reader.byte()
    const { start, end } = reader.run()
    if (id === section) return new WasmReader(bytes, start, end).u32()
  }
  return undefined
}

function elements(bytes: Uint8Array, start: number, end: number, out: ByteSink): void {
  const reader = new WasmReader(bytes, start, end)
  const count = reader.u32()
  out.u32(count)
  for (let index = 0; index < count; index++) {
    const flags = reader.u32()
    out.u32(flags === 0 ? 2 : flags)
    if (flags === 2) out.u32(reader.u32())
    if (flags === 0) out.u32(0)
    if ((flags & 1) === 0) {
      out.byte(reader.byte())
      out.s32(reader.s32())
      out.byte(reader.byte())
    }
    if (flags !== 0) out.byte(reader.byte())
    else out.byte(0)
    const length = reader.u32()
    out.u32(length)
    for (let item = 0; item < length; item++) out.u32(reader.u32())
  }
}

function code(bytes: Uint8Array, start: number, end: number, out: ByteSink): void {
  const reader = new WasmReader(bytes, start, end)
  const count = reader.u32()
  out.u32(count)
  for (let index = 0; index < count; index++) {
    const range = reader.run()
    const size = out.beginSized()
    body(new WasmReader(bytes, range.start, range.end), out)
    out.endSized(size)
  }
}

function body(reader: WasmReader, out: ByteSink): void {
  const groups = reader.u32()
  out.u32(groups)
  for (let group = 0; group < groups; group++) {
    out.u32(reader.u32())
    out.byte(reader.byte())
  }
  const raw = (count: number): void => {
    for (let index = 0; index < count; index++) out.byte(reader.byte())
  }
  const numbers = (count: number): void => {
    for (let index = 0; index < count; index++) out.u32(reader.u32())
  }
  while (reader.at < reader.end) {
    const op = reader.byte()
    out.byte(op)
    switch (OPCODE_IMMEDIATE[op]) {
      case 1:
        numbers(1)
        break
      case 2:
      case 5:
        numbers(2)
        break
      case 3:
      case 10:
        raw(1)
        break
      case 4: {
        const labels = reader.u32()
        out.u32(labels)
        numbers(labels + 1)
        break
      }
      case 6:
        out.s32(reader.s32())
        break
      case 7: {
        let value = 0n
        let shift = 0n
        for (;;) {
          const byte = reader.byte()
          value |= BigInt(byte & 127) << shift
          shift += 7n
          if (byte < 128) {
            if ((byte & 64) !== 0) value -= 1n << shift
            break
          }
        }
        value = BigInt.asUintN(64, value)
        out.s64(Number(value >> 32n), Number(value & 0xffff_ffffn))
        break
      }
      case 8:
        raw(4)
        break
      case 9:
        raw(8)
        break
      case 11: {
        const bulk = reader.u32()
        out.u32(bulk)
        numbers(BULK_NUMBERS[bulk] ?? 0)
        break
      }
      default:
    }
  }
}
