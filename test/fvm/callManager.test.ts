/** Rules of calls that recorded chains seldom touch; expectations from ref-fvm's call manager, kernel and executor. */
import { describe, expect, it } from 'vitest'
import { CborWriter } from '../../src/codec/cborWriter.ts'
import { type Cid, CODEC_CBOR, CODEC_DAG_CBOR, CODEC_RAW, HASH_BLAKE2B_256 } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { VmError } from '../../src/fvm/errors.ts'
import type { ApplyResult } from '../../src/fvm/executor.ts'
import type { Kernel } from '../../src/fvm/kernel/kernel.ts'
import { ActorExit, Errno, FatalError, OutOfGas, SyscallError } from '../../src/fvm/kernel/outcomes.ts'
import type { ExecutionTrace } from '../../src/fvm/trace.ts'
import { addressFromBytes, delegatedAddress, idAddress, secp256k1Address } from '../../src/types/address.ts'
import { hasShortStack } from '../support/engine.ts'
import { BASE_FEE, codeOf, SENDER, TEST_ACTOR, testMessage, tinyMachine } from './support/tinyMachine.ts'

const SELF = idAddress(TEST_ACTOR)
const OTHER = 201n
const KEY_ADDRESS = secp256k1Address(new Uint8Array(65).fill(4))
const ETH_ADDRESS = delegatedAddress(10n, new Uint8Array(20).fill(7))

function errnoOf(run: () => unknown): number {
  try {
    run()
  } catch (error) {
    if (error instanceof SyscallError) return error.errno
    throw error
  }
  return 0
}

function names(trace: ExecutionTrace | undefined): string[] {
  return (trace?.gasCharges ?? []).map(({ name }) => name)
}

function byteBlock(kernel: Kernel, ...bytes: number[]): number {
  return kernel.blockCreate(CODEC_CBOR, Uint8Array.from(bytes))
}

function returned(result: ApplyResult): number[] {
  return [...result.receipt.return]
}

describe.skipIf(hasShortStack)('call depth', () => {
  // The top call counts in FVM 3 and 4, not in FVM 2.
  it.each([
    [28, 1024],
    [18, 1024],
    [17, 1025],
  ])('network version %i: %i calls', (networkVersion, calls) => {
    let depth = 0
    let deepest = 0
    let refused = 0
    const executor = tinyMachine({
      networkVersion,
      methods: {
        1: (kernel) => {
          deepest = Math.max(deepest, ++depth)
          const errno = errnoOf(() => kernel.send(SELF, 1n, 0, 0n))
          if (errno !== 0) refused = errno
          depth--
          return 0
        },
      },
    })
    expect(executor.applyMessage(testMessage(1), 'explicit', 100).receipt.exitCode).toBe(0)
    expect([deepest, refused]).toEqual([calls, Errno.LimitExceeded])
  })

  it('the end of the host’s stack is undecided, and changes nothing', () => {
    const overflow = (): number => overflow() + 1
    const executor = tinyMachine({ methods: { 1: (kernel) => kernel.send(SELF, 2n, 0, 1n).exitCode, 2: overflow } })
    const before = executor.machine.state.getActor(SENDER)
    expect(() => executor.applyMessage(testMessage(1), 'explicit', 100)).toThrow(VmError)
    expect(executor.machine.state.getActor(SENDER)).toBe(before)
  })
})

