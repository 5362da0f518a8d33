/**
 * Random and mutated modules, random answers of the kernel: never a crash or a hang, always one of the three outcomes.
 * The seed is printed with every failure; PETREL_FUZZ_SEED runs another one, PETREL_FUZZ_ROUNDS more of them.
 */
import { describe, expect, it } from 'vitest'
import { fromHex } from '../../../src/base/bytes.ts'
import { CODEC_RAW } from '../../../src/codec/cid.ts'
import { blockCid } from '../../../src/crypto/blockCid.ts'
import type { Kernel } from '../../../src/fvm/kernel/kernel.ts'
import { ActorExit, Errno, FatalError, OutOfGas, SyscallError } from '../../../src/fvm/kernel/outcomes.ts'
import { WasmError } from '../../../src/fvm/wasm/errors.ts'
import { instrument } from '../../../src/fvm/wasm/instrument.ts'
import { FVM2_RULES, FVM4_RULES } from '../../../src/fvm/wasm/rules.ts'
import { SYSCALLS } from '../../../src/fvm/wasm/syscalls/table.ts'
import { WasmEngine } from '../../../src/fvm/wasm/wasmEngine.ts'
import { idAddress } from '../../../src/types/address.ts'
import { CASES } from './cases.ts'
import { FakeKernel } from './fakeKernel.ts'
import { ACTORS } from './testActors.ts'

const environment = (globalThis as { process?: { env: Record<string, string | undefined> } }).process?.env ?? {}
const SEED = Number(environment.PETREL_FUZZ_SEED ?? 20_261_121)
const ROUNDS = Number(environment.PETREL_FUZZ_ROUNDS ?? 3000)

/** xorshift32 */
function random(seed: number): () => number {
  let state = seed | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state >>> 0
  }
}

const SOURCES = [...CASES.map(({ wasm }) => wasm), ...Object.values(ACTORS).map(({ wasm }) => wasm)].map(fromHex)

function mutate(next: () => number): Uint8Array {
  const source = SOURCES[next() % SOURCES.length] as Uint8Array
  let bytes = source.slice()
  for (let edits = 1 + (next() % 4); edits > 0; edits--) {
    const at = 8 + (next() % Math.max(1, bytes.length - 8))
    switch (next() % 4) {
      case 0:
        bytes[at] = next()
        break
      case 1:
        bytes[at] = (bytes[at] ?? 0) ^ (1 << (next() % 8))
        break
      case 2:
        bytes = Uint8Array.from([...bytes.subarray(0, at), next() & 255, ...bytes.subarray(at)])
        break
      default:
        bytes = Uint8Array.from([...bytes.subarray(0, at), ...bytes.subarray(at + 1)])
    }
  }
  return bytes
}

/** A kernel whose every operation answers something of its kind, fails, or runs out of gas. */
function randomKernel(next: () => number): Kernel {
  const cid = blockCid(Uint8Array.of(next() & 255), CODEC_RAW)
  const answers: Record<string, () => unknown> = {
    blockOpen: () => ({ handle: next(), codec: 0x71, size: next() }),
    blockCreate: () => next(),
    blockLink: () => cid,
    blockRead: () => next() | 0,
    blockStat: () => ({ codec: 0x55, size: next() }),
    root: () => cid,
    currentBalance: () => BigInt(next()) << 90n,
    resolveAddress: () => BigInt(next()),
    lookupDelegatedAddress: () => (next() % 2 === 0 ? null : idAddress(BigInt(next()))),
    getActorCodeCid: () => cid,
    nextActorAddress: () => idAddress(BigInt(next())),
    getBuiltinActorType: () => next() % 20,
    getCodeCidForType: () => cid,
    balanceOf: () => BigInt(next()),
    // biome-ignore lint/correctness/useYield: a call that runs no code
    *sendSteps() {
      return { exitCode: next() % 40, returnHandle: next(), returnCodec: 0x51, returnSize: next() }
    },
    verifySignature: () => true,
    verifyBlsAggregate: () => false,
    recoverSecpPublicKey: () => new Uint8Array(65),
    hash: () => new Uint8Array(next() % 65),
    computeUnsealedSectorCid: () => cid,
    verifyConsensusFault: () => ({ faultType: 1, epoch: next(), target: 5n }),
    batchVerifySeals: () => [],
    messageContext: () => ({
      origin: 1n,
      nonce: 1n,
      caller: 2n,
      receiver: 3n,
      method: 4n,
      valueReceived: 1n << 127n,
      gasPremium: 1n,
      readOnly: true,
    }),
    networkContext: () => ({ epoch: next(), timestamp: 5n, baseFee: 5n, chainId: 1n, networkVersion: 28 }),
    baseFee: () => 1n,
    totalFilCircSupply: () => 1n << 100n,
    tipsetCid: () => cid,
    chainRandomness: () => new Uint8Array(32),
    beaconRandomness: () => new Uint8Array(32),
    chainRandomnessTagged: () => new Uint8Array(32),
    beaconRandomnessTagged: () => new Uint8Array(32),
    debugEnabled: () => next() % 2 === 0,
  }
  const fake = new FakeKernel(5e9)
  return new Proxy(fake as unknown as Kernel, {
    get: (target, key: string) => {
      const own = (target as unknown as Record<string, unknown>)[key]
      if (own !== undefined || key === 'lastError') return typeof own === 'function' ? own.bind(target) : own
      return () => {
        const kind = next() % 20
        if (kind === 0) throw new OutOfGas()
        if (kind < 4) throw new SyscallError(Errno.NotFound, 'random')
        if (kind === 4) throw new FatalError('random')
        return answers[key]?.()
      }
    },
    set: (target, key: string, value) => Reflect.set(target, key, value, target),
  })
}

