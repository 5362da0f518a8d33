/**
 * Serves the chain exchange: so many requests at once, so many tipsets a peer, each answer bounded.
 * @see lotus chain/exchange/server.go HandleStream; forest src/libp2p/chain_exchange/behaviour.rs
 */

import { Breather } from '../../base/breather.ts'
import { errorMessage } from '../../base/errors.ts'
import type { Clock, Logger, Timers } from '../../base/ports.ts'
import { decode } from '../../codec/description.ts'
import { NodeCache } from '../../ipld/nodeCache.ts'
import { P2pError } from '../errors.ts'
import { linger } from '../framing/ask.ts'
import { PatientStream, type Time } from '../framing/patientStream.ts'
import { StreamReader } from '../framing/streamReader.ts'
import { PeerBudget } from '../peerBudget.ts'
import { type ByteStream, type PeerLinks, type PeerName, reportError } from '../peerLinks.ts'
import { ServiceGate } from '../serviceGate.ts'
import { UnsentAnswers } from '../unsentAnswers.ts'
import { answerRequest, type EncodedAnswer, type ExchangeChain, refusal } from './answerRequest.ts'
import {
  BUSY_MS,
  ENCODED_BYTES,
  HEADERS_SHARE,
  LEAST_COST,
  MAX_LENGTH,
  MAX_REQUEST_BYTES,
  MAX_SERVED_BYTES,
  MAX_WAIT_MS,
  READ_GATE,
  READ_REQUEST_MS,
  REFUSAL_BUDGET,
  SERVER_BUDGET,
  SERVER_GATE,
  SHORT_ANSWER_BYTES,
  STALL_MS,
  UNSENT,
  WRITE_ANSWER_MS,
  WRITE_BYTES,
} from './limits.ts'
import {
  CHAIN_EXCHANGE_PROTOCOL,
  type ExchangeRequest,
  exchangeRequest,
  OPTION_MESSAGES,
  STATUS_GO_AWAY,
} from './messages.ts'

/** The chain that is served, and how much of it in one answer. */
export interface ExchangeServerDeps {
  readonly links: PeerLinks
  readonly chain: ExchangeChain
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
  /** Default 10 MiB. */
  readonly maxServedBytes?: number
}

/** Starts serving. @returns what ends it, answers under way included */
export function serveChainExchange(deps: ExchangeServerDeps): { stop(): void } {
  const server = new ExchangeServer(deps)
  return { stop: () => server.stop() }
}

class ExchangeServer {
  readonly #deps: ExchangeServerDeps
  readonly #time: Time
  readonly #readGate = new ServiceGate(READ_GATE)
  readonly #gate = new ServiceGate(SERVER_GATE)
  readonly #unsent = new UnsentAnswers(UNSENT)
  readonly #encoded = new NodeCache(ENCODED_BYTES)
  readonly #budget: PeerBudget
  readonly #refusals: PeerBudget
  /** Of all answers in the making. */
  readonly #turns: Breather
  readonly #control = new AbortController()
  readonly #end: () => void

  constructor(deps: ExchangeServerDeps) {
    this.#deps = deps
    this.#time = { clock: deps.clock, timers: deps.timers }
    this.#turns = new Breather(this.#time, BUSY_MS)
    this.#budget = new PeerBudget(deps.clock, SERVER_BUDGET)
    this.#refusals = new PeerBudget(deps.clock, REFUSAL_BUDGET)
    this.#end = deps.links.handle(CHAIN_EXCHANGE_PROTOCOL, (peer, stream) => this.#serve(peer, stream))
  }

  stop(): void {
    this.#end()
    this.#control.abort(new P2pError('NOT_STARTED', 'Cannot answer: stopped'))
  }

