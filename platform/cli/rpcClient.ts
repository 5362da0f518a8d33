/**
 * The command line's connection to a running node.
 * Lookup order as in Lotus: `FULLNODE_API_INFO`, then the `api` and `token` files of the repo.
 * @see lotus cli/util/api.go GetAPIInfoMulti, apiinfo.go ParseApiInfo
 */
import { join, resolve } from 'node:path'
import { trimEnd } from '../../src/base/trimEnd.ts'
import { whenAborted } from '../../src/base/waiting.ts'
import type { Json } from '../../src/codec/jsonText.ts'
import { RpcClientError } from '../../src/rpc/client/errors.ts'
import { type HttpAnswer, httpTransport } from '../../src/rpc/client/httpTransport.ts'
import type { RpcTransport } from '../../src/rpc/client/transport.ts'
import { openWebSocket } from '../../src/rpc/client/webSocketTransport.ts'
import { systemCode } from '../server/errors.ts'
import type { ProgramIo } from '../server/programIo.ts'
import { CliError, METHOD_NOT_FOUND } from './errors.ts'
import type { MethodsV0, MethodsV1 } from './nodeMethods.ts'

/** Where a node listens and with which token it is asked. */
export interface Endpoint {
  /** `http://host:port`, without path. */
  readonly url: string
  readonly token: string | undefined
}

/**
 * What a node takes for a value of that type, as Go's encoding/json does: null, missing fields, integers of any size.
 */
export type Given<T> = [Json] extends [T]
  ? Json
  : T extends readonly (infer E)[]
    ? readonly Given<E>[] | null
    : T extends number
      ? number | bigint | null
      : T extends object
        ? { readonly [K in keyof T]?: Given<T[K]> } | null
        : T | null

/** The parameters of a method, each as a node takes it. */
export type GivenParams<P> = { readonly [K in keyof P]: Given<P[K]> }

/** What a method takes and gives. */
interface Method {
  readonly params: readonly unknown[]
  readonly result: unknown
}

type ParamsOf<M extends Method> = M['params'] extends readonly [] ? [] : [params: GivenParams<M['params']>]

/** One call at a time over HTTP, typed by the rows of the method table. */
export interface RpcClient {
  /** On `/rpc/v0`. @throws CliError `CONNECTION`, `RPC` with the node's own text */
  call<M extends keyof MethodsV0>(method: M, ...args: ParamsOf<MethodsV0[M]>): Promise<MethodsV0[M]['result']>
  /** On `/rpc/v1`. @throws as the one on `/rpc/v0` */
  call<M extends keyof MethodsV1>(
    method: M,
    params: GivenParams<MethodsV1[M]['params']>,
    version: 'v1',
  ): Promise<MethodsV1[M]['result']>
  /**
   * Values of a channel, until it ends or the user interrupts.
   * @throws as {@link RpcClient.call}
   */
  listen<M extends keyof MethodsV0>(method: M, onValue: (value: MethodsV0[M]['result']) => void): Promise<void>
}

/** Hosts of each family; whatever else stood there would be another part of a URL. */
const HOSTS: Readonly<Record<string, RegExp>> = { ip4: /^[\d.]+$/, ip6: /^[\da-f:.]+$/i }
const NAME = /^[\w.-]+$/
const NAMES: readonly string[] = ['dns', 'dns4', 'dns6']
/** @see RFC 6750 section 2.1, `b64token` */
const TOKEN = /^[\w.~+/-]+=*$/

/**
 * The HTTP address of a multiaddr or URL.
 * @throws CliError `USAGE`
 */
export function endpointUrl(address: string): string {
  const url = /^(https?|wss?):\/\//.test(address)
    ? trimEnd(address.replace(/^ws/, 'http'), '/').replace(/\/rpc\/v[012]$/, '')
    : multiaddrUrl(address)
  // Nothing is sent to what is no address: to whom it went would be somebody else's guess.
  if (
    url === undefined ||
    !/^https?:\/\/[^/]/.test(url) ||
    URL.parse(`${url}/rpc`)?.pathname.endsWith('/rpc') !== true
  ) {
    throw new CliError(
      'USAGE',
      `could not parse API address "${address}": expected a URL or a multiaddr such as /ip4/127.0.0.1/tcp/1234/http`,
    )
  }
  return url
}

function multiaddrUrl(address: string): string | undefined {
  const [before, family = '', host = '', transport, port = '', ...rest] = address.split('/')
  const isHost = NAMES.includes(family) ? NAME.test(host) : HOSTS[family]?.test(host) === true
  if (before !== '' || !isHost || transport !== 'tcp' || !/^\d{1,5}$/.test(port)) return undefined
  const secure = rest.some((part) => part === 'https' || part === 'wss' || part === 'tls')
  return `${secure ? 'https' : 'http'}://${family === 'ip6' ? `[${host}]` : host}:${port}`
}

