/** A libp2p stream as the protocols see it: pull to read, wait to write. */
import type { Stream } from '@libp2p/interface'
import type { Timers } from '../../base/ports.ts'
import { P2pError } from '../errors.ts'
import type { ByteStream } from '../peerLinks.ts'

/** Unread bytes at which the other side is told to wait. */
const PAUSE_AT_BYTES = 64 * 1024
/** How long the other side may take to end a stream that was served, ms; then it is reset. */
const LINGER_MS = 10_000

interface Reader {
  resolve(bytes: Uint8Array | undefined): void
  reject(reason: Error): void
}

/** One reader at a time. */
export class HostStream implements ByteStream {
  readonly protocol: string
  readonly #stream: Stream
  readonly #chunks: Uint8Array[] = []
  #unread = 0
  #paused = false
  /** The other side said that nothing follows. */
  #finished = false
  #ended = false
  #released = false
  #failure: Error | undefined
  #reader: Reader | undefined

  constructor(stream: Stream) {
    this.protocol = stream.protocol
    this.#stream = stream
    stream.addEventListener('message', (event) => this.#take(event.data))
    stream.addEventListener('remoteCloseWrite', () => {
      this.#finished = true
    })
    stream.addEventListener('end', () => this.#end())
    stream.addEventListener('close', (event) => this.#close(event.error))
    const { status } = stream
    if (status === 'aborted' || status === 'reset') this.#fail(new P2pError('STREAM_RESET', 'stream reset'))
    else if (stream.remoteWriteStatus === 'closed') this.#finished = true
    this.#endIfEmpty()
  }

  /** Whether what comes next is waited for. */
  get isSilent(): boolean {
    return this.#reader !== undefined
  }

  read(): Promise<Uint8Array | undefined> {
    const first = this.#chunks.shift()
    if (first !== undefined) {
      this.#unread -= first.length
      return Promise.resolve(first)
    }
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    if (this.#ended) return Promise.resolve(undefined)
    if (this.#reader !== undefined) {
      return Promise.reject(new P2pError('STREAM_RESET', 'Cannot read: another read of this stream is under way'))
    }
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject }
      this.#resume()
    })
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#assertWorks()
    try {
      this.#stream.send(bytes)
      // Not by the stream's own onDrain(): its promise is made once, and stays resolved after the first wait.
      while (this.#stream.writableNeedsDrain && !this.#isOver()) await this.#drained()
    } catch (cause) {
      throw reset(cause)
    }
    this.#assertWorks()
  }

  async closeWrite(): Promise<void> {
    try {
      await this.#stream.close()
    } catch (cause) {
      throw reset(cause)
    }
  }

  abort(reason: Error): void {
    this.#stream.abort(reason)
    this.#close(reason)
  }

  /**
   * What was served is over: ends this side, drops what still comes, and resets the stream when the other side does not
   * end it in time. (A reset at once could overtake the answer.)
   */
  release(timers: Timers): void {
    if (this.#isOver()) return
    this.#released = true
    this.#chunks.length = 0
    this.#unread = 0
    const cancel = timers.setTimeout(() => this.abort(new P2pError('TIMEOUT', 'stream not ended in time')), LINGER_MS)
    this.#stream.addEventListener('close', cancel, { once: true })
    this.closeWrite().catch((cause: unknown) => this.abort(reset(cause)))
    this.#resume()
  }

  #assertWorks(): void {
    if (this.#failure !== undefined) throw this.#failure
  }

  /** Resolves with the next sign that there may be room, or that there will be none. */
  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#stream.removeEventListener('drain', done)
        this.#stream.removeEventListener('close', done)
        resolve()
      }
      this.#stream.addEventListener('drain', done)
      this.#stream.addEventListener('close', done)
    })
  }

  #isOver(): boolean {
    const { status } = this.#stream
    return status === 'closed' || status === 'aborted' || status === 'reset'
  }

  #take(data: Uint8Array | { subarray(): Uint8Array }): void {
    if (this.#released) return
    const bytes = data instanceof Uint8Array ? plain(data) : plain(data.subarray())
    if (bytes.length === 0) return
    const reader = this.#reader
    if (reader !== undefined) {
      this.#reader = undefined
      reader.resolve(bytes)
    } else {
      this.#chunks.push(bytes)
      this.#unread += bytes.length
      if (this.#unread >= PAUSE_AT_BYTES && !this.#paused && this.#stream.readStatus === 'readable') {
        this.#paused = true
        this.#stream.pause()
      }
    }
    this.#endIfEmpty()
  }

  /**
   * The end, when it was before this reader: no event tells of it any more.
   *
   * A fault of libp2p (`@libp2p/utils` 7.4.1, `AbstractMessageStream.maybeDispatchEnd`): it sets `readableEnded` for good
   * when the other side's end comes while the negotiation holds the bytes. Those are pushed back behind the flag (`unshift`)
   * and handed over later, without a second `end`. go-libp2p sends negotiation, message and end in one write, so the flag
   * only counts together with an empty buffer.
   */
  #endIfEmpty(): void {
    if (this.#stream.readableEnded && this.#stream.readBufferLength === 0) this.#end()
  }

  #resume(): void {
    if (!this.#paused) return
    this.#paused = false
    // Hands over at once what had arrived meanwhile.
    if (this.#stream.readStatus === 'paused') this.#stream.resume()
  }

  /** Nothing more comes. libp2p says so of resets and lost connections too. */
  #end(): void {
    if (this.#finished) {
      this.#ended = true
      const reader = this.#reader
      this.#reader = undefined
      reader?.resolve(undefined)
      return
    }
    if (this.#stream.status === 'closed') this.#fail(new P2pError('STREAM_RESET', 'connection closed'))
  }

  #close(error: Error | undefined): void {
    if (error !== undefined) this.#fail(reset(error))
    // Closed on both sides: what is buffered comes with the next read, and the end behind it.
    else if (this.#stream.readBufferLength === 0) this.#end()
  }

  #fail(failure: P2pError): void {
    if (this.#ended) return
    this.#failure ??= failure
    const reader = this.#reader
    this.#reader = undefined
    reader?.reject(this.#failure)
  }
}

/** A `Buffer` must not enter the core: its `slice` aliases. */
function plain(bytes: Uint8Array): Uint8Array {
  if (bytes.constructor === Uint8Array) return bytes
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function reset(cause: unknown): P2pError {
  if (cause instanceof P2pError) return cause
  return new P2pError(
    'STREAM_RESET',
    `stream reset: ${cause instanceof Error ? cause.message : String(cause)}`,
    {},
    { cause },
  )
}
