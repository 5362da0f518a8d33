/** The smallest JSON-RPC client: what an integrator writes first. */

/** Any JSON, read without types. */
// biome-ignore lint/suspicious/noExplicitAny: answers are read as their methods document them
export type Answer = any // oxlint-disable-line typescript/no-explicit-any

/** An error that the node answered. */
export class RpcFailure extends Error {
  readonly code: number
  readonly data: unknown

  constructor(error: { code: number; message: string; data?: unknown }) {
    super(error.message)
    this.code = error.code
    this.data = error.data
  }
}

/** Calls methods of one node with one token. */
export class RpcClient {
  readonly #url: string
  readonly #token: string | undefined
  #id = 0

  /** @param url - `http://host:port`; @param token - undefined: without permissions above read */
  constructor(url: string, token?: string, path: 'v0' | 'v1' = 'v1') {
    this.#url = `${url}/rpc/${path}`
    this.#token = token
  }

  /** @throws RpcFailure */
  async call(method: string, ...params: unknown[]): Promise<Answer> {
    const { error, result } = await this.raw(method, params)
    if (error !== undefined) throw new RpcFailure(error)
    return result
  }

  /** The whole response object. */
  async raw(method: string, params: unknown[]): Promise<Answer> {
    const response = await this.post({ jsonrpc: '2.0', id: ++this.#id, method: `Node.${method}`, params })
    return await response.json()
  }

  async post(body: unknown): Promise<Response> {
    return await fetch(this.#url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(this.#token === undefined ? {} : { Authorization: `Bearer ${this.#token}` }),
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  }
}