const isOutcome = (error: unknown): boolean =>
  error instanceof ActorExit || error instanceof OutOfGas || error instanceof FatalError

describe('fuzz', () => {
  it('mutated modules: refused or run to one of the outcomes', { timeout: 300_000 }, () => {
    const engines = [
      new WasmEngine(2),
      new WasmEngine(3, undefined, { hostMemoryFrom: 0 }),
      new WasmEngine(4),
      new WasmEngine(4, undefined, { hostMemoryFrom: 0 }),
    ]
    for (let round = 0; round < ROUNDS; round++) {
      const next = random(SEED + round)
      const wasm = mutate(next)
      const engine = engines[round % 4] as WasmEngine
      try {
        engine.code(blockCid(wasm, CODEC_RAW), () => wasm).invoke(randomKernel(next), next() % 300)
      } catch (error) {
        expect(isOutcome(error), `seed ${SEED + round}: ${String(error)}`).toBe(true)
      }
    }
  })

  it('random bytes behind the header never get further than a refusal', () => {
    for (let round = 0; round < ROUNDS; round++) {
      const next = random(SEED + round)
      const bytes = Uint8Array.from({ length: next() % 200 }, () => next())
      bytes.set([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0].slice(0, bytes.length))
      try {
        instrument(bytes, round % 2 === 0 ? FVM2_RULES : FVM4_RULES)
      } catch (error) {
        expect(error instanceof WasmError, `seed ${SEED + round}: ${String(error)}`).toBe(true)
      }
    }
  })

  for (const major of [2, 3, 4] as const) {
    it(`every syscall of FVM ${major} with hostile arguments`, () => {
      const engine = new WasmEngine(major, undefined, major === 3 ? { hostMemoryFrom: 0 } : {})
      for (const [index, row] of SYSCALLS[major].entries()) {
        const wasm = callerOf(row.module, row.name, `${row.resultSize > 0 ? 'i' : ''}${row.params}`)
        const code = engine.code(blockCid(wasm, CODEC_RAW), () => wasm)
        for (let round = 0; round < 60; round++) {
          const seed = SEED + index * 1000 + round
          const next = random(seed)
          try {
            code.invoke(randomKernel(next), 0)
          } catch (error) {
            expect(isOutcome(error), `${row.module}.${row.name}, seed ${seed}: ${String(error)}`).toBe(true)
          }
        }
      }
    })
  }
})

/** Numbers near the edges of a 64 KiB memory and of their type. */
const EDGES = [0, 1, 8, 65_528, 65_535, 65_536, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff]

/** An actor that calls one syscall a few times with constants off the edges, memory full of a valid address and CID. */
function callerOf(module: string, name: string, params: string): Uint8Array {
  const out: number[] = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]
  const section = (id: number, body: number[]): void => {
    out.push(id, ...leb(body.length), ...body)
  }
  const text = (value: string): number[] => [value.length, ...Array.from(value, (char) => char.charCodeAt(0))]
  const types = Array.from(params, (letter) => (letter === 'i' ? 0x7f : 0x7e))
  section(1, [2, 0x60, types.length, ...types, 1, 0x7f, 0x60, 1, 0x7f, 1, 0x7f])
  section(2, [1, ...text(module), ...text(name), 0, 0])
  section(3, [1, 1])
  section(5, [1, 0, 1])
  section(7, [2, ...text('memory'), 2, 0, ...text('invoke'), 0, 1])
  const next = random(SEED + name.length * 77 + params.length)
  const code: number[] = [0]
  for (let call = 0; call < 12; call++) {
    for (const letter of params) {
      const value = next() % 4 === 0 ? next() % 64 : (EDGES[next() % EDGES.length] as number)
      code.push(letter === 'i' ? 0x41 : 0x42, ...signedLeb(letter === 'i' ? BigInt(value | 0) : BigInt(value)))
    }
    code.push(0x10, 0, 0x1a)
  }
  code.push(0x41, 0, 0x0b)
  section(10, [1, ...leb(code.length), ...code])
  const cid = blockCid(Uint8Array.of(1), CODEC_RAW).bytes
  section(11, [1, 0, 0x41, 8, 0x0b, ...leb(cid.length), ...cid])
  return Uint8Array.from(out)
}

function leb(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...leb(value >>> 7)]
}

function signedLeb(value: bigint): number[] {
  const low = Number(value & 127n)
  const rest = value >> 7n
  if ((rest === 0n && (low & 64) === 0) || (rest === -1n && (low & 64) !== 0)) return [low]
  return [low | 128, ...signedLeb(rest)]
}