/** `<token>:<address>` or `<address>`; of several only the first is used. */
export function parseApiInfo(info: string): Endpoint {
  const first = info.split(',')[0] as string
  const match = /^([a-zA-Z0-9\-_]+?\.[a-zA-Z0-9\-_]+?\.[a-zA-Z0-9\-_]*):(.+)$/.exec(first)
  return { token: match?.[1], url: endpointUrl(match?.[2] ?? first) }
}

/** Where the repo is: `--repo`, `PETREL_HOME`, `~/.petrel`. Absolute: what is written down there counts from any folder. */
export function repoPath(io: ProgramIo, option: string | undefined): string {
  return resolve(option ?? io.env.PETREL_HOME ?? join(io.userHome, '.petrel'))
}

/**
 * The endpoint of the node that the user means.
 * @throws CliError `CONNECTION` when no node is running in the repo
 */
export async function findEndpoint(io: ProgramIo, repo: string | undefined): Promise<Endpoint> {
  const info = io.env.FULLNODE_API_INFO
  if (info !== undefined && info !== '') return parseApiInfo(info.trim())
  const home = repoPath(io, repo)
  const read = async (name: string): Promise<string | undefined> => {
    try {
      return (await io.readFile(join(home, name))).trim()
    } catch (error) {
      // Without the file there is no node; one that cannot be read is told where its address is needed.
      if (!(error instanceof Error)) throw error
      return undefined
    }
  }
  const api = await read('api')
  if (api === undefined)
    throw new CliError('CONNECTION', `could not get API endpoint: no node is running in ${home} (no file "api" there)`)
  const token = await read('token')
  if (token !== undefined && !TOKEN.test(token)) {
    throw new CliError('CONNECTION', `could not use the token of the node in ${home}: the file "token" holds no token`)
  }
  return { url: endpointUrl(api), token }
}

/** Sends a request. Not by `fetch`: that gives up after five minutes, and `state wait-msg` may take longer. */
function post(url: string, headers: Record<string, string>, body: string, signal: AbortSignal): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    // Not imported: server/httpServer.ts says what that would load.
    const { request: open } = process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http')
    const request = open(url, { method: 'POST', headers, signal })
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

/** A client of that endpoint. */
export function createRpcClient(endpoint: Endpoint, signal: AbortSignal): RpcClient {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    ...(endpoint.token === undefined ? {} : { authorization: `Bearer ${endpoint.token}` }),
  }
  const transportOf = (version: 'v0' | 'v1'): RpcTransport =>
    httpTransport((body) => post(`${endpoint.url}/rpc/${version}`, headers, body, signal))
  const transports = { v0: transportOf('v0'), v1: transportOf('v1') }
  return {
    call: async (method: string, params: unknown = [], version: 'v0' | 'v1' = 'v0'): Promise<never> => {
      try {
        const answer = await transports[version].request(`Filecoin.${method}`, params as Json[], signal)
        // Lotus refuses; Forest answers null.
        if (answer === null && method === 'StateGetActor') throw new CliError('RPC', 'actor not found')
        return answer as never
      } catch (error) {
        throw cliError(error, endpoint.url, method)
      }
    },
    listen: async (method: string, onValue: (value: never) => void): Promise<void> => {
      try {
        await listenTo(endpoint, `Filecoin.${method}`, (value) => onValue(value as never), signal)
      } catch (error) {
        throw cliError(error, endpoint.url, method)
      }
    },
  }
}

async function listenTo(
  { url, token }: Endpoint,
  method: string,
  onValue: (value: Json) => void,
  signal: AbortSignal,
): Promise<void> {
  const query = token === undefined ? '' : `?token=${token}`
  const transport = await openWebSocket(() => new WebSocket(`${url.replace(/^http/, 'ws')}/rpc/v0${query}`))
  try {
    await new Promise<void>((resolve, reject) => {
      whenAborted(signal, resolve)
      transport.subscribe(method, [], { value: onValue, end: () => resolve() }).catch(reject)
    })
  } finally {
    transport.close()
  }
}

/** What the system and its client say where no connection was made. */
const UNCONNECTED: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT'],
  'UND_ERR_CONNECT_TIMEOUT',
])

/** Whether a failed request may have reached the node. Of a failure that says nothing it is not claimed. */
function isConnected(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = systemCode(cause)
    if (code !== '') return !UNCONNECTED.has(code)
  }
  return false
}

function cliError(error: unknown, url: string, method: string): unknown {
  if (!(error instanceof RpcClientError)) return error
  if (error.code === 'REMOTE') {
    // Not every node says which: Forest does not.
    const isUnnamed = error.info.code === METHOD_NOT_FOUND && !error.message.includes(method)
    const text = isUnnamed ? `${error.message}: Filecoin.${method}` : error.message
    return new CliError('RPC', text, { code: error.info.code })
  }
  if (error.code === 'UNAUTHORIZED') return new CliError('RPC', error.message)
  const text =
    error.code === 'BAD_ANSWER'
      ? `what answers at ${url} is no node: its answer is no JSON-RPC`
      : isConnected(error.cause)
        ? `the connection to ${url} broke before the answer came: whether ${method} was carried out is not known`
        : `could not connect to the node at ${url}`
  return new CliError('CONNECTION', text, {}, { cause: error })
}
