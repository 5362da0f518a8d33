/**
 * Events of actors as GetActorEventsRaw and SubscribeActorEventsRaw give them, and which are wanted.
 * @see lotus chain/types/actor_event.go; node/impl/full/actor_events.go parseFilter, parseHeightRange
 */
import { toHex } from '../../base/bytes.ts'
import type { Cid } from '../../codec/cid.ts'
import { type Codec, cid, jsonOnly } from '../../codec/description.ts'
import { jsonField, wrongJson } from '../../codec/goJson.ts'
import type { Json } from '../../codec/jsonText.ts'
import type { ExecutedTipset } from '../../eth/executedTipset.ts'
import { type Address, address, addressToId, idAddress, isIdAddress, PROTOCOL_DELEGATED } from '../../types/address.ts'
import { chainMessageCid } from '../../types/chainMessage.ts'
import { type ActorEvent, type EventEntry, eventEntry } from '../../types/event.ts'
import { type ActorId, type ChainEpoch, chainEpoch } from '../../types/scalars.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import { MAX_EVENT_RANGE } from '../limits.ts'
import type { HeightRange } from './logFilter.ts'

/** Flags of an entry that is searched by: key, value, or both. */
const INDEXED_FLAGS = 3

/** Which events are wanted. */
export interface EventFilter {
  readonly addresses: readonly Address[]
  /** By key: any of these pairs of codec and value (hexadecimal). */
  readonly fields: ReadonlyMap<string, ReadonlySet<string>>
  readonly fromHeight: ChainEpoch | undefined
  readonly toHeight: ChainEpoch | undefined
  /** Empty: none. */
  readonly key: TipsetKey
}

/** A filter of events; null wants everything new. */
export const eventFilter: Codec<EventFilter> = jsonOnly<EventFilter>(
  'types.ActorEventFilter',
  () => null,
  (given, context) => {
    const object = given ?? {}
    if (typeof object !== 'object' || Array.isArray(object)) throw wrongJson(object, 'types.ActorEventFilter')
    const height = (name: string): ChainEpoch | undefined => {
      const value = jsonField(object, name) ?? undefined
      return value === undefined ? undefined : chainEpoch.fromJson(value, context)
    }
    const addresses = jsonField(object, 'addresses') ?? []
    if (!Array.isArray(addresses)) throw wrongJson(addresses, '[]address.Address')
    const fields = jsonField(object, 'fields') ?? {}
    if (typeof fields !== 'object' || Array.isArray(fields)) {
      throw wrongJson(fields, 'map[string][]types.ActorEventBlock')
    }
    return {
      addresses: addresses.map((json) => address.fromJson(json, context)),
      // A key without values is no condition.
      fields: new Map(
        Object.entries(fields)
          .map(([key, any]) => [key, valuesOf(any, context)] as const)
          .filter(([, values]) => values.size > 0),
      ),
      fromHeight: height('fromHeight'),
      toHeight: height('toHeight'),
      key: tipsetKey.fromJson(jsonField(object, 'tipsetKey'), context),
    }
  },
  { type: 'object' },
)

function valuesOf(any: Json, context: Parameters<typeof eventEntry.fromJson>[1]): Set<string> {
  if (any === null) return new Set()
  if (!Array.isArray(any)) throw wrongJson(any, '[]types.ActorEventBlock')
  return new Set(any.map((value) => valueText(eventEntry.fromJson(value, context))))
}

function valueText({ codec, value }: EventEntry): string {
  return `${codec}/${toHex(value)}`
}

/** Heights that a filter names; from is undefined where the past is not wanted. */
export interface EventRange {
  readonly from: ChainEpoch | undefined
  readonly to: HeightRange['to']
}

