/** Signatures: events of actors. */
import type { Cid } from '../../codec/cid.ts'
import { cid, list, listOrEmpty } from '../../codec/description.ts'
import { type ActorEvent, actorEvent } from '../../types/event.ts'
import { type Param, param } from '../method.ts'
import { type CallSignature, type ChannelSignature, callSignature, channelSignature } from '../signature.ts'
import { type EventFilter, eventFilter, type PlacedEvent, placedEvent } from '../types/actorEvents.ts'

export const getActorEventsRaw: CallSignature<readonly [Param<EventFilter>], PlacedEvent[]> = callSignature({
  name: 'GetActorEventsRaw',
  cost: 'scan',
  perm: 'read',
  versions: ['v1'],
  summary: 'Events of actors in a range of epochs; null when there are none.',
  params: [param('filter', eventFilter)],
  result: list(placedEvent),
})

export const subscribeActorEventsRaw: ChannelSignature<readonly [Param<EventFilter>], PlacedEvent> = channelSignature({
  name: 'SubscribeActorEventsRaw',
  perm: 'read',
  versions: ['v1'],
  summary: 'Events of actors as they come, reverted ones again; first those of the past that are wanted.',
  params: [param('filter', eventFilter)],
  result: placedEvent,
})

export const chainGetEvents: CallSignature<readonly [Param<Cid>], ActorEvent[]> = callSignature({
  name: 'ChainGetEvents',
  cost: 'scan',
  perm: 'read',
  versions: ['v1'],
  summary: "Events under the root in a message's receipt.",
  params: [param('rootCid', cid)],
  result: listOrEmpty(actorEvent),
})
