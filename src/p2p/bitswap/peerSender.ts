/**
 * Sends messages to one peer, over a stream that stays open where the peer reads more than one message of it (Lotus and
 * Petrel do, Forest takes one each).
 * @see ipfs/boxo bitswap/network streamMessageSender; forest src/libp2p_bitswap/internals/codec.rs
 */

import { errorMessage } from '../../base/errors.ts'
import type { Logger } from '../../base/ports.ts'
import { sleep } from '../../base/waiting.ts'
import { P2pError } from '../errors.ts'
import { linger } from '../framing/ask.ts'
import { openTimed } from '../framing/openTimed.ts'
import type { Time } from '../framing/patientStream.ts'
import { PeerBudget } from '../peerBudget.ts'
import type { ByteStream, PeerLinks, PeerName } from '../peerLinks.ts'
import { MAX_QUEUED_BYTES, MESSAGE_MS, OPEN_MS, PROBE_BUDGET, PROBE_MS } from './limits.ts'
import { type BitswapMessage, encodeMessage } from './messages.ts'

/** How streams are opened; `signal` ends all that is under way. */
export interface PeerSenderDeps {
  readonly links: PeerLinks
  /** Newest first. */
  readonly protocols: readonly string[]
  readonly time: Time
  readonly log: Logger
  readonly signal: AbortSignal
}

/** Pause before another stream may be opened, milliseconds. */
const PACE_MS = 20

/** What is known of how the peer reads. */
type Reading = 'unknown' | 'one message a stream' | 'many messages a stream'

/** The messages to one peer, sent one after the other. */
export class PeerSender {
  readonly #deps: PeerSenderDeps
  readonly #peer: PeerName
  readonly #probes: PeerBudget
  #reading: Reading = 'unknown'
  #kept: ByteStream | undefined
  #tail: Promise<void> = Promise.resolve()
  #queuedBytes = 0
  #closed = false
  #endProbe: () => void = () => undefined

  constructor(deps: PeerSenderDeps, peer: PeerName) {
    this.#deps = deps
    this.#peer = peer
    this.#probes = new PeerBudget(deps.time.clock, PROBE_BUDGET)
  }

  /**
   * Sends behind what was given before; resolves when the stream has taken it.
   * @param sizeBytes - about how large it is, for the bound of what waits
   * @throws P2pError `TOO_LARGE` when too much waits already; what opening or writing throws
   */
  send(message: BitswapMessage, sizeBytes: number): Promise<void> {
    if (this.#closed) return Promise.reject(new P2pError('NOT_CONNECTED', 'Cannot send: the peer is gone'))
    if (this.#queuedBytes > 0 && this.#queuedBytes + sizeBytes > MAX_QUEUED_BYTES) {
      return Promise.reject(new P2pError('TOO_LARGE', 'Cannot send: too much waits for this peer'))
    }
    this.#queuedBytes += sizeBytes
    const sent = this.#tail
      .then(() => this.#send(message))
      .finally(() => {
        this.#queuedBytes -= sizeBytes
      })
    this.#tail = sent.catch((error: unknown) => {
      this.#deps.log.debug('bitswap message not sent', { peer: this.#peer, error: errorMessage(error) })
    })
    return sent
  }

  /** Gives up what waits, and the stream. */
  close(): void {
    this.#closed = true
    this.#endProbe()
    this.#kept?.abort(new P2pError('STREAM_RESET', 'bitswap stopped'))
    this.#kept = undefined
  }

  async #send(message: BitswapMessage): Promise<void> {
    const kept = this.#kept
    if (kept !== undefined && this.#reading === 'many messages a stream') {
      try {
        await this.#write(kept, message)
        return
      } catch (error) {
        this.#deps.log.debug('bitswap stream replaced', { peer: this.#peer, error: errorMessage(error) })
        // The peer may have ended it while nothing was to be said: a new one decides.
        if (this.#kept === kept) this.#kept = undefined
      }
    }
    await this.#sendOnNew(message)
  }

  async #sendOnNew(message: BitswapMessage): Promise<void> {
    if (this.#closed) throw new P2pError('NOT_CONNECTED', 'Cannot send: the peer is gone')
    const { links, protocols, time, signal } = this.#deps
    await this.#pace()
    const request = { peer: this.#peer, protocols, timeoutMs: OPEN_MS, signal }
    const stream = await openTimed(links, time.timers, request)
    const keep = this.#reading !== 'one message a stream' && this.#kept === undefined
    if (keep) this.#keep(stream)
    await this.#write(stream, message)
    if (keep) return
    await stream.closeWrite()
    linger(stream, time)
  }

  /** While it is not known how the peer reads, streams come no faster than a peer may be expected to bear. */
  async #pace(): Promise<void> {
    const { timers } = this.#deps.time
    while (this.#reading === 'unknown' && !this.#closed && !this.#probes.take(this.#peer)) {
      await sleep(timers, PACE_MS)
    }
  }

  /** The peer answered what was sent to it: it has read the first message, and if it left the stream open it reads on. */
  answered(): void {
    if (this.#kept !== undefined) this.readsOn()
  }

  /** The peer is of those that read more than one message of a stream: it wrote more than one to one. */
  readsOn(): void {
    if (this.#reading !== 'unknown') return
    this.#reading = 'many messages a stream'
    this.#endProbe()
  }

  async #write(stream: ByteStream, message: BitswapMessage): Promise<void> {
    const stalled = new P2pError('TIMEOUT', `Cannot send: not taken in ${MESSAGE_MS} ms`)
    const cancel = this.#deps.time.timers.setTimeout(() => stream.abort(stalled), MESSAGE_MS)
    try {
      await stream.write(encodeMessage(message, stream.protocol))
    } catch (error) {
      stream.abort(error instanceof Error ? error : stalled)
      throw error
    } finally {
      cancel()
    }
  }

  /**
   * Keeps a stream, and learns from it: while it is not known whether the peer reads on after the first message,
   * further messages go over streams of their own, lest they get lost.
   */
  #keep(stream: ByteStream): void {
    const { clock, timers } = this.#deps.time
    const began = clock.monotonicMs()
    this.#kept = stream
    this.#endProbe = timers.setTimeout(() => this.answered(), PROBE_MS)
    const ended = (): void => {
      this.#endProbe()
      const soon = clock.monotonicMs() - began < PROBE_MS
      if (!this.#closed && soon) this.#reading = 'one message a stream'
      if (this.#kept === stream) this.#kept = undefined
      stream.closeWrite().catch(() => undefined)
    }
    untilEnd(stream).then(ended, ended)
  }
}

/** Waits for the other side to end; nothing of interest comes on a stream that this side opened. */
async function untilEnd(stream: ByteStream): Promise<void> {
  while ((await stream.read()) !== undefined);
}
