/** JSON-RPC to one node. */

/** An answer; its shape is that of the method's documentation. */
// biome-ignore lint/suspicious/noExplicitAny: a client reads answers as documented
export type Answer = any // oxlint-disable-line typescript/no-explicit-any

/** Calls a method; throws an Error with the node's text. */
export type Rpc = (method: string, ...params: unknown[]) => Promise<Answer>

/** @param url - `http://host:port`; @param token - permissions read, write and sign */
export function connect(url: string, token: string): Rpc {
  let id = 0
  return async (method, ...params) => {
    const response = await fetch(`${url}/rpc/v0`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
      body: JSON.stringify({ jsonrpc: '2.0', method: `Node.${method}`, params, id: ++id }),
    })
    if (response.status === 401) throw new Error('the token is not valid')
    const { result, error } = (await response.json()) as Answer
    if (error !== undefined) throw new Error(error.message)
    return result
  }
}
