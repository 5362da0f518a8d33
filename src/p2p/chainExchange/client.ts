/**
 * Asks peers for tipsets: the cheapest first, the next when it fails, the rest of what one left unsaid.
 * @see lotus chain/exchange/client.go doRequest; forest src/chain_sync/network_context.rs
 */
import { errorMessage } from '../../base/errors.ts'
import type { Clock, Logger, Random, Timers } from '../../base/ports.ts'
import type { BlockMessages } from '../../chain/blockMessages.ts'
import { encode } from '../../codec/description.ts'
import { firstBlock, repeatedCid, sameCids, type Tipset, type TipsetKey } from '../../types/tipset.ts'
import type { ChainRequest, ChainSource, FetchedChain, FetchedTipset } from '../chainSource.ts'
import { P2pError } from '../errors.ts'
import { type AskLimits, ask } from '../framing/ask.ts'
import { abortReason, type Time } from '../framing/patientStream.ts'
import { byDemerits, type PeerLinks, type PeerName, reportError } from '../peerLinks.ts'
import { ANSWERED_WEIGHT, MERIT_TAGS } from '../peers/peerTags.ts'
import { CLIENT_LIMITS, MAX_ATTEMPTS, MAX_HEADERS_BYTES, MAX_LENGTH } from './limits.ts'
import {
  CHAIN_EXCHANGE_PROTOCOL,
  type ExchangeTipset,
  exchangeRequest,
  OPTION_HEADERS,
  OPTION_MESSAGES,
  STATUS_NOT_FOUND,
} from './messages.ts'
import { PeerTracker } from './peerTracker.ts'
import { checkedMessages, fetchedTipset, readAnswer } from './readAnswer.ts'

/** Peers to ask, and what their order is made of: clock and dice. */
export interface ExchangeClientDeps {
  readonly links: PeerLinks
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly log: Logger
  /** Times and sizes; default those of Lotus. */
  readonly limits?: AskLimits
}

/** Whom to ask first, and when to stop. */
interface Wish {
  readonly prefer?: PeerName
  readonly signal?: AbortSignal
}

interface Asked {
  readonly head: TipsetKey
  readonly length: number
  readonly options: bigint
  readonly maxTipsetBytes: number
}

/** What one peer answered. */
interface Answered<T> {
  readonly peer: PeerName
  readonly items: readonly T[]
  readonly complete: boolean
}

/** Makes something of a tipset and those before it; undefined: it is of no use, and all below it is not. */
type Take<T> = (answer: ExchangeTipset, before: readonly T[]) => T | undefined

/** The chain exchange's client. */
export class ExchangeClient implements ChainSource {
  readonly #deps: ExchangeClientDeps
  readonly #time: Time
  readonly #limits: AskLimits
  readonly #tracker: PeerTracker

  constructor(deps: ExchangeClientDeps) {
    this.#deps = deps
    this.#time = { clock: deps.clock, timers: deps.timers }
    this.#limits = deps.limits ?? CLIENT_LIMITS
    this.#tracker = new PeerTracker(deps.clock, deps.random)
  }

