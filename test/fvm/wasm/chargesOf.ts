/** Reads an instrumented module back: what its functions charge and what their calls take from the stack. */
import { SECTION_CODE, SECTION_FUNCTION, SECTION_IMPORT } from '../../../src/fvm/wasm/module.ts'
import { OPCODE_IMMEDIATE } from '../../../src/fvm/wasm/opcodes.ts'
import { WasmReader } from '../../../src/fvm/wasm/wasmReader.ts'

/** Numbers that follow each bulk instruction. */
const BULK_NUMBERS = [0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1]

export interface FunctionCharges {
  /** milligas of each block of code, in the order of the code */
  readonly charges: string[]
  /** milligas per unit of each operation that is priced when it runs */
  readonly units: number[]
  /** stack units of each guarded call */
  readonly stack: number[]
}

/** One entry per defined function, thunks included, the charging function left out. */
export function chargesOf(wasm: Uint8Array): FunctionCharges[] {
  const sections = new Map<number, { start: number; end: number }>()
  const reader = new WasmReader(wasm, 8, wasm.length)
  while (reader.at < wasm.length) {
    const id = reader.byte()
    sections.set(id, reader.run())
  }
  const at = (id: number): WasmReader => {
    const range = sections.get(id) ?? { start: 0, end: 0 }
    return new WasmReader(wasm, range.start, range.end)
  }
  let imported = 0
  const imports = at(SECTION_IMPORT)
  for (let count = imports.u32(); count > 0; count--) {
    imports.run()
    imports.run()
    if (imports.byte() === 0) {
      imports.u32()
      imported++
    } else {
      imports.skip(2)
    }
  }
  const defined = at(SECTION_FUNCTION).u32()
  const code = at(SECTION_CODE)
  const count = code.u32()
  const bodies = Array.from({ length: count }, () => code.run())
  // The charging function is the first whose code reads the counter and traps; it comes behind all thunks.
  const charge = imported + bodies.findIndex(({ start }) => isCharge(wasm, start))
  if (defined !== count) throw new Error('functions and bodies differ')
  return bodies.slice(0, charge - imported).map(({ start, end }) => read(new WasmReader(wasm, start, end), charge))
}

function isCharge(wasm: Uint8Array, start: number): boolean {
  const code = [0, 0x23, 0, 0x20, 0, 0x7d, 0x24, 0, 0x23, 0, 0x42, 0, 0x53, 0x04, 0x40, 0, 0x0b, 0x0b]
  return code.every((byte, index) => wasm[start + index] === byte)
}

function read(reader: WasmReader, charge: number): FunctionCharges {
  const out: FunctionCharges = { charges: [], units: [], stack: [] }
  for (let groups = reader.u32(); groups > 0; groups--) {
    reader.u32()
    reader.byte()
  }
  let last: [number, bigint][] = []
  while (reader.at < reader.end) {
    const op = reader.byte()
    let operand = 0n
    switch (OPCODE_IMMEDIATE[op]) {
      case 1:
        operand = BigInt(reader.u32())
        break
      case 2:
      case 5:
        reader.u32()
        reader.u32()
        break
      case 3:
      case 10:
        reader.byte()
        break
      case 4:
        for (let labels = reader.u32(); labels >= 0; labels--) reader.u32()
        break
      case 6:
        operand = BigInt(reader.s32())
        break
      case 7:
        operand = s64(reader)
        break
      case 8:
        reader.skip(4)
        break
      case 9:
        reader.skip(8)
        break
      case 11: {
        const bulk = reader.u32()
        for (let numbers = BULK_NUMBERS[bulk] ?? 0; numbers > 0; numbers--) reader.u32()
        break
      }
      default:
    }
    const [before, constant] = last.at(-1) ?? [0, 0n]
    if (op === 0x10 && operand === BigInt(charge)) {
      if (before === 0x42) out.charges.push(String(constant))
      else out.units.push(Number(last.at(-2)?.[1] ?? 0n))
    }
    // global.get h, i32.const cost, i32.sub, global.set h: the end of a guarded call
    if (op === 0x24 && before === 0x6b && last.at(-2)?.[0] === 0x41 && last.at(-3)?.[0] === 0x23) {
      if (last.at(-3)?.[1] === operand && last.at(-4)?.[0] === 0x10) out.stack.push(Number(last.at(-2)?.[1]))
    }
    last = [...last.slice(-6), [op, operand]]
  }
  return out
}

function s64(reader: WasmReader): bigint {
  let value = 0n
  for (let shift = 0n; ; shift += 7n) {
    const byte = reader.byte()
    value |= BigInt(byte & 127) << shift
    if (byte < 128) return BigInt.asIntN(64, (byte & 64) !== 0 ? value - (1n << (shift + 7n)) : value)
  }
}