describe('gas', () => {
  it('a call with a limit of its own runs out alone', () => {
    const executor = tinyMachine({
      methods: {
        1: (kernel) => byteBlock(kernel, kernel.send(SELF, 2n, 0, 0n, 1_000_000n).exitCode),
        2: (kernel) => {
          kernel.chargeGas('work', 2_000_000_000)
          return 0
        },
      },
    })
    const result = executor.applyMessage(testMessage(1), 'explicit', 100)
    expect([result.receipt.exitCode, returned(result)]).toEqual([0, [7]])
    expect(result.trace?.subcalls[0]?.msg.gasLimit).toBe(1_000_000n)
    expect(result.trace?.subcalls[0]?.msgRct.exitCode).toBe(7)
    expect(result.receipt.gasUsed > 1_000_000n).toBe(true)
  })

  it('a message that runs out uses its whole limit and keeps its nonce', () => {
    const executor = tinyMachine({
      methods: {
        1: (kernel) => {
          kernel.send(idAddress(SENDER), 0n, 0, 5n)
          kernel.chargeGas('work', Number.MAX_SAFE_INTEGER)
          return 0
        },
      },
    })
    const result = executor.applyMessage(testMessage(1), 'explicit', 100)
    expect([result.receipt.exitCode, result.receipt.gasUsed]).toEqual([7, 1_000_000_000n])
    expect(result.error).toBe('message failed with backtrace:\n00: f0200 (method 1) -- out of gas (7)\n')
    expect(executor.machine.state.getActor(SENDER)?.nonce).toBe(1n)
    expect(executor.machine.state.getActor(TEST_ACTOR)?.balance).toBe(10n ** 19n)
  })

  it('lookups of a failed call are charged again', () => {
    const executor = tinyMachine({
      actors: [[OTHER, {}]],
      methods: {
        1: (kernel) => {
          kernel.send(SELF, 2n, 0, 0n)
          kernel.balanceOf(OTHER)
          kernel.balanceOf(OTHER)
          return 0
        },
        2: (kernel) => {
          kernel.balanceOf(OTHER)
          throw new ActorExit(20, 'no')
        },
      },
    })
    const { trace } = executor.applyMessage(testMessage(1), 'explicit', 100)
    expect(names(trace?.subcalls[0])).toEqual([
      'OnMethodInvocation',
      'OnMessageContext',
      'OnBalanceOf',
      'OnActorLookup',
    ])
    expect(names(trace)).toEqual([
      'OnChainMessage',
      'OnMethodInvocation',
      'OnMessageContext',
      'OnBalanceOf',
      'OnActorLookup',
      'OnBalanceOf',
    ])
  })

  it('the return value of the top call must fit', () => {
    const executor = tinyMachine({ methods: { 1: (kernel) => kernel.blockCreate(CODEC_RAW, new Uint8Array(10_000)) } })
    const result = executor.applyMessage(testMessage(1, { gasLimit: 2_000_000n }), 'explicit', 100)
    expect([result.receipt.exitCode, result.receipt.return.length, result.receipt.gasUsed]).toEqual([7, 0, 2_000_000n])
    expect(names(result.trace).at(-1)).toBe('OnChainReturnValue')
  })
})

describe('how actors end', () => {
  it('a handle that does not exist: missing return', () => {
    const executor = tinyMachine({ methods: { 1: () => 5 } })
    expect(executor.applyMessage(testMessage(1), 'explicit', 100).receipt.exitCode).toBe(11)
  })

  it('an exit with data returns it, a failure too', () => {
    const executor = tinyMachine({
      methods: {
        1: (kernel) => {
          throw new ActorExit(33, 'reverted', byteBlock(kernel, 1, 2))
        },
      },
    })
    const result = executor.applyMessage(testMessage(1), 'explicit', 100)
    expect([result.receipt.exitCode, returned(result)]).toEqual([33, [1, 2]])
    expect(result.trace?.msgRct.returnCodec).toBe(CODEC_CBOR)
  })

  it('a fatal error uses the whole limit', () => {
    const executor = tinyMachine({
      methods: {
        1: () => {
          throw new FatalError('broken')
        },
      },
    })
    const { receipt } = executor.applyMessage(testMessage(1), 'explicit', 100)
    expect([receipt.exitCode, receipt.gasUsed]).toEqual([10, 1_000_000_000n])
  })

  it('code that nobody has is a failure of the host', () => {
    const executor = tinyMachine({ actors: [[OTHER, { code: blockCid(new Uint8Array(1)) }]] })
    const message = testMessage(1, { to: idAddress(OTHER) })
    expect(() => executor.applyMessage(message, 'explicit', 100)).toThrow('not supported: no code at hand')
  })

  it('a receiver that is missing, and one that cannot be created', () => {
    const executor = tinyMachine()
    const apply = (nonce: bigint, to = idAddress(999_999n)): ApplyResult =>
      executor.applyMessage(testMessage(0, { to, nonce, value: 1n }), 'explicit', 100)
    const missing = apply(0n)
    expect(missing.receipt.exitCode).toBe(5)
    expect(missing.error).toBe(
      'message failed with backtrace:\n--> caused by: send::send -- actor does not exist: 999999 (6: resource not found)\n',
    )
    expect(missing.trace?.invokedActor).toBeNull()
    expect(apply(1n, addressFromBytes(Uint8Array.from([2, ...new Uint8Array(20)]))).receipt.exitCode).toBe(5)
    // The all-zero BLS key: an illegal argument, which is no exit code of its own.
    expect(apply(2n, addressFromBytes(Uint8Array.from([3, 0xc0, ...new Uint8Array(47)]))).receipt.exitCode).toBe(10)
    const poor = executor.applyMessage(testMessage(0, { nonce: 3n, value: 10n ** 30n }), 'explicit', 100)
    expect(poor.receipt.exitCode).toBe(6)
  })
})