  async fetch(request: ChainRequest, wish: Wish): Promise<FetchedChain> {
    const tipsets: FetchedTipset[] = []
    let first: PeerName | undefined
    for (let head = request.head; ; ) {
      if (repeatedCid(head) !== undefined) {
        // Lotus would give one, with the block twice in it.
        if (first === undefined) throw new P2pError('NOT_FOUND', 'Cannot fetch: no tipset has a block twice')
        break
      }
      const part = await this.#fetchPart(
        { ...request, head, length: request.length - tipsets.length },
        {
          ...wish,
          ...(first === undefined ? {} : { prefer: first }),
        },
      ).catch((error: unknown) => {
        // What is there already is worth more than the error; but who asked may have stopped waiting.
        if (first === undefined || wish.signal?.aborted === true) throw error
        return undefined
      })
      if (part === undefined) break
      first ??= part.peer
      tipsets.push(...part.items)
      const last = (tipsets[tipsets.length - 1] as FetchedTipset).tipset
      if (part.complete || last.height === 0) break
      head = firstBlock(last).parents
    }
    return { peer: first as PeerName, tipsets }
  }

  #fetchPart(request: ChainRequest, wish: Wish): Promise<Answered<FetchedTipset>> {
    const { head, length, messages } = request
    const asked: Asked = {
      head,
      length: Math.min(length, MAX_LENGTH),
      options: messages ? OPTION_HEADERS | OPTION_MESSAGES : OPTION_HEADERS,
      maxTipsetBytes: messages ? this.#limits.maxBytes : MAX_HEADERS_BYTES,
    }
    return this.#askPeers(asked, wish, (answer, before) => {
      return fetchedTipset(answer, head, before[before.length - 1]?.tipset, messages)
    })
  }

  async fetchMessages(tipsets: readonly Tipset[], wish: Wish): Promise<readonly (readonly BlockMessages[])[]> {
    if (isAscending(tipsets)) return (await this.fetchMessages([...tipsets].reverse(), wish)).toReversed()
    const out: (readonly BlockMessages[])[] = []
    let { prefer } = wish
    while (out.length < tipsets.length) {
      const run = connectedRun(tipsets, out.length)
      const asked: Asked = {
        head: (run[0] as Tipset).key,
        length: run.length,
        options: OPTION_MESSAGES,
        maxTipsetBytes: this.#limits.maxBytes,
      }
      const answered = await this.#askPeers<BlockMessages[]>(
        asked,
        { ...wish, ...(prefer === undefined ? {} : { prefer }) },
        (answer, before) => {
          return checkedMessages(answer.messages, run[before.length] as Tipset)
        },
      )
      prefer = answered.peer
      out.push(...answered.items)
    }
    return out
  }

  /** One peer after the other, until one answers. @throws P2pError `NO_PEERS`, `ALL_PEERS_FAILED`; the signal's reason */
  async #askPeers<T>(asked: Asked, wish: Wish, take: Take<T>): Promise<Answered<T>> {
    const { links, log } = this.#deps
    // A greeting may be here before identify is: whoever told of a head is asked for it all the same.
    const isAble = (peer: PeerName): boolean => links.speaks(peer, CHAIN_EXCHANGE_PROTOCOL) ?? peer === wish.prefer
    const candidates = byDemerits(links, links.peers().filter(isAble))
    if (candidates.length === 0) throw new P2pError('NO_PEERS', 'no peers available')
    const failures: string[] = []
    for (const peer of this.#tracker.order(candidates, wish.prefer).slice(0, MAX_ATTEMPTS)) {
      throwIfAborted(wish.signal)
      const began = this.#time.clock.monotonicMs()
      try {
        const answered = await this.#askPeer(peer, asked, wish.signal, take)
        this.#tracker.succeeded(peer, this.#time.clock.monotonicMs() - began, answered.items.length)
        links.tag(peer, MERIT_TAGS.answered, ANSWERED_WEIGHT)
        return answered
      } catch (error) {
        throwIfAborted(wish.signal)
        const ms = this.#time.clock.monotonicMs() - began
        if (hasNothing(error)) this.#tracker.hadNothing(peer, ms, asked.length)
        else this.#tracker.failed(peer, ms, asked.length)
        log.debug('chain exchange failed', { peer, error: errorMessage(error) })
        reportError(links, peer, 'chain exchange', error)
        failures.push(`${peer}: ${errorMessage(error)}`)
      }
    }
    throw new P2pError('ALL_PEERS_FAILED', `doRequest failed for all peers: ${failures.join('; ')}`, { failures })
  }

  async #askPeer<T>(
    peer: PeerName,
    asked: Asked,
    signal: AbortSignal | undefined,
    take: Take<T>,
  ): Promise<Answered<T>> {
    const { head, length, options, maxTipsetBytes } = asked
    const request = encode(exchangeRequest, { head: [...head], length: BigInt(length), options })
    const question = { peer, protocol: CHAIN_EXCHANGE_PROTOCOL, request, limits: this.#limits, signal }
    return ask(this.#deps.links, this.#time, question, async (reader) => {
      const items: T[] = []
      const end = await readAnswer(reader, { length, maxTipsetBytes }, (answer) => {
        const item = take(answer, items)
        if (item !== undefined) items.push(item)
        return item !== undefined
      })
      return { peer, items, complete: end === 'complete' }
    })
  }
}

/** Whether a peer read the question and has no such tipset. @see lotus chain/exchange/client.go sendRequestToPeer */
function hasNothing(error: unknown): boolean {
  return error instanceof P2pError && error.code === 'PEER_REFUSED' && error.info.status === STATUS_NOT_FOUND
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw abortReason(signal)
}

function isParent(parent: Tipset, child: Tipset): boolean {
  return sameCids(firstBlock(child).parents, parent.key)
}

function isAscending(tipsets: readonly Tipset[]): boolean {
  const [first, second] = tipsets
  return first !== undefined && second !== undefined && isParent(first, second)
}

/** From `start` on, as far as each is the parent of the one before: one question's worth. */
function connectedRun(tipsets: readonly Tipset[], start: number): readonly Tipset[] {
  let end = start + 1
  while (end < tipsets.length && end - start < MAX_LENGTH && isParent(at(tipsets, end), at(tipsets, end - 1))) end++
  return tipsets.slice(start, end)
}

function at(tipsets: readonly Tipset[], index: number): Tipset {
  return tipsets[index] as Tipset
}
