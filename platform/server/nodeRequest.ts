/** Requests and answers of node:http as src/rpc sees them. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { lengthOf } from '../../src/base/bytes.ts'
import type { Held } from '../../src/rpc/held.ts'
import type { HttpRequest, HttpResponse } from '../../src/rpc/httpMessage.ts'
import { placeOf } from './callerPlace.ts'
import { PacedWriter } from './pacedWriter.ts'
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

/** Writes an answer that goes on. What follows is asked for when the client has taken what came before, at the pace of {@link PacedWriter}. */
export async function stream(
  response: ServerResponse,
  { status, headers, body }: HttpResponse,
  rest: AsyncIterable<string>,
  unread: UnreadAnswers,
): Promise<void> {
  const writer = new PacedWriter({
    to: response,
    write: (stretch) => response.write(stretch),
    count: (isWaiting) => unread.set(response, isWaiting ? response.writableLength : 0),
  })
  response.writeHead(status, headers)
  await writer.write(body)
  for await (const part of rest) {
    if (response.destroyed) break
    await writer.write(part)
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