describe('read-only calls', () => {
  it('refuse every change, and pass it on to what they call', () => {
    const seen: number[] = []
    const executor = tinyMachine({
      methods: {
        1: (kernel) => {
          seen.push(errnoOf(() => kernel.send(SELF, 2n, 0, 1n, undefined, 1n)))
          seen.push(errnoOf(() => kernel.send(SELF, 2n, 0, 0n, undefined, 2n)))
          kernel.send(SELF, 2n, 0, 0n, undefined, 1n)
          return 0
        },
        2: (kernel) => {
          kernel.send(SELF, 3n, 0, 0n)
          return 0
        },
        3: (kernel) => {
          expect(kernel.messageContext().readOnly).toBe(true)
          for (const change of [
            () => kernel.setRoot(kernel.root()),
            () => kernel.selfDestruct(true),
            () => kernel.emitEvent([], new Uint8Array(0), new Uint8Array(0)),
            () => kernel.send(KEY_ADDRESS, 0n, 0, 0n),
            () => kernel.send(ETH_ADDRESS, 0n, 0, 0n),
          ]) {
            seen.push(errnoOf(change))
          }
          return 0
        },
      },
    })
    expect(executor.applyMessage(testMessage(1), 'explicit', 100).receipt.exitCode).toBe(0)
    expect(seen).toEqual([Errno.ReadOnly, Errno.IllegalArgument, ...new Array<number>(5).fill(Errno.ReadOnly)])
  })
})

describe('creating actors', () => {
  it('a first send to a key address makes an account, built by its constructor', () => {
    let params: number[] = []
    const executor = tinyMachine({
      codes: {
        account: {
          invoke: (kernel, handle) => {
            const context = kernel.messageContext()
            expect([context.caller, context.method, context.receiver]).toEqual([0n, 1n, 300n])
            const out = new Uint8Array(kernel.blockStat(handle).size)
            kernel.blockRead(handle, 0, out)
            params = [...out]
            return 0
          },
        },
      },
    })
    const { receipt, trace } = executor.applyMessage(testMessage(0, { to: KEY_ADDRESS, value: 7n }), 'explicit', 100)
    expect(receipt.exitCode).toBe(0)
    expect(params).toEqual([0x55, ...KEY_ADDRESS.bytes])
    expect(executor.machine.state.lookupId(KEY_ADDRESS)).toBe(300n)
    expect(executor.machine.state.getActor(300n)?.balance).toBe(7n)
    expect(names(trace).slice(0, 5)).toEqual([
      'OnChainMessage',
      'OnCreateActor',
      'OnActorLookup',
      'OnActorUpdate',
      'OnMethodInvocation',
    ])
    expect(trace?.subcalls).toEqual([])
  })

  it('to an f410 address a placeholder, which becomes an account by sending', () => {
    const executor = tinyMachine()
    const apply = executor.applyMessage(testMessage(0, { to: ETH_ADDRESS, value: 10n ** 18n }), 'explicit', 100)
    expect(apply.receipt.exitCode).toBe(0)
    const placeholder = executor.machine.state.getActor(300n)
    expect(String(placeholder?.code)).toBe(String(codeOf('placeholder')))
    expect(placeholder?.delegatedAddress?.equals(ETH_ADDRESS)).toBe(true)
    const second = executor.applyMessage(testMessage(0, { from: ETH_ADDRESS, value: 1n }), 'explicit', 100)
    expect(second.receipt.exitCode).toBe(0)
    expect(String(executor.machine.state.getActor(300n)?.code)).toBe(String(codeOf('ethaccount')))
  })

  it('is for the init actor only', () => {
    const seen: number[] = []
    const create = (kernel: Kernel): number => {
      seen.push(errnoOf(() => kernel.createActor(codeOf('test'), 500n, null)))
      seen.push(errnoOf(() => kernel.createActor(codeOf('test'), 500n, null)))
      seen.push(errnoOf(() => kernel.createActor(codeOf('placeholder'), 501n, ETH_ADDRESS)))
      return 0
    }
    const executor = tinyMachine({ methods: { 1: create }, codes: { init: { invoke: create } } })
    executor.applyMessage(testMessage(1), 'explicit', 100)
    executor.applyMessage(testMessage(1, { to: idAddress(1n), nonce: 1n }), 'explicit', 100)
    const { Forbidden } = Errno
    expect(seen).toEqual([Forbidden, Forbidden, Forbidden, 0, Forbidden, Forbidden])
  })

  it('gives stable addresses that move on with every actor', () => {
    const made: string[] = []
    const executor = tinyMachine({
      codes: {
        init: {
          invoke: (kernel) => {
            made.push(String(kernel.nextActorAddress()), String(kernel.nextActorAddress()))
            kernel.createActor(codeOf('test'), 500n, null)
            made.push(String(kernel.nextActorAddress()))
            return 0
          },
        },
      },
    })
    executor.applyMessage(testMessage(1, { to: idAddress(1n) }), 'explicit', 100)
    expect(made[0]).toBe(made[1])
    expect(made[0]).not.toBe(made[2])
  })
})

