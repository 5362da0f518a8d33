/**
 * Hello: each side of a new connection tells the other its head and genesis.
 * @see lotus node/hello/hello.go Service; forest src/libp2p/hello
 */

import { errorMessage } from '../base/errors.ts'
import type { Clock, Logger, Timers } from '../base/ports.ts'
import { sleep, withTimeout } from '../base/waiting.ts'
import type { Cid } from '../codec/cid.ts'
import { decode, encode } from '../codec/description.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { firstBlock, type Tipset, type TipsetKey } from '../types/tipset.ts'
import { P2pError } from './errors.ts'
import { type AskLimits, ask, linger } from './framing/ask.ts'
import { PatientStream, type Time } from './framing/patientStream.ts'
import { StreamReader } from './framing/streamReader.ts'
import { type HelloMessage, helloMessage, type LatencyMessage, latencyMessage } from './helloMessage.ts'
import { HELLO_BUDGET, HELLO_MS, HELLO_OPEN_MS, MAX_HELLO_ANSWER_BYTES, MAX_HELLO_BYTES } from './limits.ts'
import { PeerBudget } from './peerBudget.ts'
import { type ByteStream, type PeerLinks, type PeerName, reportError } from './peerLinks.ts'

/** The protocol's name when a stream is opened. */
export const HELLO_PROTOCOL = '/fil/hello/1.0.0'

/** Longest that a Hello waits for the weight, which a follower without state has to fetch, milliseconds. */
const WEIGHT_MS = 3000
/** A clock that differs by more is worth a line in the log, milliseconds. */
const OFFSET_WORTH_LOGGING_MS = 5000
/** A Hello that failed is said again after so long each time, milliseconds. Fewer than a peer's budget has room for. */
const HELLO_AGAIN_MS: readonly number[] = [5000, 20_000, 60_000]
/** Lotus' connection manager tag of a peer that has a chain. */
const PEER_TAG = 'fcpeer'
const PEER_TAG_WEIGHT = 10

const ASK_LIMITS: AskLimits = {
  openMs: HELLO_OPEN_MS,
  writeMs: HELLO_MS,
  answerMs: HELLO_MS,
  maxBytes: MAX_HELLO_ANSWER_BYTES,
}

/** What Hello tells about this node. */
export interface HelloChain {
  head(): Tipset
  /** Weight of a tipset, its own share included; may have to read state. */
  weight(tipset: Tipset): bigint | Promise<bigint>
  readonly genesisCid: Cid
}

/** The chain to tell of, and who hears what peers told. */
export interface HelloDeps {
  readonly links: PeerLinks
  readonly chain: HelloChain
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
  /** A peer of the same chain named its head. Nothing of it is checked. */
  readonly onHead: (peer: PeerName, key: TipsetKey, height: ChainEpoch, weight: bigint) => void
  /** A peer answered this node's Hello, after so long. */
  readonly onLatency?: (peer: PeerName, ms: number) => void
}

/** What ends Hello. */
export interface HelloService {
  stop(): void
}

/** Answers Hellos, and says Hello to every peer that speaks it, those already connected included. One that fails is said again. */
export function startHello(deps: HelloDeps): HelloService {
  const hello = new Hello(deps)
  return { stop: () => hello.stop() }
}

/**
 * Answers Hellos and says none: of a node that has no chain yet. Who is left without an answer may hold it against the node.
 * @returns what ends it
 */
export function answerHellos({ links, clock, timers }: Pick<HelloDeps, 'links' | 'clock' | 'timers'>): () => void {
  const time = { clock, timers }
  const budget = new PeerBudget(clock, HELLO_BUDGET)
  return links.handle(HELLO_PROTOCOL, async (peer, stream) => {
    if (!budget.take(peer)) throw new P2pError('PEER_REFUSED', 'too many hellos')
    const patient = new PatientStream(stream, time, { totalMs: 2 * HELLO_MS })
    try {
      await new StreamReader(patient, MAX_HELLO_BYTES).cborItem(MAX_HELLO_BYTES)
      await answerLatency(patient, stream, clock.nowMs(), time)
    } finally {
      patient.release()
    }
  })
}

async function answerLatency(patient: PatientStream, stream: ByteStream, arrivedMs: number, time: Time): Promise<void> {
  const answer = { tArrival: nanoseconds(arrivedMs), tSent: nanoseconds(time.clock.nowMs()) }
  await patient.write(encode(latencyMessage, answer))
  await patient.closeWrite()
  linger(stream, time)
}

class Hello {
  readonly #deps: HelloDeps
  readonly #time: Time
  readonly #budget: PeerBudget
  readonly #control = new AbortController()
  /** What ends the greeting of each connected peer that was or is being greeted. */
  readonly #greeted = new Map<PeerName, AbortController>()
  readonly #ends: (() => void)[]

