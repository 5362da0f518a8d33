import { beforeAll, describe, expect, it } from 'vitest'
import { fromHex } from '../../../src/base/bytes.ts'
import { CODEC_RAW } from '../../../src/codec/cid.ts'
import { blockCid } from '../../../src/crypto/blockCid.ts'
import type { Kernel } from '../../../src/fvm/kernel/kernel.ts'
import { ActorExit, Errno, FatalError, OutOfGas, SyscallError } from '../../../src/fvm/kernel/outcomes.ts'
import { type EngineOptions, WasmEngine } from '../../../src/fvm/wasm/wasmEngine.ts'
import { FakeKernel } from './fakeKernel.ts'
import { ACTORS } from './testActors.ts'

/** Memory of its own for every run, or turns in memory of the host: nobody may see a difference. */
let options: EngineOptions = {}
const engines = { 2: new WasmEngine(2), 3: new WasmEngine(3), 4: new WasmEngine(4) }
const hostEngines = {
  2: new WasmEngine(2, undefined, { hostMemoryFrom: 0 }),
  3: new WasmEngine(3, undefined, { hostMemoryFrom: 0 }),
  4: new WasmEngine(4, undefined, { hostMemoryFrom: 0 }),
}

function run(name: string, kernel: Kernel, params = 0, major: 2 | 3 | 4 = 4): number {
  const wasm = fromHex(ACTORS[name]?.wasm ?? '')
  return (options.hostMemoryFrom === 0 ? hostEngines : engines)[major]
    .code(blockCid(wasm, CODEC_RAW), () => wasm)
    .invoke(kernel, params)
}

function failure(name: string, fake = new FakeKernel(), params = 0, major: 2 | 3 | 4 = 4): unknown {
  try {
    return run(name, fake.with(), params, major)
  } catch (error) {
    return error
  }
}

const exitOf = (error: unknown): unknown => (error instanceof ActorExit ? error.exitCode : error)

/** One page of memory: 65536 bytes of 0.4 gas. */
const MEMORY_INIT = 'wasm_memory_init 26214400'
/** The thunk of a function with one parameter. */
const THUNK = 56_000
const SYSCALL = 'OnSyscall 14000000'