  async #serve(peer: PeerName, stream: ByteStream): Promise<void> {
    try {
      const request = await this.#request(peer, stream)
      const since = this.#time.clock.monotonicMs()
      const turn = await this.#gate.enterToMake(peer)
      if (turn === undefined) {
        await this.#write(peer, stream, refusal(STATUS_GO_AWAY, 'too many requests at once'))
        return
      }
      const ended = new AbortController()
      const unsent = this.#unsent.begin(peer, () => {
        const reason = new P2pError('PEER_REFUSED', 'others wait')
        ended.abort(reason)
        stream.abort(reason)
      })
      try {
        // Nobody tells that a request was given up: go-yamux closes a stream for itself.
        if (this.#time.clock.monotonicMs() - since > MAX_WAIT_MS)
          throw new P2pError('TIMEOUT', 'it has waited too long')
        const answer = await this.#answer(peer, request, unsent.most, ended.signal)
        unsent.is(sizeOf(answer))
        turn.made()
        await this.#write(peer, stream, answer)
      } finally {
        unsent.end()
        turn.leave()
      }
    } catch (error) {
      this.#deps.log.debug('chain exchange not answered', { peer, error: errorMessage(error) })
      throw error
    }
  }

  async #request(peer: PeerName, stream: ByteStream): Promise<ExchangeRequest> {
    const leave = await this.#readGate.enter(peer, () => stream.abort(new P2pError('PEER_REFUSED', 'others wait')))
    if (leave === undefined) {
      // Not where others have the places.
      if (this.#readGate.hasShare(peer)) {
        this.#deps.links.report(peer, { fault: 'FLOOD', reason: 'chain exchange streams' })
      }
      throw new P2pError('PEER_REFUSED', 'too many streams')
    }
    try {
      return await this.#read(peer, stream)
    } finally {
      leave()
    }
  }

  async #write(peer: PeerName, stream: ByteStream, answer: EncodedAnswer): Promise<void> {
    const patience = { totalMs: WRITE_ANSWER_MS, stallMs: STALL_MS, signal: this.#control.signal }
    const patient = new PatientStream(stream, this.#time, patience)
    try {
      await writeAnswer(patient, answer)
      await patient.closeWrite()
    } catch (error) {
      reportError(this.#deps.links, peer, 'chain exchange answer not taken', error)
      throw error
    } finally {
      patient.release()
    }
    linger(stream, this.#time)
  }

  async #read(peer: PeerName, stream: ByteStream): Promise<ExchangeRequest> {
    const patient = new PatientStream(stream, this.#time, { totalMs: READ_REQUEST_MS, signal: this.#control.signal })
    try {
      const bytes = await new StreamReader(patient, MAX_REQUEST_BYTES).cborItem(MAX_REQUEST_BYTES)
      return decode(exchangeRequest, bytes)
    } catch (error) {
      reportError(this.#deps.links, peer, 'chain exchange request', error)
      throw error
    } finally {
      patient.release()
    }
  }

  /** @param signal - aborted when it is not wanted any more */
  async #answer(peer: PeerName, request: ExchangeRequest, most: number, signal: AbortSignal): Promise<EncodedAnswer> {
    if (!this.#budget.take(peer, cost(request))) {
      if (!this.#refusals.take(peer)) {
        this.#deps.links.report(peer, { fault: 'FLOOD', reason: 'chain exchange requests' })
      }
      return refusal(STATUS_GO_AWAY, 'too many requests')
    }
    const { chain, maxServedBytes } = this.#deps
    const whole = Math.min(most, maxServedBytes ?? MAX_SERVED_BYTES)
    // Asked with each tipset: who has begun gives the place back when somebody comes who lacks but that.
    const limit = (): number => (this.#gate.othersWait(peer) ? Math.min(whole, SHORT_ANSWER_BYTES) : whole)
    const steps = answerRequest(chain, request, limit, this.#encoded)
    return this.#turns.walk(steps, () => {
      for (const ended of [signal, this.#control.signal]) ended.throwIfAborted()
    })
  }
}

/** What a request counts for. */
function cost({ length, options }: ExchangeRequest): number {
  if (length > BigInt(MAX_LENGTH)) return LEAST_COST
  const share = (options & OPTION_MESSAGES) === 0n ? HEADERS_SHARE : 1
  return Math.max(LEAST_COST, Number(length) * share)
}

function sizeOf({ head, tipsets }: EncodedAnswer): number {
  return tipsets.reduce((bytes, tipset) => bytes + tipset.length, head.length)
}

/** Small parts are joined, large ones cut, so that each write is about as much as a stream takes at once. */
async function writeAnswer(stream: ByteStream, answer: EncodedAnswer): Promise<void> {
  let buffer = new Uint8Array(WRITE_BYTES)
  let at = 0
  for (const part of [answer.head, ...answer.tipsets]) {
    for (let from = 0; from < part.length; ) {
      const count = Math.min(part.length - from, buffer.length - at)
      buffer.set(part.subarray(from, from + count), at)
      from += count
      at += count
      if (at === buffer.length) {
        await stream.write(buffer)
        // The stream may keep what it was given.
        buffer = new Uint8Array(WRITE_BYTES)
        at = 0
      }
    }
  }
  if (at > 0) await stream.write(buffer.subarray(0, at))
}
