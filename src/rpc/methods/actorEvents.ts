/**
 * Methods about events of actors.
 * @see lotus node/impl/full/actor_events.go; node/impl/full/chain.go ChainGetEvents
 */
import { MAX_UNREAD_BYTES } from '../../base/bounds.ts'
import type { Logger } from '../../base/ports.ts'
import type { Cid } from '../../codec/cid.ts'
import { executedTipsetsBetween } from '../../eth/eventSearch.ts'
import { EVENTS_BIT_WIDTH } from '../../eth/executedTipset.ts'
import { Amt } from '../../ipld/amt.ts'
import { hasBlock } from '../../ipld/blockstore.ts'
import { BlockMissing } from '../../ipld/errors.ts'
import { type ActorEvent, actorEvent } from '../../types/event.ts'
import { firstBlock, type Tipset } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import type { EthReader, Walking } from '../ethReader.ts'
import { ExecutedFeed, each, oncePerStep } from '../executedTipsets.ts'
import { MAX_EVENT_RANGE, MAX_FILTER_RESULTS } from '../limits.ts'
import { channelMethod, type MethodRow, method } from '../method.ts'
import { chainGetEvents, getActorEventsRaw, subscribeActorEventsRaw } from '../signatures/actorEvents.ts'
import {
  assertSearchable,
  type EventFilter,
  type EventRange,
  eventRange,
  type PlacedEvent,
  wantedEvents,
} from '../types/actorEvents.ts'

/** What the methods need. */
export interface ActorEventDeps {
  readonly reader: EthReader
  readonly log: Logger
}

/** Rows about events. */
export function actorEventMethods({ reader, log }: ActorEventDeps): MethodRow[] {
  const { view } = reader
  const { store } = view
  const feed = new ExecutedFeed(store, log)
  const executedOf = oncePerStep((executed, call) => reader.executed(executed, call))
  return [
    method({
      ...getActorEventsRaw,
      handler: (filter, call) => {
        const head = store.head()
        return pastEvents(reader, filter, head, eventRange(filter, head.height), call)
      },
    }),
    channelMethod({
      ...subscribeActorEventsRaw,
      subscribe: (filter, sink, call) => {
        // The past ends at this head, whatever becomes of it while that is read: what comes after it is told as it comes.
        const head = store.head()
        const range = eventRange(filter, head.height)
        const unwant = call.wants?.(filter.bytes)
        let stop = (): void => undefined
        let ended = false
        const end = (): void => {
          if (ended) return
          ended = true
          stop()
          sink.close()
        }
        const send = (event: PlacedEvent): void => {
          if (!ended) sink.value(event)
          if (sink.unreadBytes() > MAX_UNREAD_BYTES) end()
        }
        const past = async (signal: AbortSignal): Promise<void> => {
          const walk: Walking['walk'] = (steps) => call.walk(steps, signal)
          await walk(each(await pastEvents(reader, filter, head, range, { signal, walk }), send))
        }
        const isPast = range.from !== undefined && range.from < head.height
        // Steps of the chain wait for the past: they come after it.
        const first = isPast && call.scan !== undefined ? call.scan(past) : past(call.signal)
        stop = feed.on(async (change, stopped) => {
          await first
          const { height } = change.executed
          if (height >= (range.from ?? 0) && height <= (range.to ?? height)) {
            const executed = await executedOf(change, call)
            const events = await call.walk(wantedEvents(executed, filter, change.isReverted, false), stopped)
            await call.walk(each(events, send), stopped)
          }
          if (range.to !== undefined && change.head.height > range.to) end()
        })
        first.then(
          () => {
            if (range.to !== undefined && head.height >= range.to) end()
          },
          (error: unknown) => {
            log.debug('subscription of events ended', { message: String(error) })
            end()
          },
        )
        return () => {
          ended = true
          stop()
          unwant?.()
        }
      },
    }),
    method({
      ...chainGetEvents,
      handler: async (root, { signal }) => {
        const read = (): ActorEvent[] =>
          Amt.load(store.blocks, root, actorEvent, { bitWidth: EVENTS_BIT_WIDTH }).values()
        try {
          return read()
        } catch (error) {
          if (!(error instanceof BlockMissing) || reader.fetches || !(await madeAgain(reader, root, signal)))
            throw error
          return read()
        }
      },
    }),
  ]
}

/**
 * A snapshot holds no receipts and no events: the tipsets without are executed again, the newest first, as far back as a search
 * of events goes, until the block is there. Each is executed once: then its receipts are there.
 */
async function madeAgain({ view, vm }: EthReader, block: Cid, signal: AbortSignal): Promise<boolean> {
  const { store } = view
  const head = store.head()
  for (let tipset = head; tipset.height > 0 && head.height - tipset.height <= MAX_EVENT_RANGE && !signal.aborted; ) {
    const parent = store.parent(tipset)
    if (!hasBlock(store.blocks, firstBlock(tipset).parentMessageReceipts) && view.tipsetMessages(parent).length > 0) {
      try {
        await vm.executeTipset(parent, signal)
      } catch (error) {
        // Older state is not here either.
        if (error instanceof BlockMissing) return false
        throw error
      }
      if (hasBlock(store.blocks, block)) return true
    }
    tipset = parent
  }
  return false
}

async function pastEvents(
  reader: EthReader,
  filter: EventFilter,
  head: Tipset,
  { from, to }: EventRange,
  call: Walking,
): Promise<PlacedEvent[]> {
  const { store, network } = reader.view
  if (from === undefined || from >= head.height) return []
  assertSearchable(filter, network.addressPrefix)
  const tipsets: Tipset[] =
    filter.key.length > 0
      ? [store.tipset(filter.key)]
      : await call.walk(executedTipsetsBetween(store, head, { from, to: to ?? head.height }))
  const out: PlacedEvent[] = []
  let contributing = 0
  for (const tipset of tipsets) {
    const found = await call.walk(wantedEvents(await reader.executed(tipset, call), filter, false, true))
    if (found.length > 0) contributing++
    out.push(...found)
    if (contributing > 1 && out.length > MAX_FILTER_RESULTS) {
      const text = 'filter matches too many events, try a more restricted filter'
      throw new RpcError('FAILED', `get events for filter: ${text}`)
    }
  }
  return out
}
