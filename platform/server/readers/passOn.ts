/** Hands requests on to the node, on the port that it keeps for its threads. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { respond } from '../nodeRequest.ts'
import type { TrustedProxies } from '../trustedProxies.ts'

const { Agent, request: openRequest } = process.getBuiltinModule('node:http')

const NODE = '127.0.0.1'
/** Who asked in truth, behind the secret. */
export const FOR_HEADER = 'x-petrel-for'
/** Of one connection, or the node's to say. */
const OF_CONNECTION: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding', FOR_HEADER])
const GONE = { status: 503, headers: { 'Retry-After': '1' }, body: '' }

/** Names and values in turn, as `rawHeaders` has them, without those of the connection. */
function headersOf({ rawHeaders }: IncomingMessage, also: ReadonlySet<string> = new Set()): string[] {
  const kept: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase()
    if (!OF_CONNECTION.has(name) && !also.has(name)) kept.push(rawHeaders[i] as string, rawHeaders[i + 1] as string)
  }
  return kept
}

const LENGTH: ReadonlySet<string> = new Set(['content-length'])

/** See the file's head. */
export class PassOn {
  readonly #port: number
  readonly #secret: string
  readonly #proxies: TrustedProxies
  readonly #agent = new Agent({ keepAlive: true })

  constructor({ port, secret }: { readonly port: number; readonly secret: string }, proxies: TrustedProxies) {
    this.#proxies = proxies
    this.#port = port
    this.#secret = secret
  }

  #for(message: IncomingMessage): string {
    return `${this.#secret} ${this.#proxies.clientOf(message)}`
  }

  /** @param body - what was read of it already: all; undefined: nothing */
  request(message: IncomingMessage, response: ServerResponse, body?: Uint8Array): void {
    const headers = headersOf(message, body === undefined ? undefined : LENGTH)
    headers.push(FOR_HEADER, this.#for(message))
    if (body !== undefined) headers.push('Content-Length', String(body.length))
    const asked = openRequest({
      ...{ host: NODE, port: this.#port, agent: this.#agent, path: message.url, headers, setHost: false },
      ...(message.method === undefined ? {} : { method: message.method }),
    })
    asked.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? GONE.status, headersOf(answer))
      answer.pipe(response)
      answer.on('error', () => response.destroy())
    })
    asked.on('error', () => {
      if (response.headersSent) response.destroy()
      else respond(response, GONE, false)
    })
    response.on('close', () => {
      if (!response.writableFinished) asked.destroy()
    })
    if (body === undefined) message.pipe(asked)
    else asked.end(body)
  }

  /** A WebSocket: its bytes go to the node, and the node's come back. */
  upgrade(message: IncomingMessage, socket: Duplex, head: Uint8Array): void {
    const lines: string[] = [`${message.method} ${message.url} HTTP/1.1`, `${FOR_HEADER}: ${this.#for(message)}`]
    const { rawHeaders } = message
    for (let i = 0; i < rawHeaders.length; i += 2) {
      if ((rawHeaders[i] as string).toLowerCase() !== FOR_HEADER) lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`)
    }
    const node = connect({ host: NODE, port: this.#port, noDelay: true })
    node.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
    node.write(head)
    for (const [from, to] of [
      [socket, node],
      [node, socket],
    ] as const) {
      from.pipe(to)
      from.on('error', () => to.destroy())
      from.on('close', () => to.destroy())
    }
  }

  close(): void {
    this.#agent.destroy()
  }
}