describe('self-destruct', () => {
  it('burns what is left, or refuses', () => {
    const seen: number[] = []
    const executor = tinyMachine({
      methods: {
        1: (kernel) => {
          seen.push(errnoOf(() => kernel.selfDestruct(false)))
          kernel.selfDestruct(true)
          seen.push(errnoOf(() => kernel.root()))
          expect(kernel.currentBalance()).toBe(0n)
          // Once more is nothing.
          kernel.selfDestruct(true)
          return 0
        },
      },
    })
    const burnt = executor.machine.state.getActor(99n)?.balance as bigint
    const { gas } = executor.applyMessage(testMessage(1), 'explicit', 100)
    expect(seen).toEqual([Errno.IllegalOperation, Errno.IllegalOperation])
    expect(executor.machine.state.getActor(TEST_ACTOR)).toBeUndefined()
    expect(executor.machine.state.getActor(99n)?.balance).toBe(
      burnt + 10n ** 19n + gas.baseFeeBurn + gas.overEstimationBurn,
    )
  })
})

describe('events', () => {
  it('of failed calls are dropped', () => {
    const emit = (kernel: Kernel, key: string): void => {
      const bytes = new TextEncoder().encode(key)
      kernel.emitEvent([{ flags: 3n, codec: 0x55n, keyLength: bytes.length, valueLength: 1 }], bytes, Uint8Array.of(1))
    }
    const executor = tinyMachine({
      methods: {
        1: (kernel) => {
          emit(kernel, 'a')
          kernel.send(SELF, 2n, 0, 0n)
          kernel.send(SELF, 3n, 0, 0n)
          return 0
        },
        2: (kernel) => {
          emit(kernel, 'b')
          kernel.send(SELF, 3n, 0, 0n)
          throw new ActorExit(20, 'no')
        },
        3: (kernel) => {
          emit(kernel, 'c')
          return 0
        },
      },
    })
    const { events, receipt } = executor.applyMessage(testMessage(1), 'explicit', 100)
    expect(events.map(({ entries }) => entries[0]?.key)).toEqual(['a', 'c'])
    expect(receipt.eventsRoot).not.toBeNull()
  })

  it('have limits', () => {
    const none = new Uint8Array(0)
    const header = { flags: 0n, codec: 0x55n, keyLength: 0, valueLength: 0 }
    let seen: number[] = []
    const executor = tinyMachine({
      methods: {
        1: (kernel) => {
          seen = [
            errnoOf(() => kernel.emitEvent(new Array(255).fill(header), none, none)),
            errnoOf(() => kernel.emitEvent(new Array(256).fill(header), none, none)),
            errnoOf(() => kernel.emitEvent([], none, new Uint8Array(8193))),
            errnoOf(() => kernel.emitEvent([{ ...header, keyLength: 32 }], new Uint8Array(32), none)),
            errnoOf(() => kernel.emitEvent([{ ...header, flags: 4n }], none, none)),
            errnoOf(() => kernel.emitEvent([{ ...header, codec: 0x71n }], none, none)),
            errnoOf(() => kernel.emitEvent([{ ...header, keyLength: 1 }], Uint8Array.of(0xff), none)),
            errnoOf(() => kernel.emitEvent([header], Uint8Array.of(0x61), none)),
            errnoOf(() => kernel.emitEvent([header], none, Uint8Array.of(1))),
            // A key that ends inside a character.
            errnoOf(() => kernel.emitEvent([{ ...header, keyLength: 1 }], Uint8Array.of(0xc3, 0xa9), none)),
          ]
          return 0
        },
      },
    })
    executor.applyMessage(testMessage(1), 'explicit', 100)
    const { LimitExceeded, IllegalArgument, IllegalCodec } = Errno
    expect(seen).toEqual([
      0,
      LimitExceeded,
      LimitExceeded,
      LimitExceeded,
      IllegalArgument,
      IllegalCodec,
      IllegalArgument,
      IllegalArgument,
      IllegalArgument,
      IllegalArgument,
    ])
  })
})

