/** Posts JSON texts over kept connections. */
import { Agent, request } from 'node:http'

/** An answer as text. */
export interface TextAnswer {
  readonly status: number
  readonly body: string
}

/** A client of one node. */
export class HttpClient {
  readonly #url: URL
  readonly #token: string | undefined
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 4 })

  /** @param url - `http://127.0.0.1:1234` */
  constructor(url: string, token: string | undefined) {
    this.#url = new URL(url)
    this.#token = token
  }

  post(path: string, body: string): Promise<TextAnswer> {
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
    }
    if (this.#token !== undefined) headers.authorization = `Bearer ${this.#token}`
    const { hostname, port } = this.#url
    return new Promise((resolve, reject) => {
      const call = request({ hostname, port, path, method: 'POST', agent: this.#agent, headers }, (answer) => {
        const parts: Buffer[] = []
        answer.on('data', (part: Buffer) => parts.push(part))
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(parts).toString('utf8') }))
        answer.on('error', reject)
      })
      call.on('error', reject)
      call.end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}
