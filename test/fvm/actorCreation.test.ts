/** How actors come to be and end themselves; expectations from ref-fvm's call manager, kernel and executor. */
import { describe, expect, it } from 'vitest'
import type { Kernel } from '../../src/fvm/kernel/kernel.ts'
import { Errno } from '../../src/fvm/kernel/outcomes.ts'
import { idAddress } from '../../src/types/address.ts'
import { ETH_ADDRESS, errnoOf, KEY_ADDRESS, names } from './support/calls.ts'
import { codeOf, TEST_ACTOR, testMessage, tinyMachine } from './support/tinyMachine.ts'

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