for (const hostMemoryFrom of [undefined, 0]) {
  describe(hostMemoryFrom === 0 ? 'in memory of the host' : 'in memory of its own', () => {
    beforeAll(() => {
      options = hostMemoryFrom === undefined ? {} : { hostMemoryFrom }
    })
    describe('an instance', () => {
      it('pays for its memory and its exported table before it runs', () => {
        const fake = new FakeKernel()
        run('table', fake.with())
        expect(fake.charges).toEqual(['wasm_table_init 32000', MEMORY_INIT, 'wasm_exec 0', `wasm_exec ${THUNK + 4000}`])
        expect(fake.used).toBe(65_536 + 80)
      })

      it('pays for none of that in FVM 2', () => {
        const fake = new FakeKernel()
        run('table', fake.with(), 0, 2)
        expect(fake.charges).toEqual([`wasm_exec ${THUNK + 4000}`])
      })

      it('is fatal without memory or entry point, from the reference’s point of view', () => {
        expect(failure('noMemory')).toBeInstanceOf(FatalError)
        expect(failure('wrongInvoke')).toBeInstanceOf(FatalError)
        expect(failure('noInvoke', undefined, 0, 3)).toBeInstanceOf(FatalError)
        expect(exitOf(failure('noInvoke'))).toBe(5)
      })

      it('is fatal with an import that is no syscall of its version', () => {
        expect(failure('unknownImport')).toBeInstanceOf(FatalError)
        expect(failure('wrongImport')).toBeInstanceOf(FatalError)
        expect(failure('exit', undefined, 33, 2)).toBeInstanceOf(FatalError)
      })

      it('that does not fit into the message’s memory ends with exit code 4', () => {
        expect(exitOf(failure('grow', new FakeKernel(1e12, 65_535)))).toBe(4)
      })

      it('whose start function traps: exit code 4, fatal in FVM 2', () => {
        expect(exitOf(failure('startTrap'))).toBe(4)
        expect(failure('startTrap', undefined, 0, 2)).toBeInstanceOf(FatalError)
      })
    })

    describe('a trap', () => {
      for (const [name, text] of [
        ['trap', 'wasm trap: wasm `unreachable` instruction executed'],
        ['outOfBounds', 'wasm trap: out of bounds memory access'],
        ['divideByZero', 'wasm trap: integer divide by zero'],
        ['recursion', 'wasm trap: wasm `unreachable` instruction executed'],
      ] as const) {
        it(`ends the actor with exit code 4: ${name}`, () => {
          const error = failure(name)
          expect(exitOf(error)).toBe(4)
          // Checks of host memory end in `unreachable`, so that one text differs.
          if (options.hostMemoryFrom === undefined) expect((error as Error).message).toBe(text)
        })
      }

      it('with the counter below zero is out of gas', () => {
        const fake = new FakeKernel(40_000_000)
        expect(failure('endless', fake)).toBeInstanceOf(OutOfGas)
        expect(fake.available).toBe(0)
      })

      it('charges what was paid for before it', () => {
        const fake = new FakeKernel()
        failure('trap', fake)
        expect(fake.charges.at(-1)).toBe(`wasm_exec ${THUNK}`)
      })
    })

    describe('a syscall', () => {
      it('charges what ran before it, then itself', () => {
        const fake = new FakeKernel()
        const kernel = fake.with({ blockStat: () => ({ codec: 0x71, size: 200 }) })
        expect(run('stat', kernel)).toBe(200)
        // thunk, then: const, local.get, call, const, load
        expect(fake.charges).toEqual([
          MEMORY_INIT,
          'wasm_exec 0',
          `wasm_exec ${THUNK + 20_000}`,
          SYSCALL,
          'wasm_exec 0',
        ])
        expect(fake.lastError).toBeUndefined()
      })

      it('without room for its result fails before it runs, and the counter stays: the next charge takes it all again', () => {
        const fake = new FakeKernel()
        const kernel = fake.with({
          blockStat: () => {
            throw new Error('must not run')
          },
        })
        expect(run('noRoom', kernel)).toBe(Errno.IllegalArgument)
        const exec = `wasm_exec ${THUNK + 12_000}`
        expect(fake.charges).toEqual([MEMORY_INIT, 'wasm_exec 0', exec, SYSCALL, exec])
        expect(fake.lastError).toMatchObject({ module: 'ipld', function: 'block_stat', errno: 1 })
      })

      it('gives the actor the error number and notes the cause', () => {
        const fake = new FakeKernel()
        const kernel = fake.with({
          currentBalance: () => {
            throw new SyscallError(Errno.Forbidden, 'no')
          },
        })
        run('balance', kernel)
        expect(fake.lastError).toEqual({ module: 'self', function: 'current_balance', errno: 11, message: 'no' })
      })

      it('writes its result at any address, low half first', () => {
        const kernel = new FakeKernel().with({ currentBalance: () => (5n << 64n) | 0x0102_0304n })
        expect(run('balance', kernel, 1)).toBe(0x0102_0304)
        expect(run('balance', kernel, 9)).toBe(5)
      })

      it('lets a failure of the host pass as it is', () => {
        const missing = new Error('a block is missing')
        const kernel = new FakeKernel().with({
          currentBalance: () => {
            throw missing
          },
        })
        expect(() => run('balance', kernel)).toThrow(missing)
        const trap = new WebAssembly.RuntimeError('unreachable')
        const broken = new FakeKernel().with({
          currentBalance: () => {
            throw trap
          },
        })
        expect(() => run('balance', broken)).toThrow(trap)
      })

      it('exit ends the actor with its code, message and block; codes of the system become 9', () => {
        expect(failure('exit', undefined, 33)).toMatchObject({ exitCode: 33, message: 'reason', returnHandle: 4 })
        expect(failure('exit', undefined, 0)).toMatchObject({ exitCode: 0, message: 'reason', returnHandle: 4 })
        expect(failure('exit', undefined, 5)).toMatchObject({ exitCode: 9, returnHandle: 4 })
      })
    })

    describe('memory', () => {
      it('grows to 512 MiB and not beyond', () => {
        const fake = new FakeKernel()
        expect(run('grow', fake.with(), 8191)).toBe(1)
        expect(fake.used).toBe(8192 * 65_536)
        expect(run('grow', new FakeKernel().with(), 8192) | 0).toBe(-1)
        expect(run('grow', new FakeKernel(1e18).with(), 0xffff_ffff | 0) | 0).toBe(-1)
      })

      it('pays for growth even when that is refused, and shows the part of it that happened', () => {
        const fake = new FakeKernel()
        run('grow', fake.with(), 3)
        expect(fake.charges.slice(2)).toEqual([`wasm_exec ${THUNK + 8000}`, `wasm_memory_grow ${3 * 26_214_400}`])
        const refused = new FakeKernel()
        run('grow', refused.with(), 8192)
        expect(refused.charges.slice(2)).toEqual([`wasm_exec ${THUNK + 8000 + 8192 * 26_214_400}`])
      })

      it('grows within what the message has left, counted per growth', () => {
        // callers hold all of the 2 GiB but 6 pages: 1 + 3 pages fit, 3 more do not
        const fake = new FakeKernel()
        fake.used = 2 ** 31 - 6 * 65_536
        expect(run('growTwice', fake.with(), 3)).toBe(4 * 100_000 - 1)
        expect(fake.used).toBe(2 ** 31 - 2 * 65_536)
      })
    })

    describe('a module that runs again', () => {
      for (const major of [2, 3, 4] as const) {
        it(`finds and pays what it found and paid the first time, also behind a trap, FVM ${major}`, () => {
          const outcome = (params: number): unknown => {
            const fake = new FakeKernel()
            const trapped = params !== 0 && exitOf(failure('witness', fake, params, major))
            const result = params === 0 ? run('witness', fake.with(), 0, major) : trapped
            return { result, charges: fake.charges, used: fake.used }
          }
          const first = outcome(0)
          // 5 in the global, 7 in its data, 0 elsewhere, 1 page and then 2
          expect(first).toMatchObject({ result: 201_075 })
          expect(outcome(0)).toEqual(first)
          expect(outcome(1)).toMatchObject({ result: 4 })
          expect(outcome(0)).toEqual(first)
          expect(outcome(0)).toEqual(first)
        })
      }
    })

    describe('floating point', () => {
      it('has one NaN', () => {
        expect(run('nan32', new FakeKernel().with())).toBe(0x7fc0_0000)
        expect(run('nan64', new FakeKernel().with())).toBe(0x7ff8_0000)
      })
    })
  })
}

