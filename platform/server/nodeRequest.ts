/** Requests and answers of node:http as src/rpc sees them. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { DEAR_TURN_MS, PART_MS, REQUEST_TIME_MS } from '../../src/base/bounds.ts'
import { Breather } from '../../src/base/breather.ts'
import { lengthOf } from '../../src/base/bytes.ts'
import type { Held } from '../../src/rpc/held.ts'
import type { HttpRequest, HttpResponse } from '../../src/rpc/httpMessage.ts'
import { placeOf } from './callerPlace.ts'
import { systemClock, systemTimers } from './clock.ts'
import type { UnreadAnswers } from './unreadAnswers.ts'

/** A request of node:http as src/rpc sees it. */
export class NodeRequest implements HttpRequest {
  readonly verb: string
  readonly url: string
  /** Empty until it has been read. */
  body: Uint8Array | string = ''
  /** What is held for it, from then on. */
  held: Held | undefined
  readonly signal: AbortSignal
  readonly address: string
  readonly #headers: IncomingMessage['headers']

  /** @param address - of the client, which is not always at the other end of the connection */
  constructor(message: IncomingMessage, signal: AbortSignal, address: string) {
    this.verb = message.method ?? ''
    this.url = message.url ?? ''
    this.signal = signal
    this.address = placeOf(address)
    this.#headers = message.headers
  }

  header(name: string): string | undefined {
    const value = this.#headers[name.toLowerCase()]
    return Array.isArray(value) ? value.join(', ') : value
  }
}

/** Writes an answer. @param keepOpen - whether the connection stays */
export function respond(response: ServerResponse, answer: HttpResponse, keepOpen: boolean): void {
  if (response.destroyed) return
  const headers: string[] = []
  for (const name in answer.headers) headers.push(name, answer.headers[name] as string)
  const { body, pieces } = answer
  const length = pieces === undefined ? Buffer.byteLength(body) : lengthOf(pieces)
  if (answer.status !== 204) headers.push('Content-Length', String(length))
  if (!keepOpen) headers.push('Connection', 'close')
  response.writeHead(answer.status, headers)
  for (const piece of pieces ?? []) response.write(piece)
  // As text: node then writes head and body in one piece.
  response.end(body)
}

/** Characters that are written at once: a part of a listing and what makes it a little longer. */
const WRITTEN = 1 << 17

/** A client that reads at once takes part after part, and the loop would not get round to anybody else. */
const writing = new Breather({ clock: systemClock, timers: systemTimers }, DEAR_TURN_MS)

/** Where a stretch of a text ends that begins at `from`: not within a character. */
function stretchEnd(text: string, from: number): number {
  const to = from + WRITTEN
  const last = text.charCodeAt(to - 1)
  return last >= 0xd800 && last < 0xdc00 ? to - 1 : to
}

/**
 * Writes an answer that goes on. What follows is asked for when the client has taken what came before. Who keeps it waiting for
 * {@link REQUEST_TIME_MS}, and {@link PART_MS} more for each part that was taken, loses the connection.
 */
export async function stream(
  response: ServerResponse,
  { status, headers, body }: HttpResponse,
  rest: AsyncIterable<string>,
  unread: UnreadAnswers,
): Promise<void> {
  let patienceMs = REQUEST_TIME_MS
  const untilTaken = async (): Promise<void> => {
    unread.set(response, response.writableLength)
    const began = performance.now()
    const late = setTimeout(() => response.destroy(), patienceMs)
    late.unref()
    await new Promise<void>((resolve) => {
      const taken = (): void => {
        response.off('drain', taken)
        response.off('close', taken)
        resolve()
      }
      response.on('drain', taken)
      response.on('close', taken)
    })
    clearTimeout(late)
    patienceMs = Math.min(patienceMs - (performance.now() - began) + PART_MS, REQUEST_TIME_MS)
    unread.set(response, 0)
  }
  const write = async (part: string): Promise<void> => {
    for (let from = 0; from < part.length && !response.destroyed; ) {
      const to = stretchEnd(part, from)
      const stretch = part.slice(from, to)
      await writing.run(async () => {
        if (!response.destroyed && !response.write(stretch)) await untilTaken()
      })
      from = to
    }
  }
  response.writeHead(status, headers)
  await write(body)
  for await (const part of rest) {
    if (response.destroyed) break
    await write(part)
  }
  response.end()
}

/** One abort controller for each connection: a client that goes away ends whatever it asked for. */
export class ConnectionSignals {
  readonly #signals = new WeakMap<Socket, AbortSignal>()

  of(socket: Socket): AbortSignal {
    let signal = this.#signals.get(socket)
    if (signal === undefined) {
      const controller = new AbortController()
      socket.once('close', () => controller.abort())
      signal = controller.signal
      this.#signals.set(socket, signal)
    }
    return signal
  }
}
