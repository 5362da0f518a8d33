/**
 * Events that actors emit.
 * @see lotus chain/types/event.go; FIP-0049, FIP-0072
 */
import { bytes, type Codec, list, text, tuple, uint } from '../codec/description.ts'
import { type ActorId, actorId } from './scalars.ts'

/** One entry: flags 1 (key indexed), 2 (value indexed), 3 (both). */
export interface EventEntry {
  readonly flags: number
  readonly key: string
  readonly codec: number
  readonly value: Uint8Array
}

/** What one call of an actor emitted; network version 18 on. The AMT of a receipt's `eventsRoot` holds a message's. */
export interface ActorEvent {
  readonly emitter: ActorId
  readonly entries: EventEntry[]
}

export const eventEntry: Codec<EventEntry> = tuple<EventEntry>('types.EventEntry', [
  ['flags', 'Flags', uint],
  ['key', 'Key', text],
  ['codec', 'Codec', uint],
  ['value', 'Value', bytes],
])

export const actorEvent: Codec<ActorEvent> = tuple<ActorEvent>('types.Event', [
  ['emitter', 'Emitter', actorId],
  ['entries', 'Entries', list(eventEntry)],
])
