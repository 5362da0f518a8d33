/** Rules of calls that recorded chains seldom touch; expectations from ref-fvm's call manager, kernel and executor. */
import { describe, expect, it } from 'vitest'
import { CODEC_CBOR } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { VmError } from '../../src/fvm/errors.ts'
import type { ApplyResult } from '../../src/fvm/executor.ts'
import { ActorExit, Errno, FatalError, OutOfGas, SyscallError } from '../../src/fvm/kernel/outcomes.ts'
import { addressFromBytes, idAddress } from '../../src/types/address.ts'
import { hasShortStack } from '../support/engine.ts'
import { byteBlock, ETH_ADDRESS, errnoOf, KEY_ADDRESS, OTHER, returned, SELF } from './support/calls.ts'
import { SENDER, testMessage, tinyMachine } from './support/tinyMachine.ts'

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

describe('outcomes', () => {
  it('an actor’s own exit code and the machine’s stay apart', () => {
    expect(new OutOfGas().code).toBe('OUT_OF_GAS')
    expect(new SyscallError(Errno.NotFound, '').errno).toBe(6)
  })
})
