/** Streams in memory, with faults to order. */
import type { Timers } from '../../src/base/ports.ts'
import { P2pError } from '../../src/p2p/errors.ts'
import type { ByteStream } from '../../src/p2p/peerLinks.ts'

/** What is wrong with one direction of a link. */
export interface LinkFaults {
  /** What is sent arrives so much later; needs the network's timers. */
  delayMs?: number
  /** What is sent arrives as this; an empty result is not delivered at all. */
  garble?: (bytes: Uint8Array) => Uint8Array
  /** Streams are reset after so many bytes. */
  resetAfterBytes?: number
  /** What is sent never arrives, and nobody hears of it. */
  silent?: boolean
}

/** Bytes under way in one direction before a write waits, as with yamux. */
const WINDOW_BYTES = 256 * 1024

type Reader = { resolve: (value: Uint8Array | undefined) => void; reject: (reason: Error) => void }

/** One direction of a stream. */
export class Pipe {
  readonly #faults: () => LinkFaults
  readonly #timers: Timers | undefined
  readonly #chunks: Uint8Array[] = []
  #buffered = 0
  #sent = 0
  #ended = false
  #failure: Error | undefined
  #reader: Reader | undefined
  #writers: Reader[] = []
  /** Deliveries happen in the order of sending, whatever the delays. */
  #last: Promise<void> = Promise.resolve()
  #late = false

  constructor(faults: () => LinkFaults, timers: Timers | undefined) {
    this.#faults = faults
    this.#timers = timers
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#ended) throw new P2pError('STREAM_RESET', 'Cannot write: this side has ended')
    const faults = this.#faults()
    this.#sent += bytes.length
    if (faults.resetAfterBytes !== undefined && this.#sent > faults.resetAfterBytes) {
      throw new P2pError('STREAM_RESET', 'stream reset')
    }
    // The sender may use its buffer again.
    const copy = bytes.slice()
    const arriving = faults.garble === undefined ? copy : faults.garble(copy)
    this.#buffered += arriving.length
    if (faults.silent !== true) this.#deliver(faults, arriving)
    if (this.#buffered > WINDOW_BYTES) {
      await new Promise<Uint8Array | undefined>((resolve, reject) => this.#writers.push({ resolve, reject }))
    }
  }

  #deliver(faults: LinkFaults, bytes: Uint8Array | undefined): void {
    const delay = faults.delayMs ?? 0
    if (delay === 0 && !this.#late) {
      this.#arrive(bytes)
      return
    }
    this.#late = true
    const timers = this.#timers
    if (timers === undefined) throw new Error('a delayed link needs the network to have timers')
    const arrived = new Promise<void>((resolve) => timers.setTimeout(resolve, delay))
    this.#last = Promise.all([this.#last, arrived]).then(() => this.#arrive(bytes))
  }

  #arrive(bytes: Uint8Array | undefined): void {
    if (this.#failure !== undefined) return
    if (bytes === undefined) this.#ended = true
    else if (bytes.length > 0) this.#chunks.push(bytes)
    this.#serve()
  }

  #serve(): void {
    const reader = this.#reader
    if (reader === undefined) return
    const chunk = this.#chunks.shift()
    if (chunk === undefined && !this.#ended) return
    this.#reader = undefined
    if (chunk !== undefined) this.#took(chunk.length)
    reader.resolve(chunk)
  }

  #took(length: number): void {
    this.#buffered -= length
    if (this.#buffered > WINDOW_BYTES) return
    const writers = this.#writers
    this.#writers = []
    for (const writer of writers) writer.resolve(undefined)
  }

  read(): Promise<Uint8Array | undefined> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject }
      this.#serve()
    })
  }

  end(): void {
    const faults = this.#faults()
    if (faults.silent !== true) this.#deliver(faults, undefined)
  }

  fail(reason: Error): void {
    if (this.#failure !== undefined) return
    this.#failure = reason
    this.#chunks.length = 0
    this.#reader?.reject(reason)
    this.#reader = undefined
    for (const writer of this.#writers) writer.reject(reason)
    this.#writers = []
  }
}

/** One end of a stream. */
export class MemoryStream implements ByteStream {
  readonly protocol: string
  readonly #input: Pipe
  readonly #output: Pipe
  readonly #onClosed: () => void
  #outputEnded = false
  #inputEnded = false

  constructor(protocol: string, input: Pipe, output: Pipe, onClosed: () => void) {
    this.protocol = protocol
    this.#input = input
    this.#output = output
    this.#onClosed = onClosed
  }

  async read(): Promise<Uint8Array | undefined> {
    const chunk = await this.#input.read()
    if (chunk === undefined) {
      this.#inputEnded = true
      this.#check()
    }
    return chunk
  }

  async write(bytes: Uint8Array): Promise<void> {
    try {
      await this.#output.write(bytes)
    } catch (error) {
      this.reset(error as Error)
      throw error
    }
  }

  async closeWrite(): Promise<void> {
    if (this.#outputEnded) return
    this.#outputEnded = true
    this.#output.end()
    this.#check()
  }

  #check(): void {
    if (this.#outputEnded && this.#inputEnded) this.#onClosed()
  }

  abort(reason: Error): void {
    this.reset(new P2pError('STREAM_RESET', 'stream reset', {}, { cause: reason }))
  }

  reset(reason: Error): void {
    this.#outputEnded = true
    this.#inputEnded = true
    this.#input.fail(reason)
    this.#output.fail(reason)
    this.#onClosed()
  }
}
