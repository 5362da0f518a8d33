/**
 * Events of actors as GetActorEventsRaw and SubscribeActorEventsRaw give them, and which are wanted.
 * @see lotus chain/types/actor_event.go; node/impl/full/actor_events.go parseFilter, parseHeightRange
 */
import { prefixedHex } from '../../base/bytes.ts'
import type { Steps } from '../../base/steps.ts'
import type { Cid } from '../../codec/cid.ts'
import { type Codec, cid, type JsonContext, jsonOnly } from '../../codec/description.ts'
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
import { assertWanted, FILTER_BYTES, ITEM_BYTES, SET_BYTES, wantedBytes } from './wanted.ts'

/** Flags of an entry that is searched by: key, value, or both. */
const INDEXED_FLAGS = 3

/** Which events are wanted. */
export interface EventFilter {
  /** Actors that are wanted by their numbers, and the keys of the other addresses; of both none: all. */
  readonly ids: ReadonlySet<ActorId>
  readonly others: ReadonlySet<string>
  /** The first address under which no past event is found. */
  readonly unsearchable: Address | undefined
  /** By key: any of these pairs of codec and value (hexadecimal). */
  readonly fields: ReadonlyMap<string, ReadonlySet<string>>
  readonly fromHeight: ChainEpoch | undefined
  readonly toHeight: ChainEpoch | undefined
  /** Empty: none. */
  readonly key: TipsetKey
  /** What it takes to hold it, about. */
  readonly bytes: number
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
    const listed = jsonField(object, 'addresses') ?? []
    if (!Array.isArray(listed)) throw wrongJson(listed, '[]address.Address')
    const fields = jsonField(object, 'fields') ?? {}
    if (typeof fields !== 'object' || Array.isArray(fields)) {
      throw wrongJson(fields, 'map[string][]types.ActorEventBlock')
    }
    const keys = Object.entries(fields)
    assertWanted(
      keys.reduce((sum, [, any]) => sum + 1 + (Array.isArray(any) ? any.length : 0), listed.length),
      'types.ActorEventFilter',
    )
    const filter = {
      ...addressesOf(listed, context),
      // A key without values is no condition.
      fields: new Map(
        keys.map(([key, any]) => [key, valuesOf(any, context)] as const).filter(([, values]) => values.size > 0),
      ),
      fromHeight: height('fromHeight'),
      toHeight: height('toHeight'),
      key: tipsetKey.fromJson(jsonField(object, 'tipsetKey'), context),
    }
    return { ...filter, bytes: bytesOf(filter) }
  },
  { type: 'object' },
)

function addressesOf(
  listed: readonly Json[],
  context: JsonContext,
): Pick<EventFilter, 'ids' | 'others' | 'unsearchable'> {
  const [ids, others] = [new Set<ActorId>(), new Set<string>()]
  let unsearchable: Address | undefined
  for (const json of listed) {
    const wanted = address.fromJson(json, context)
    if (isIdAddress(wanted)) ids.add(addressToId(wanted))
    else {
      others.add(wanted.key)
      if (wanted.protocol !== PROTOCOL_DELEGATED) unsearchable ??= wanted
    }
  }
  return { ids, others, unsearchable }
}

function bytesOf({ ids, others, fields, key }: Omit<EventFilter, 'bytes'>): number {
  let bytes = FILTER_BYTES + wantedBytes(ids) + wantedBytes(others)
  for (const [name, values] of fields) bytes += ITEM_BYTES + 2 * name.length + wantedBytes(values)
  for (const { bytes: cid } of key) bytes += SET_BYTES + cid.length
  return bytes
}

function valuesOf(any: Json, context: JsonContext): Set<string> {
  if (any === null) return new Set()
  if (!Array.isArray(any)) throw wrongJson(any, '[]types.ActorEventBlock')
  return new Set(any.map((value) => valueText(eventEntry.fromJson(value, context))))
}

function valueText({ codec, value }: EventEntry): string {
  return prefixedHex(`${codec}/`, value)
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

/** The wanted events of a tipset, one by one. @param past - see {@link isWantedPast} */
export function* wantedEvents(
  { tipset, tree, messages }: ExecutedTipset,
  filter: EventFilter,
  reverted: boolean,
  past: boolean,
): Steps<PlacedEvent[]> {
  const out: PlacedEvent[] = []
  for (const { message, events } of messages) {
    for (const event of events) {
      // In turns: a message has thousands, and many look at it.
      yield
      const emitter = tree.getActor(event.emitter)?.delegatedAddress ?? idAddress(event.emitter)
      const isWanted = past ? isWantedPast(filter, event.emitter, emitter) : isWantedNew(filter, event.emitter, emitter)
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
function isWantedPast({ ids, others }: EventFilter, id: ActorId, emitter: Address): boolean {
  if (ids.size > 0 && !ids.has(id)) return false
  return others.size === 0 || others.has(emitter.key)
}

/** An actor that has an f410 address is not wanted by its number. */
function isWantedNew({ ids, others }: EventFilter, id: ActorId, emitter: Address): boolean {
  if (ids.size + others.size === 0) return true
  return isIdAddress(emitter) ? ids.has(id) : others.has(emitter.key)
}

function matchesFields(event: ActorEvent, { fields }: EventFilter): boolean {
  // Each has to be found in an entry of its own.
  if (fields.size > event.entries.length) return false
  for (const [key, values] of fields) {
    const hit = event.entries.some(
      (entry) => (entry.flags & INDEXED_FLAGS) !== 0 && entry.key === key && values.has(valueText(entry)),
    )
    if (!hit) return false
  }
  return true
}

/** Past events are found by ID and f410 addresses alone. @throws RpcError `FAILED` */
export function assertSearchable({ unsearchable }: EventFilter, prefix: 'f' | 't'): void {
  if (unsearchable === undefined) return
  const text = `can only query events by ID or Delegated addresses; but request has address: ${unsearchable.toString(prefix)}`
  throw new RpcError('FAILED', `get events for filter: failed to make prefill filter query: ${text}`)
}