/** How many instances the engine makes meanwhile. */
function instancesMade(meanwhile: () => void): number {
  const { Instance } = WebAssembly
  let made = 0
  WebAssembly.Instance = class extends Instance {
    constructor(module: WebAssembly.Module, imports?: WebAssembly.Imports) {
      super(module, imports)
      made++
    }
  }
  try {
    meanwhile()
  } finally {
    WebAssembly.Instance = Instance
  }
  return made
}

describe('instances', () => {
  const engine = new WasmEngine(4)
  const invoke = (name: string, params: number): number => {
    const wasm = fromHex(ACTORS[name]?.wasm ?? '')
    return engine.code(blockCid(wasm, CODEC_RAW), () => wasm).invoke(new FakeKernel().with(), params)
  }

  it('are made once for runs that follow each other, and anew after a trap', () => {
    const twice = (): void => {
      invoke('witness', 0)
      invoke('witness', 0)
    }
    expect(instancesMade(twice)).toBe(1)
    expect(instancesMade(twice)).toBe(0)
    expect(() => invoke('witness', 1)).toThrow(ActorExit)
    expect(instancesMade(twice)).toBe(1)
  })

  it('run again with a stack that is clean to where it was last, and a red zone below', () => {
    const thrice = (): number[] => [0, 0, 0].map((params) => invoke('stack', params))
    expect(instancesMade(() => expect(thrice()).toEqual([7, 7, 7]))).toBe(1)
  })

  it('run again after the actor’s own exit', () => {
    expect(
      instancesMade(() => {
        expect(() => invoke('exit', 33)).toThrow(ActorExit)
        expect(() => invoke('exit', 33)).toThrow(ActorExit)
      }),
    ).toBe(1)
  })

  it('whose memory is large are not kept', () => {
    expect(
      instancesMade(() => {
        invoke('grow', 64)
        invoke('grow', 64)
      }),
    ).toBe(2)
  })
})