describe('reachability', () => {
  const linkTo = (target: Cid): Uint8Array => {
    const writer = new CborWriter()
    writer.cid(target)
    return writer.finish()
  }
  const store = (kernel: Kernel, codec: number, data: Uint8Array): Cid =>
    kernel.blockLink(kernel.blockCreate(codec, data), HASH_BLAKE2B_256, 32)

  it('opens only what was linked, received or returned (FVM 4)', () => {
    const seen: number[] = []
    const leaf = blockCid(Uint8Array.of(1), CODEC_RAW)
    const executor = tinyMachine({
      methods: {
        1: (kernel) => {
          seen.push(errnoOf(() => kernel.blockOpen(leaf)))
          seen.push(errnoOf(() => kernel.blockCreate(CODEC_DAG_CBOR, linkTo(leaf))))
          seen.push(errnoOf(() => kernel.setRoot(leaf)))
          const { returnHandle, returnCodec } = kernel.send(SELF, 2n, 0, 0n)
          expect([returnHandle, returnCodec]).toEqual([1, CODEC_DAG_CBOR])
          // The callee returned a link to it.
          seen.push(errnoOf(() => kernel.blockOpen(leaf)))
          seen.push(kernel.send(SELF, 3n, returnHandle, 0n).exitCode)
          seen.push(kernel.send(SELF, 3n, 0, 0n).exitCode)
          return 0
        },
        2: (kernel) => kernel.blockCreate(CODEC_DAG_CBOR, linkTo(store(kernel, CODEC_RAW, Uint8Array.of(1)))),
        3: (kernel) => {
          if (errnoOf(() => kernel.blockOpen(leaf)) !== 0) throw new ActorExit(20, 'not reachable')
          return 0
        },
      },
    })
    const { trace } = executor.applyMessage(testMessage(1), 'explicit', 100)
    const { NotFound } = Errno
    expect(seen).toEqual([NotFound, NotFound, NotFound, 0, 0, 20])
    expect(trace?.ipldOps.map(({ op }) => op)).toEqual(['Get'])
    expect(trace?.subcalls[0]?.ipldOps.map(({ op }) => op)).toEqual(['Put'])
    // 75000 and 300 for the link in the parameters.
    expect(trace?.subcalls[1]?.gasCharges[0]).toEqual({ name: 'OnMethodInvocation', compute: 75_300_000, storage: 0 })
  })

  it('has limits on blocks and CIDs', () => {
    let seen: number[] = []
    const executor = tinyMachine({
      methods: {
        1: (kernel) => {
          const handle = byteBlock(kernel, 0)
          seen = [
            errnoOf(() => kernel.blockCreate(CODEC_RAW, new Uint8Array(2 ** 20 + 1))),
            errnoOf(() => kernel.blockCreate(0x70, Uint8Array.of(0))),
            errnoOf(() => kernel.blockCreate(CODEC_DAG_CBOR, Uint8Array.of(0, 0))),
            errnoOf(() => kernel.blockLink(handle, 0x12, 32)),
            errnoOf(() => kernel.blockLink(handle, HASH_BLAKE2B_256, 31)),
            errnoOf(() => kernel.blockLink(9, HASH_BLAKE2B_256, 32)),
            errnoOf(() => kernel.blockStat(0)),
          ]
          expect(kernel.blockRead(handle, 5, new Uint8Array(3))).toBe(1 - 8)
          return 0
        },
      },
    })
    executor.applyMessage(testMessage(1), 'explicit', 100)
    const { LimitExceeded, IllegalCodec, Serialization, IllegalCid, InvalidHandle } = Errno
    expect(seen).toEqual([
      LimitExceeded,
      IllegalCodec,
      Serialization,
      IllegalCid,
      IllegalCid,
      InvalidHandle,
      InvalidHandle,
    ])
  })
})

