import { describe, expect, it } from 'vitest'
import { fromHex } from '../../../src/base/bytes.ts'
import { WasmError } from '../../../src/fvm/wasm/errors.ts'
import { instrument } from '../../../src/fvm/wasm/instrument.ts'
import { moduleInfo } from '../../../src/fvm/wasm/moduleInfo.ts'
import { FVM2_RULES, FVM4_RULES, type InstrumentationRules } from '../../../src/fvm/wasm/rules.ts'
import { CASES } from './cases.ts'
import { chargesOf } from './chargesOf.ts'

function outcome(wasm: Uint8Array, rules: InstrumentationRules): unknown {
  try {
    return chargesOf(instrument(wasm, rules, { forRun: false }))
  } catch (error) {
    if (error instanceof WasmError) return 'refused'
    throw error
  }
}

function forRun(hex: string, rules: InstrumentationRules): Uint8Array<ArrayBuffer> {
  return new Uint8Array(instrument(fromHex(hex), rules))
}

function codeOf(hex: string, rules: InstrumentationRules = FVM4_RULES): string | undefined {
  const wasm = fromHex(hex)
  try {
    instrument(wasm, rules)
    return undefined
  } catch (error) {
    if (error instanceof WasmError) return error.code
    throw error
  }
}

const HEAD = '0061736d01000000'
/** (type (func)) (func (type 0)) with `code` as the only body. */
const withCode = (code: string): string => {
  const body = `00${code}0b`
  const size = (bytes: number): string => bytes.toString(16).padStart(2, '0')
  const length = body.length / 2
  return `${HEAD}01040160000003020100050301000${'1'}0a${size(length + 2)}01${size(length)}${body}`
}

describe('instrumentation', () => {
  for (const { name, wasm, fvm4, fvm2 } of CASES) {
    it(`charges as the reference does: ${name}`, () => {
      expect(outcome(fromHex(wasm), FVM4_RULES)).toEqual(fvm4)
      expect(outcome(fromHex(wasm), FVM2_RULES)).toEqual(fvm2)
    })
  }

  it('gives modules that the engine accepts', () => {
    for (const { wasm, fvm2 } of CASES) {
      expect(WebAssembly.validate(forRun(wasm, FVM4_RULES))).toBe(true)
      if (fvm2 === 'refused') continue
      expect(WebAssembly.validate(forRun(wasm, FVM2_RULES))).toBe(true)
    }
  })

  it('says what a module has', () => {
    const [first] = CASES.filter(({ name }) => name === 'indirect calls and a start function')
    const module = new WebAssembly.Module(forRun(first?.wasm ?? '', FVM4_RULES))
    expect(moduleInfo(module)).toEqual({
      tableElements: 2,
      invoke: 'absent',
      hasStart: true,
      grows: false,
      fitsHostMemory: true,
      reusable: false,
      data: { start: 0, end: 0 },
      imports: [],
    })
  })

  it('knows which instances cannot be put back', () => {
    const reusable = (name: string): boolean => {
      const wasm = CASES.find((entry) => entry.name === name)?.wasm ?? ''
      return moduleInfo(new WebAssembly.Module(forRun(wasm, FVM4_RULES))).reusable
    }
    expect(reusable('memory.grow of a variable')).toBe(true)
    expect(reusable('memory.init and data.drop')).toBe(false)
    expect(reusable('table operations')).toBe(false)
    expect(reusable('indirect calls and a start function')).toBe(false)
  })

  it('does not move exported globals in FVM 3 and 4, as 0.4.0 does not', () => {
    const [globals] = CASES.filter(({ name }) => name === 'globals move by one')
    const exported = (rules: InstrumentationRules): unknown => {
      const module = new WebAssembly.Module(forRun(globals?.wasm ?? '', rules))
      const counter = new WebAssembly.Global({ value: 'i64', mutable: true }, 1_000_000n)
      const { exports } = new WebAssembly.Instance(module, { gas: { gas_counter: counter, gas_couner: counter } })
      return (exports.b as WebAssembly.Global).value
    }
    expect(exported(FVM2_RULES)).toBe(7n)
    expect(exported(FVM4_RULES)).toBe(5)
  })

  it('refuses what no actor may use', () => {
    const refusals: readonly (readonly [string, string])[] = [
      ['SIMD', withCode('fd0c000000000000000000000000000000001a')],
      ['threads', withCode('fe0300')],
      ['tail call', withCode('1200')],
      ['try', withCode('06400b')],
      ['throw', withCode('0800')],
      ['ref.null', withCode('d0701a')],
      ['ref.is_null', withCode('d0d11a')],
      ['typed select', withCode('4100410041001c017f1a')],
      ['block with a type index', withCode('02000b')],
      ['several results', `${HEAD}0106016000027f7f`],
      ['second memory', `${HEAD}05050200000000`],
      ['64-bit memory', `${HEAD}05030104000a0100`],
      ['imported global', `${HEAD}020801016101620${'3'}7f00`],
      ['externref table', `${HEAD}0404016f0001`],
      ['extended constant', `${HEAD}0608017f00410141016a0b`],
    ]
    for (const [name, hex] of refusals)
      expect(codeOf(hex, { ...FVM4_RULES, needsFunctions: false }), name).toBeDefined()
  })

  it('refuses too much memory and too large tables from FVM 3 on', () => {
    const bare = { ...FVM4_RULES, needsFunctions: false }
    // 8192 pages are the limit, 20,000 elements
    expect(codeOf(`${HEAD}0504010080400a0100`, bare)).toBeUndefined()
    expect(codeOf(`${HEAD}0504010081400a0100`, bare)).toBe('WASM_TOO_LARGE')
    expect(codeOf(`${HEAD}0406017000a19c010a0100`, bare)).toBe('WASM_TOO_LARGE')
    expect(codeOf(`${HEAD}0504010081400a0100`, FVM2_RULES)).toBeUndefined()
  })

  it('refuses sign extension and saturating conversions in FVM 2 only', () => {
    const extend = withCode('4100c01a')
    const saturate = withCode('4300000000fc001a')
    expect(codeOf(extend, FVM2_RULES)).toBe('WASM_REFUSED')
    expect(codeOf(saturate, FVM2_RULES)).toBe('WASM_REFUSED')
    expect(codeOf(extend)).toBeUndefined()
    expect(codeOf(saturate)).toBeUndefined()
  })

  it('refuses a negative constant in front of a priced operation, FVM 3 and 4', () => {
    const negative = withCode('417f40001a')
    expect(codeOf(negative)).toBe('WASM_REFUSED')
    expect(codeOf(negative, FVM2_RULES)).toBeUndefined()
  })
})
