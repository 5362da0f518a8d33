/**
 * What a session sends, in its order. Of a WebSocket no frame of another message may come between those of one (RFC 6455, section 5.4): what
 * is to be sent while an answer leaves in parts waits behind it, and is unread until then.
 *
 *   idle --an answer in parts--> sending --its last part--> what waits is sent, up to the next answer in parts --> idle
 *   sending --it cannot go on--> the connection ends
 *   sending --its caller cancels it--> it ends with an error behind what was sent of its result
 */
import { RpcError } from './errors.ts'
import type { StreamedOutcome } from './outcome.ts'
import type { RequestId } from './request.ts'
import { failureEnd, failureText } from './response.ts'

/** Sends a part of one text message. Resolves when there is room for another, or the connection has gone. */
type SendPart = (text: string, isLast: boolean) => Promise<void>

/** What sends one text message in parts. */
interface PartSink {
  /** Resolves when what was sent before has left, or the connection has gone. Until the last part no other message is sent. */
  open(): Promise<SendPart>
  /** So many bytes wait behind the message now. */
  behind(bytes: number): void
  /** Ends the connection in the midst of a message; the session has ended already. */
  fail(error: unknown): void
}

/** The sending side of a connection. */
export interface FrameSink {
  /** Sends one text frame. */
  send(text: string): void
  /** Bytes that were sent but have not left yet. */
  unreadBytes(): number
  /** Stops reading from the client, or starts again. Absent: it cannot be stopped, and `RpcSession.drained` is not called. */
  hold?(isHeld: boolean): void
  /** Ends the connection; the session has ended already. */
  close(reason: string): void
  /** Absent: it sends whole messages alone, and lists of a whole state are gathered. */
  readonly parts?: PartSink
}

/** A text that waits; `isAnswer`: to what the client has asked for. */
interface Text {
  readonly text: string
  readonly isAnswer: boolean
}

/** An answer in parts that waits or is being sent. */
interface Streamed extends Text {
  readonly id: RequestId
  readonly outcome: StreamedOutcome
  /** Its call's deadline goes on. */
  readonly goOn: () => void
  /** It has been sent, or never will be. */
  readonly done: () => void
}

/** One connection's. */
export class Outgoing {
  readonly #sink: FrameSink
  readonly #endSession: () => void
  /** Behind what is being sent in parts. */
  readonly #waiting: (Text | Streamed)[] = []
  #waitingBytes = 0
  /** Of them those that nobody has asked for. */
  #waitingEvents = 0
  /** Bytes of answers among what the sink has unread, at most: what a client has asked for it may take its time for. */
  #unreadAnswers = 0
  #isSending = false
  #ended = false

  constructor(sink: FrameSink, endSession: () => void) {
    this.#sink = sink
    this.#endSession = endSession
  }

  /** Bytes that are to be sent and have not left. */
  get unreadBytes(): number {
    return this.#sink.unreadBytes() + this.#waitingBytes
  }

  /** Of them those that nobody has asked for. Of a message in parts some 200 KiB may count among them. */
  get unreadEvents(): number {
    return this.#sentEvents + this.#waitingEvents
  }

  /** What nobody has asked for. */
  event(text: string): void {
    this.#add({ text, isAnswer: false })
  }

  answer(text: string): void {
    this.#add({ text, isAnswer: true })
  }

  /** An answer in parts. @param done - hears that it has been sent, or never will be */
  stream(id: RequestId, outcome: StreamedOutcome, done: () => void): void {
    if (this.#ended) return done()
    const { text } = outcome
    this.#wait({ text, isAnswer: true, id, outcome, goOn: outcome.waits(), done })
    if (this.#isSending) return
    this.#isSending = true
    this.#sendWaiting().catch((error: unknown) => this.#fail(error))
  }

  /** The connection is gone: nothing more is sent. */
  end(): void {
    this.#ended = true
    this.#waiting.length = 0
  }

  #add(text: Text): void {
    if (this.#ended) return
    if (this.#isSending) this.#wait(text)
    else this.#send(text)
  }

  #send({ text, isAnswer }: Text): void {
    const before = this.#sentEvents
    this.#sink.send(text)
    if (isAnswer) this.#unreadAnswers += Math.max(0, this.#sentEvents - before)
  }

  get #sentEvents(): number {
    const unread = this.#sink.unreadBytes()
    this.#unreadAnswers = Math.min(this.#unreadAnswers, unread)
    return unread - this.#unreadAnswers
  }

  #wait(text: Text | Streamed): void {
    this.#waiting.push(text)
    this.#count(text, 1)
  }

  #count({ text, isAnswer }: Text, by: 1 | -1): void {
    this.#waitingBytes += by * text.length
    if (!isAnswer) this.#waitingEvents += by * text.length
    this.#sink.parts?.behind(this.#waitingBytes)
  }

  async #sendWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      const at = this.#waiting.findIndex((next) => 'outcome' in next)
      // Together: of thousands each would move all that are left.
      const first = this.#waiting.splice(0, at < 0 ? this.#waiting.length : at + 1)
      for (const next of first) {
        if (this.#ended) return
        this.#count(next, -1)
        if ('outcome' in next) await this.#sendParts(next)
        else this.#send(next)
      }
    }
    this.#isSending = false
  }

  async #sendParts({ id, outcome, goOn, done }: Streamed): Promise<void> {
    const { signal, text, rest, closing } = outcome
    try {
      const send = await this.#sink.parts?.open()
      goOn()
      if (this.#ended || send === undefined) return
      if (signal.aborted) return this.#send({ text: failureText(id, signal.reason as RpcError), isAnswer: true })
      await send(text, false)
      try {
        for await (const part of rest) {
          if (this.#ended) return
          await send(part, false)
        }
      } catch (error) {
        if (this.#ended) return
        const cancelled = cancellationOf(signal)
        // Of another failure who looks at the result alone would not hear, and take a part of it for the whole.
        if (cancelled === undefined) return this.#fail(error)
        await send(closing + failureEnd(cancelled), false)
      }
      // An empty one, as in Lotus (gorilla's messageWriter): which part is the last is not known before.
      if (!this.#ended) await send('', true)
    } finally {
      done()
    }
  }

  #fail(error: unknown): void {
    if (this.#ended) return
    this.#endSession()
    this.#sink.parts?.fail(error)
  }
}

/** undefined: it was not cancelled. */
function cancellationOf({ reason }: AbortSignal): RpcError | undefined {
  return reason instanceof RpcError && reason.code === 'CANCELLED' ? reason : undefined
}
