/**
 * A stream with an end to patience: for everything together, and for a sender that trickles.
 * @see lotus lib/increadtimeout/incrt.go
 */
import type { Clock, Timers } from '../../base/ports.ts'
import { whenAborted } from '../../base/waiting.ts'
import { P2pError } from '../errors.ts'
import type { ByteStream } from '../peerLinks.ts'

/** What patience is measured with. */
export interface Time {
  readonly clock: Clock
  readonly timers: Timers
}

/** How slow a sender may be: each byte earns time to wait, up to what there was at first. */
export interface Pace {
  readonly waitMs: number
  readonly bytesPerSecond: number
}

/** What a {@link PatientStream} puts up with. */
export interface Patience {
  /** From its making to {@link PatientStream.release}. */
  readonly totalMs: number
  /** Of reads; absent: only the total counts. */
  readonly pace?: Pace
  /** Longest time that one write may wait for room, milliseconds. Absent: only the total counts. */
  readonly stallMs?: number
  readonly signal?: AbortSignal
}

/** Resets the stream when patience ends; whatever is under way then rejects with P2pError `TIMEOUT`, or the signal's reason. */
export class PatientStream implements ByteStream {
  readonly #stream: ByteStream
  readonly #time: Time
  readonly #pace: Pace | undefined
  readonly #stallMs: number | undefined
  readonly #failed: Promise<never>
  readonly #release: () => void
  #fail: (reason: Error) => void = () => undefined
  #failure: Error | undefined
  #waitMs: number

  constructor(stream: ByteStream, time: Time, patience: Patience) {
    this.#stream = stream
    this.#time = time
    this.#pace = patience.pace
    this.#stallMs = patience.stallMs
    this.#waitMs = patience.pace?.waitMs ?? 0
    this.#failed = new Promise<never>((_, reject) => {
      this.#fail = reject
    })
    this.#failed.catch(() => undefined)
    const cancel = time.timers.setTimeout(() => this.#giveUp(timeout(patience.totalMs)), patience.totalMs)
    const { signal } = patience
    let stopListening = (): void => undefined
    this.#release = () => {
      cancel()
      stopListening()
    }
    stopListening = whenAborted(signal, () => this.#giveUp(abortReason(signal)))
  }

  get protocol(): string {
    return this.#stream.protocol
  }

  #giveUp(reason: Error): void {
    if (this.#failure !== undefined) return
    this.#failure = reason
    this.#release()
    this.#fail(reason)
    this.#stream.abort(reason)
  }

  async #guard<T>(run: Promise<T>): Promise<T> {
    try {
      return await Promise.race([run, this.#failed])
    } catch (error) {
      // The reset that giving up caused arrives first on some streams.
      throw this.#failure ?? error
    }
  }

  async read(): Promise<Uint8Array | undefined> {
    if (this.#failure !== undefined) throw this.#failure
    const pace = this.#pace
    if (pace === undefined) return this.#guard(this.#stream.read())
    const began = this.#time.clock.monotonicMs()
    const waitMs = this.#waitMs
    const cancel = this.#time.timers.setTimeout(() => this.#giveUp(timeout(pace.waitMs)), waitMs)
    try {
      const chunk = await this.#guard(this.#stream.read())
      const earned = ((chunk?.length ?? 0) * 1000) / pace.bytesPerSecond
      const spent = this.#time.clock.monotonicMs() - began
      this.#waitMs = Math.min(pace.waitMs, Math.max(0, waitMs - spent) + earned)
      return chunk
    } finally {
      cancel()
    }
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    const stallMs = this.#stallMs
    if (stallMs === undefined) return this.#guard(this.#stream.write(bytes))
    const cancel = this.#time.timers.setTimeout(() => this.#giveUp(timeout(stallMs)), stallMs)
    try {
      await this.#guard(this.#stream.write(bytes))
    } finally {
      cancel()
    }
  }

  async closeWrite(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    await this.#guard(this.#stream.closeWrite())
  }

  abort(reason: Error): void {
    this.#release()
    this.#stream.abort(reason)
  }

  /** Ends the measuring; the stream goes on. */
  release(): void {
    this.#release()
  }
}

function timeout(ms: number): P2pError {
  return new P2pError('TIMEOUT', `Cannot wait longer: nothing, or too little, went on for ${Math.round(ms)} ms`)
}

/** An aborted signal's reason, as an error. */
export function abortReason(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason
  return reason instanceof Error ? reason : new P2pError('STREAM_RESET', `Cannot go on: ${String(reason ?? 'aborted')}`)
}
