/** Events of calls; expectations from ref-fvm's call manager, kernel and executor. */
import { describe, expect, it } from 'vitest'
import type { Kernel } from '../../src/fvm/kernel/kernel.ts'
import { ActorExit, Errno } from '../../src/fvm/kernel/outcomes.ts'
import { errnoOf, SELF } from './support/calls.ts'
import { testMessage, tinyMachine } from './support/tinyMachine.ts'

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
