/**
 * The command line's connection to a running node.
 * Lookup order as in Lotus: `FULLNODE_API_INFO`, then the `api` and `token` files of the repo.
 * @see lotus cli/util/api.go GetAPIInfoMulti, apiinfo.go ParseApiInfo
 */
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import { type Json, parseJson, stringifyJson } from '../../../src/codec/jsonText.ts'
import { CliError } from './errors.ts'
import type { CliIo } from './io.ts'

/** Where a node listens and with which token it is asked. */
export interface Endpoint {
  /** `http://host:port`, without path. */
  readonly url: string
  readonly token: string | undefined
}

/** One call at a time over HTTP. */
export interface RpcClient {
  /** @throws CliError `CONNECTION`, `RPC` with the node's own text */
  call<T>(method: string, params?: readonly unknown[], version?: 'v0' | 'v1'): Promise<T>
}

/**
 * The HTTP address of a multiaddr or URL.
 * @throws CliError `USAGE`
 */
export function endpointUrl(address: string): string {
  if (/^(https?|wss?):\/\//.test(address))
    return address
      .replace(/^ws/, 'http')
      .replace(/\/+$/, '')
      .replace(/\/rpc\/v[012]$/, '')
  const parts = address.split('/')
  const [, family, host, transport, port] = parts
  if (
    parts[0] !== '' ||
    host === undefined ||
    transport !== 'tcp' ||
    port === undefined ||
    !/^(ip4|ip6|dns|dns4|dns6)$/.test(family ?? '')
  ) {
    throw new CliError(
      'USAGE',
      `could not parse API address "${address}": expected a URL or a multiaddr such as /ip4/127.0.0.1/tcp/1234/http`,
    )
  }
  const secure = parts.slice(5).some((part) => part === 'https' || part === 'wss' || part === 'tls')
  return `${secure ? 'https' : 'http'}://${family === 'ip6' ? `[${host}]` : host}:${port}`
}

/** `<token>:<address>` or `<address>`; of several only the first is used. */
export function parseApiInfo(info: string): Endpoint {
  const first = info.split(',')[0] as string
  const match = /^([a-zA-Z0-9\-_]+?\.[a-zA-Z0-9\-_]+?\.[a-zA-Z0-9\-_]*):(.+)$/.exec(first)
  return { token: match?.[1], url: endpointUrl(match?.[2] ?? first) }
}

/** Where the repo is: `--repo`, `PETREL_HOME`, `~/.petrel`. */
export function repoPath(io: CliIo, option: string | undefined): string {
  return option ?? io.env.PETREL_HOME ?? join(io.userHome, '.petrel')
}

/**
 * The endpoint of the node that the user means.
 * @throws CliError `CONNECTION` when no node is running in the repo
 */
export async function findEndpoint(io: CliIo, repo: string | undefined): Promise<Endpoint> {
  const info = io.env.FULLNODE_API_INFO
  if (info !== undefined && info !== '') return parseApiInfo(info.trim())
  const home = repoPath(io, repo)
  const read = async (name: string): Promise<string | undefined> => {
    try {
      return (await io.readFile(join(home, name))).trim()
    } catch {
      return undefined
    }
  }
  const api = await read('api')
  if (api === undefined)
    throw new CliError('CONNECTION', `could not get API endpoint: no node is running in ${home} (no file "api" there)`)
  return { url: endpointUrl(api), token: await read('token') }
}

/** Sends a request. Not by `fetch`: that gives up after five minutes, and `state wait-msg` may take longer. */
function post(
  url: string,
  headers: Record<string, string>,
  body: string,
  signal: AbortSignal,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const request = (url.startsWith('https:') ? httpsRequest : httpRequest)(url, { method: 'POST', headers, signal })
    request.on('error', reject)
    request.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
      )
    })
    request.end(body)
  })
}

function parseAnswer(text: string, url: string): Json {
  try {
    const answer = parseJson(text)
    if (typeof answer === 'object' && answer !== null && !Array.isArray(answer)) return answer
  } catch {
    // Told below: whatever answered is no node.
  }
  throw new CliError('CONNECTION', `what answers at ${url} is no node: its answer is no JSON-RPC`)
}

/** A client of that endpoint. */
export function createRpcClient(endpoint: Endpoint, signal: AbortSignal): RpcClient {
  let nextId = 1
  return {
    call: async <T>(method: string, params: readonly unknown[] = [], version: 'v0' | 'v1' = 'v0'): Promise<T> => {
      const headers: Record<string, string> = { 'content-type': 'application/json' }
      if (endpoint.token !== undefined) headers.authorization = `Bearer ${endpoint.token}`
      const body = stringifyJson({
        jsonrpc: '2.0',
        id: nextId++,
        method: `Filecoin.${method}`,
        params: params as Json[],
      })
      let response: { readonly status: number; readonly text: string }
      try {
        response = await post(`${endpoint.url}/rpc/${version}`, headers, body, signal)
      } catch (cause) {
        if (signal.aborted) throw cause
        throw new CliError('CONNECTION', `could not connect to the node at ${endpoint.url}`, {}, { cause })
      }
      if (response.status === 401) throw new CliError('RPC', 'the node does not accept the token')
      const answer = parseAnswer(response.text, endpoint.url) as {
        result?: T
        error?: { message: string; code: number }
      }
      if (answer.error !== undefined) throw new CliError('RPC', answer.error.message, { code: answer.error.code })
      return answer.result as T
    },
  }
}