describe('preflight', () => {
  const refused = (part: Parameters<typeof testMessage>[1]): (number | bigint)[] => {
    const executor = tinyMachine()
    const { receipt, gas, trace } = executor.applyMessage(testMessage(0, part), 'explicit', 100)
    expect(receipt.gasUsed).toBe(0n)
    expect(trace).toBeUndefined()
    expect(executor.machine.state.getActor(SENDER)?.nonce).toBe(0n)
    return [receipt.exitCode, gas.minerPenalty]
  }

  it('charges the miner for what must not be in a block', () => {
    const limit = 1_000_000_000n
    expect(refused({ gasLimit: 100_000n })).toEqual([7, BASE_FEE * (38_863n + 475_000n + 1300n * 136n)])
    expect(refused({ from: idAddress(4242n) })).toEqual([1, BASE_FEE * limit])
    expect(refused({ from: KEY_ADDRESS })).toEqual([1, BASE_FEE * limit])
    expect(refused({ from: idAddress(TEST_ACTOR) })).toEqual([1, BASE_FEE * limit])
    expect(refused({ nonce: 1n })).toEqual([2, BASE_FEE * limit])
    expect(refused({ gasFeeCap: 10n ** 18n })).toEqual([2, BASE_FEE * limit])
  })

  it('pays burn, tip and refund out of the fee', () => {
    const executor = tinyMachine()
    const balance = (id: bigint): bigint => executor.machine.state.getActor(id)?.balance as bigint
    const before = [SENDER, 2n, 99n].map(balance)
    const { receipt, gas } = executor.applyMessage(testMessage(0, { value: 5n, gasLimit: 3_000_000n }), 'explicit', 100)
    expect(receipt.exitCode).toBe(0)
    const after = [SENDER, 2n, 99n].map(balance)
    const paid = gas.baseFeeBurn + gas.overEstimationBurn + gas.minerTip
    expect(after.map((amount, i) => amount - (before[i] as bigint))).toEqual([
      -5n - paid,
      gas.minerTip,
      gas.baseFeeBurn + gas.overEstimationBurn,
    ])
  })

  it('asks nothing of implicit messages', () => {
    const executor = tinyMachine({ methods: { 2: () => 0 } })
    const message = testMessage(2, { from: idAddress(0n), nonce: 77n, gasLimit: (1n << 62n) - 1n, gasFeeCap: 0n })
    const { receipt, trace } = executor.applyMessage(message, 'implicit', 0)
    expect(receipt.exitCode).toBe(0)
    expect(names(trace)[0]).toBe('none')
    expect(trace?.msg.gasLimit).toBe(9_223_372_036_854_776n)
  })
})

describe('outcomes', () => {
  it('an actor’s own exit code and the machine’s stay apart', () => {
    expect(new OutOfGas().code).toBe('OUT_OF_GAS')
    expect(new SyscallError(Errno.NotFound, '').errno).toBe(6)
  })
})
