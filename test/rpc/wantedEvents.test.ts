/** Which events of a tipset a filter wants: found at once, however much it wants. */
import { expect, it } from 'vitest'
import { finish } from '../../src/base/steps.ts'
import type { Json } from '../../src/codec/jsonText.ts'
import type { ExecutedTipset } from '../../src/eth/executedTipset.ts'
import { MAX_WANTED } from '../../src/rpc/limits.ts'
import { eventFilter, wantedEvents } from '../../src/rpc/types/actorEvents.ts'
import { delegatedAddress, NAMESPACE_EAM } from '../../src/types/address.ts'
import type { Tipset } from '../../src/types/tipset.ts'
import { keyAddress, testMessage } from '../mempool/fakes.ts'
import { JSON_CONTEXT } from './forkingChain.ts'

const EVENT_COUNT = 20_000
/** As many as may be wanted, none of them an emitter. */
const OTHERS = Array.from({ length: MAX_WANTED - 1 }, (_, i) => `t0${10_000 + i}`)
const ETH = new Uint8Array(20).fill(9)

/** Events of one message, of actors by turns of which the first has an f410 address. */
function executed(count: number): ExecutedTipset {
  const { message } = testMessage(keyAddress(1), keyAddress(2), 0, 1n)
  const entries = [{ flags: 3, key: 't1', codec: 85, value: new Uint8Array(1) }]
  const events = Array.from({ length: count }, (_, i) => ({ emitter: BigInt(1001 + (i % 2)), entries }))
  const messages = [{ message: { kind: 'bls', message }, events }]
  const delegated = delegatedAddress(NAMESPACE_EAM, ETH)
  const tree = { getActor: (id: bigint) => (id === 1001n ? { delegatedAddress: delegated } : undefined) }
  return { tipset: {} as Tipset, tree, messages } as unknown as ExecutedTipset
}

const F410 = delegatedAddress(NAMESPACE_EAM, ETH).toString('t')
const found = (filter: Json, isPast: boolean, of = executed(2)): string[] =>
  finish(wantedEvents(of, eventFilter.fromJson(filter, JSON_CONTEXT), false, isPast)).map(
    ({ event }) => `${event.emitter}`,
  )

// By lotus chain/index/events.go makePrefillFilterQuery and chain/events/filter/event.go matchAddress.
it.each<[past: string, now: string, addresses: string[]]>([
  ['1001 1002', '1001 1002', []],
  ['1001', '', ['t01001']],
  ['1002', '1002', ['t01002', 't09']],
  ['1001', '1001', [F410]],
  ['1001', '1001', ['t01001', F410]],
  ['', '1001 1002', ['t01002', F410]],
  ['', '', [keyAddress(3).toString('t')]],
])('events of the past of "%s", new ones of "%s", are wanted by %j', (past, now, addresses) => {
  expect(found({ addresses }, true).join(' ')).toBe(past)
  expect(found({ addresses }, false).join(' ')).toBe(now)
})

it('events are wanted where each field has one of its values', () => {
  const of = (codec: number, byte: string) => [{ codec, value: btoa(byte) }]
  expect(found({ fields: { t1: of(85, '\0') } }, true)).toHaveLength(2)
  expect(found({ fields: { t1: of(81, '\0') } }, true)).toEqual([])
  expect(found({ fields: { t1: [...of(85, '\0'), ...of(85, 'x')] } }, false)).toHaveLength(2)
  expect(found({ fields: { t1: of(85, '\0'), t2: of(85, '\0') } }, false)).toEqual([])
})

/** A set that can be asked for one, and not be gone through. */
function unwalked<T>(set: ReadonlySet<T>): ReadonlySet<T> {
  const walk = (): never => {
    throw new Error('an event was compared with all that are wanted')
  }
  return Object.assign(new Set(set), {
    [Symbol.iterator]: walk,
    forEach: walk,
    values: walk,
    keys: walk,
    entries: walk,
  })
}

it('events are found at once among as many addresses as there may be', () => {
  const filter = eventFilter.fromJson({ addresses: [...OTHERS, keyAddress(3).toString('t')] }, JSON_CONTEXT)
  const lookedUp = { ...filter, ids: unwalked(filter.ids), others: unwalked(filter.others) }
  for (const isPast of [true, false]) {
    expect(finish(wantedEvents(executed(2), lookedUp, false, isPast))).toEqual([])
  }
})

it('events of a tipset are looked at in turns', () => {
  const steps = wantedEvents(executed(EVENT_COUNT), eventFilter.fromJson({}, JSON_CONTEXT), false, false)
  let turns = 0
  while (steps.next().done !== true) turns++
  expect(turns).toBe(EVENT_COUNT)
})