  constructor(deps: HelloDeps) {
    this.#deps = deps
    this.#time = { clock: deps.clock, timers: deps.timers }
    this.#budget = new PeerBudget(deps.clock, HELLO_BUDGET)
    const { links } = deps
    this.#ends = [
      links.handle(HELLO_PROTOCOL, (peer, stream) => this.#serve(peer, stream)),
      links.onIdentified((peer) => this.#met(peer)),
      links.onDisconnected((peer) =>
        this.#forget(peer, new P2pError('NOT_CONNECTED', `Cannot say hello: ${peer} left`)),
      ),
    ]
    for (const peer of links.peers()) this.#met(peer)
  }

  stop(): void {
    for (const end of this.#ends) end()
    const stopped = new P2pError('NOT_STARTED', 'Cannot say hello: stopped')
    this.#control.abort(stopped)
    for (const peer of [...this.#greeted.keys()]) this.#forget(peer, stopped)
  }

  #met(peer: PeerName): void {
    if (this.#deps.links.speaks(peer, HELLO_PROTOCOL) === true) this.#greet(peer)
  }

  #forget(peer: PeerName, reason: P2pError): void {
    this.#greeted.get(peer)?.abort(reason)
    this.#greeted.delete(peer)
  }

  /** Once for each connection. */
  #greet(peer: PeerName): void {
    if (this.#control.signal.aborted || this.#greeted.has(peer) || !this.#deps.links.peers().includes(peer)) return
    const control = new AbortController()
    this.#greeted.set(peer, control)
    void this.#sayUntilHeard(peer, control.signal)
  }

  /** A peer that was not told of a head that does not move would never hear of it. */
  async #sayUntilHeard(peer: PeerName, signal: AbortSignal): Promise<void> {
    const { timers, log } = this.#deps
    for (const afterMs of [0, ...HELLO_AGAIN_MS]) {
      try {
        if (afterMs > 0) await sleep(timers, afterMs, signal)
        await this.#say(peer, signal)
        return
      } catch (error) {
        if (signal.aborted) return
        log.debug('hello failed', { peer, error: errorMessage(error) })
        if (error instanceof P2pError && error.code === 'PROTOCOL_UNSUPPORTED') return
      }
    }
  }

  async #say(peer: PeerName, signal: AbortSignal): Promise<void> {
    const { links, clock, onLatency } = this.#deps
    const request = encode(helloMessage, await this.#message())
    const [began, beganMs] = [clock.nowMs(), clock.monotonicMs()]
    const question = { peer, protocol: HELLO_PROTOCOL, request, limits: ASK_LIMITS, signal }
    const answer = await ask(links, this.#time, question, async (reader) => {
      return decode(latencyMessage, await reader.cborItem(MAX_HELLO_ANSWER_BYTES))
    })
    const ended = clock.nowMs()
    onLatency?.(peer, clock.monotonicMs() - beganMs)
    this.#compareClocks(peer, began, answer, ended)
  }

  async #message(): Promise<HelloMessage> {
    const { chain, log } = this.#deps
    const head = chain.head()
    let weight = firstBlock(head).parentWeight
    try {
      weight = await this.#inTime(chain.weight(head))
    } catch (error) {
      // Without the state that the weight needs; the parents' is less than what this node could claim.
      log.debug('weight of the head unknown', { error: errorMessage(error) })
    }
    return {
      heaviestTipSet: [...head.key],
      heaviestTipSetHeight: head.height,
      heaviestTipSetWeight: weight,
      genesisHash: chain.genesisCid,
    }
  }

  async #inTime(weight: bigint | Promise<bigint>): Promise<bigint> {
    if (typeof weight === 'bigint') return weight
    const late = new P2pError('TIMEOUT', `Cannot tell the weight: not known after ${WEIGHT_MS} ms`)
    return await withTimeout(
      this.#deps.timers,
      WEIGHT_MS,
      () => late,
      () => weight,
    )
  }

  #compareClocks(peer: PeerName, began: number, answer: LatencyMessage, ended: number): void {
    if (answer.tArrival === 0n || answer.tSent === 0n) return
    const offsetMs = (began - Number(answer.tArrival) / 1e6 + (ended - Number(answer.tSent) / 1e6)) / 2
    if (Math.abs(offsetMs) > OFFSET_WORTH_LOGGING_MS) this.#deps.log.info('time offset', { peer, offsetMs })
  }

  async #serve(peer: PeerName, stream: ByteStream): Promise<void> {
    const { links, chain, clock, log, onHead } = this.#deps
    if (!this.#budget.take(peer)) {
      links.report(peer, { fault: 'FLOOD', reason: 'hellos' })
      throw new P2pError('PEER_REFUSED', 'too many hellos')
    }
    const patient = new PatientStream(stream, this.#time, { totalMs: 2 * HELLO_MS, signal: this.#control.signal })
    try {
      const said = await this.#read(peer, patient)
      const arrived = clock.nowMs()
      if (!said.genesisHash.equals(chain.genesisCid)) {
        log.debug('peer of another chain', { peer, genesis: String(said.genesisHash) })
        links.report(peer, { fault: 'OTHER_GENESIS', reason: String(said.genesisHash) })
        await links.disconnect(peer)
        return
      }
      // Before the answer: a peer that has no patience left for it has told its head all the same.
      if (said.heaviestTipSet.length > 0) {
        if (said.heaviestTipSetHeight > 0) links.tag(peer, PEER_TAG, PEER_TAG_WEIGHT)
        onHead(peer, said.heaviestTipSet, said.heaviestTipSetHeight, said.heaviestTipSetWeight)
      }
      // Who says hello speaks it, whether or not identify has told.
      this.#greet(peer)
      await answerLatency(patient, stream, arrived, this.#time)
    } finally {
      patient.release()
    }
  }

  async #read(peer: PeerName, stream: ByteStream): Promise<HelloMessage> {
    const { links } = this.#deps
    try {
      return decode(helloMessage, await new StreamReader(stream, MAX_HELLO_BYTES).cborItem(MAX_HELLO_BYTES))
    } catch (error) {
      reportError(links, peer, 'hello', error)
      throw error
    }
  }
}

/** Unix nanoseconds of Unix milliseconds. */
function nanoseconds(ms: number): bigint {
  return BigInt(Math.round(ms * 1000)) * 1000n
}