/** @throws RpcError `FAILED` */
export function eventRange({ key, fromHeight: from, toHeight: to }: EventFilter, head: ChainEpoch): EventRange {
  if (key.length > 0) {
    if (from === undefined && to === undefined) return { from: 0, to: 0 }
    throw new RpcError('FAILED', 'cannot specify both TipSetKey and FromHeight/ToHeight')
  }
  if (from !== undefined && from < 0) throw new RpcError('FAILED', "range 'from' must be greater than or equal to 0")
  const refuse = (why: string): never => {
    throw new RpcError('FAILED', `invalid epoch range: ${why}`)
  }
  const ends = to === undefined || to === -1 ? undefined : to
  const maximum = `(maximum: ${MAX_EVENT_RANGE})`
  if (from === undefined) {
    if ((ends ?? 0) - head > MAX_EVENT_RANGE) refuse(`'to' height is too far in the future ${maximum}`)
  } else if (ends === undefined) {
    if (head - from > MAX_EVENT_RANGE) refuse(`'from' height is too far in the past ${maximum}`)
  } else if (ends >= 0) {
    // Lotus has the two numbers in this order.
    if (from > ends) refuse(`'to' height (${from}) must be after 'from' height (${ends})`)
    if (ends - from > MAX_EVENT_RANGE) refuse(`range between to and 'from' heights is too large ${maximum}`)
  }
  return { from, to: ends }
}

/** An event with its place. */
export interface PlacedEvent {
  readonly event: ActorEvent
  /** f410 address, or f0 where the actor has none. */
  readonly emitter: Address
  readonly reverted: boolean
  readonly height: ChainEpoch
  readonly key: TipsetKey
  readonly message: Cid
}

export const placedEvent: Codec<PlacedEvent> = jsonOnly<PlacedEvent>(
  'types.ActorEvent',
  ({ event, emitter, reverted, height, key, message }, context) => ({
    entries: event.entries.map((entry) => eventEntry.toJson(entry, context)),
    emitter: address.toJson(emitter, context),
    reverted,
    height,
    tipsetKey: tipsetKey.toJson(key, context),
    msgCid: cid.toJson(message, context),
  }),
  (json) => {
    throw wrongJson(json ?? null, 'types.ActorEvent')
  },
  { type: 'object' },
)

/** The wanted events of a tipset. @param past - see {@link isWantedPast} */
export function wantedEvents(
  { tipset, tree, messages }: ExecutedTipset,
  filter: EventFilter,
  reverted: boolean,
  past: boolean,
): PlacedEvent[] {
  const out: PlacedEvent[] = []
  for (const { message, events } of messages) {
    for (const event of events) {
      const emitter = tree.getActor(event.emitter)?.delegatedAddress ?? idAddress(event.emitter)
      const isWanted = past ? isWantedPast(filter, event.emitter, emitter) : isWantedNew(filter, emitter)
      if (!isWanted || !matchesFields(event, filter)) continue
      // The reference's index finds events by their entries.
      if (past && event.entries.length === 0) continue
      out.push({ event, emitter, reverted, height: tipset.height, key: tipset.key, message: chainMessageCid(message) })
    }
  }
  return out
}

/**
 * IDs are compared with the actor's number, f410 addresses with its address; with both kinds both have to fit.
 * @see lotus chain/index/events.go makePrefillFilterQuery
 */
function isWantedPast({ addresses }: EventFilter, id: ActorId, emitter: Address): boolean {
  const ids = addresses.filter(isIdAddress)
  const others = addresses.filter((wanted) => !isIdAddress(wanted))
  if (ids.length > 0 && !ids.some((wanted) => addressToId(wanted) === id)) return false
  return others.length === 0 || others.some((wanted) => wanted.equals(emitter))
}

function isWantedNew({ addresses }: EventFilter, emitter: Address): boolean {
  return addresses.length === 0 || addresses.some((wanted) => wanted.equals(emitter))
}

function matchesFields(event: ActorEvent, { fields }: EventFilter): boolean {
  for (const [key, values] of fields) {
    const hit = event.entries.some(
      (entry) => (entry.flags & INDEXED_FLAGS) !== 0 && entry.key === key && values.has(valueText(entry)),
    )
    if (!hit) return false
  }
  return true
}

/** Past events are found by ID and f410 addresses alone. @throws RpcError `FAILED` */
export function assertSearchable({ addresses }: EventFilter, prefix: 'f' | 't'): void {
  const wrong = addresses.find((wanted) => !isIdAddress(wanted) && wanted.protocol !== PROTOCOL_DELEGATED)
  if (wrong === undefined) return
  const text = `can only query events by ID or Delegated addresses; but request has address: ${wrong.toString(prefix)}`
  throw new RpcError('FAILED', `get events for filter: failed to make prefill filter query: ${text}`)
}
