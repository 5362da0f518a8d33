/** Events of calls; expectations from ref-fvm's call manager, kernel and executor. */
import { describe, expect, it } from 'vitest'
import type { Cid } from '../../src/codec/cid.ts'
import type { ApplyResult } from '../../src/fvm/executor.ts'
import type { Kernel } from '../../src/fvm/kernel/kernel.ts'
import { ActorExit, Errno } from '../../src/fvm/kernel/outcomes.ts'
import { Amt } from '../../src/ipld/amt.ts'
import { type Blockstore, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { actorEvent } from '../../src/types/event.ts'
import type { Receipt } from '../../src/types/receipt.ts'
import { errnoOf, SELF } from './support/calls.ts'
import { testMessage, tinyMachine } from './support/tinyMachine.ts'

class CountingStore extends MemoryBlockstore {
  written = 0

  override put(cid: Cid, data: Uint8Array): void {
    this.written++
    super.put(cid, data)
  }
}

function emit(kernel: Kernel, key: string): void {
  const bytes = new TextEncoder().encode(key)
  kernel.emitEvent([{ flags: 3n, codec: 0x55n, keyLength: bytes.length, valueLength: 1 }], bytes, Uint8Array.of(1))
}

function keysIn(store: Blockstore, { eventsRoot }: Receipt): (string | undefined)[] {
  const events = Amt.load(store, eventsRoot as Cid, actorEvent, { bitWidth: 5 }).values()
  return events.map(({ entries }) => entries[0]?.key)
}

describe('events', () => {
  it('of failed calls are dropped', () => {
    const kept = new MemoryBlockstore()
    const executor = tinyMachine({
      events: kept,
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
    const { receipt } = executor.applyMessage(testMessage(1), 'explicit', 100)
    expect(keysIn(kept, receipt)).toEqual(['a', 'c'])
  })

  it('are written once, those of the messages of the chain, and the result has none of them', () => {
    const kept = new CountingStore()
    const many = 100
    const methods = {
      1: (kernel: Kernel) => {
        for (let i = 0; i < many; i++) emit(kernel, `${i}`)
        return 0
      },
    }
    const executor = tinyMachine({ methods, events: kept })
    const result = executor.applyMessage(testMessage(1), 'explicit', 100)
    expect(keysIn(kept, result.receipt)).toEqual(Array.from({ length: many }, (_, i) => `${i}`))
    // Four leaves and the root.
    expect(kept.written).toBe(5)
    expect(Object.keys(result).sort()).toEqual(['error', 'gas', 'receipt', 'trace'])
    const implicit = executor.applyMessage(testMessage(1), 'implicit', 0)
    expect(implicit.receipt.eventsRoot).toEqual(result.receipt.eventsRoot)
    expect(kept.written).toBe(5)
    // A caller's, whose events nobody keeps, has the same root.
    const call = tinyMachine({ methods }).applyMessage(testMessage(1), 'explicit', 100)
    expect(call.receipt).toEqual(result.receipt)
  })

  it('of a message that is tried are written when it is kept', () => {
    const kept = new CountingStore()
    const once = (kernel: Kernel): number => {
      emit(kernel, 'a')
      return 0
    }
    const executor = tinyMachine({ methods: { 1: once }, events: kept })
    expect(executor.tryMessage(testMessage(1), 'explicit', 100, () => false)).toBeUndefined()
    expect(kept.written).toBe(0)
    const tried = executor.tryMessage(testMessage(1), 'explicit', 100, () => true)
    expect(kept.written).toBe(1)
    expect(keysIn(kept, (tried as ApplyResult).receipt)).toEqual(['a'])
    executor.applyMessage(testMessage(1, { nonce: 1n }), 'explicit', 100)
    expect(kept.written).toBe(2)
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
