/**
 * JSON-RPC over HTTP, on plain values: a platform's server passes requests in and writes answers out.
 * @see lotus node/rpc.go FullNodeHandler, go-jsonrpc server.go ServeHTTP, auth/handler.go
 */
import { MAX_ANONYMOUS_REQUEST_BYTES, MAX_ANONYMOUS_VALUES, MAX_REQUEST_BYTES, VALUE_BYTES } from '../base/bounds.ts'
import { fromUtf8, utf8 } from '../base/bytes.ts'
import { answerBatch, type BatchDeps, NO_ROOM } from './batch.ts'
import type { CallerName } from './cost.ts'
import type { Caller, RpcEngine } from './engine.ts'
import { RpcError } from './errors.ts'
import { isForeignName, isForeignPage, type PageRules } from './foreignPages.ts'
import { EPOCH_HEADER, type HeadEpochs, MIN_EPOCH_HEADER, ofEpoch, withHeaders } from './headEpochs.ts'
import { type HealthLine, healthAnswer } from './healthAnswer.ts'
import type { HttpRequest, HttpResponse } from './httpMessage.ts'
import type { ApiVersion } from './method.ts'
import type { Outcome, StreamedOutcome } from './outcome.ts'
import { ANONYMOUS, type TokenVerifier } from './permission.ts'
import { type BadRequest, parseBody, type RpcRequest, requestValues } from './request.ts'
import { tokenOf } from './requestToken.ts'
import { failureText } from './response.ts'
import type { TransferEvents } from './transferEvents.ts'

/** What the HTTP side needs besides the engine. */
export interface HttpOptions {
  readonly verifier: TokenVerifier
  /** Largest body, bytes. */
  readonly maxRequestBytes?: number
  /** Origins that browsers may call from; `*` allows all. Empty: no page but the node's own. */
  readonly allowedOrigins?: readonly string[]
  /** Names that the node is reached by, besides addresses and local names: callers without a token may use no others. */
  readonly allowedHosts?: readonly string[]
  /** Lets others have their turn while batches are answered: begins a part when it is its turn. */
  readonly turn?: <T>(part: () => Promise<T>) => Promise<T>
  /** Whether the process works, and whether the node can be relied on, with the reasons. Absent: nothing is known against it. */
  readonly health?: { live(): readonly HealthLine[]; ready(): readonly HealthLine[] }
  /** Figures as Prometheus reads them, at {@link METRICS_PATHS}. */
  readonly metrics?: (() => string) | undefined
  /** What the node takes for granted, as one line: the body of health answers. */
  readonly presumed?: () => string | undefined
  /** Transfers as they happen; served at {@link TRANSFERS_PATH}. */
  readonly transfers?: TransferEvents
  /** Where peers reach the node, for tabs that know its URL alone; served at {@link PEER_PATH}. */
  readonly peer?: () => PeerPlace
  /** Answers name the epoch of their head, and wait for the one that a request names; undefined: neither. */
  readonly epochs?: HeadEpochs
  /** Files for browsers, by path without query; undefined: there is none. */
  readonly files?: ((path: string) => HttpResponse | undefined) | undefined
}

/** A WebSocket that may be opened. */
export interface AdmittedSocket {
  /** What it may do now; undefined: its token is void. */
  readonly permissions: () => ReadonlySet<string> | undefined
  readonly maxFrameBytes: number
  /** Whose share its calls count in. */
  readonly name: CallerName
}

/** Lotus' path of figures, and the usual one. */
const METRICS_PATHS: readonly string[] = ['/debug/metrics', '/metrics']
const METRICS_HEADERS: Readonly<Record<string, string>> = { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' }

/** What {@link PEER_PATH} answers. */
export interface PeerPlace {
  readonly peerId: string
  /** Multiaddrs with the peer ID at their end. */
  readonly addrs: readonly string[]
}

/** Path of the node's peer ID and addresses: `GET`, JSON `{"peerId":…,"addrs":[…]}`. */
const PEER_PATH = '/p2p'
/** Path of the transfers as Server-Sent Events. */
const TRANSFERS_PATH = '/transfers'

const JSON_HEADERS: Readonly<Record<string, string>> = { 'Content-Type': 'application/json' }
const RETRY_HEADER = 'Retry-After'
const NEWLINE = utf8('\n')
const NO_HEADERS: Readonly<Record<string, string>> = {}
const NOT_FOUND: HttpResponse = {
  status: 404,
  headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
  body: '404 page not found\n',
}
const FORBIDDEN_HEADERS: Readonly<Record<string, string>> = { 'Content-Type': 'text/plain; charset=utf-8' }
const FOREIGN_PAGE: HttpResponse = {
  status: 403,
  headers: FORBIDDEN_HEADERS,
  body: 'a web page of another origin may not call this node; its operator can allow it with --cors-origin\n',
}
const FOREIGN_NAME: HttpResponse = {
  status: 403,
  headers: FORBIDDEN_HEADERS,
  body: 'this node is not known by that name; give a token, or let its operator name it with --api-name\n',
}
const UNAUTHORIZED: HttpResponse = { status: 401, headers: NO_HEADERS, body: '' }
/** HTTP calls cannot be cancelled by the protocol; without a signal of the platform's they run to their end. */
const NEVER: AbortSignal = new AbortController().signal

const VERSION_OF_PATH: ReadonlyMap<string, ApiVersion> = new Map([
  ['/rpc/v0', 'v0'],
  ['/rpc/v1', 'v1'],
  ['/rpc/v2', 'v2'],
])

/** The path's API version; undefined: no JSON-RPC here. */
export function apiVersionOf(url: string): ApiVersion | undefined {
  const known = VERSION_OF_PATH.get(url)
  if (known !== undefined) return known
  const end = url.indexOf('?')
  return end < 0 ? undefined : VERSION_OF_PATH.get(url.slice(0, end))
}

/** Who asks: what it may do, and whose share its calls count in. */
type Asking = Pick<Caller, 'permissions' | 'name'>
/** What tells who asks. */
type AskedBy = Pick<HttpRequest, 'url' | 'header' | 'address'>

/** Of an answer that refuses what was too much, all of it or a part. */
function comeAgain(afterSec: number): Record<string, string> {
  return { [RETRY_HEADER]: String(afterSec) }
}

function jsonAnswer(status: number, body: string): HttpResponse {
  return { status, headers: JSON_HEADERS, body }
}

function fromOutcome(outcome: Outcome | StreamedOutcome): HttpResponse {
  switch (outcome.kind) {
    case 'streamed':
      return { ...jsonAnswer(200, outcome.text), rest: outcome.rest }
    case 'silent':
      return jsonAnswer(200, '')
    case 'answered':
      if (outcome.pieces !== undefined) return { ...jsonAnswer(200, ''), pieces: [...outcome.pieces, NEWLINE] }
      return jsonAnswer(200, `${outcome.text}\n`)
    case 'busy':
      return {
        status: 429,
        headers: { ...JSON_HEADERS, ...comeAgain(outcome.retryAfterSec) },
        body: `${outcome.text}\n`,
      }
    case 'refused':
      return jsonAnswer(500, `${outcome.text}\n`)
  }
}

function tooLarge(most: number): RpcError {
  return new RpcError('PARSE_ERROR', `request bigger than maximum ${most} allowed`)
}

function refusal(error: RpcError): HttpResponse {
  return jsonAnswer(error.code === 'INVALID_REQUEST' ? 400 : 500, `${failureText(null, error)}\n`)
}

/** Answers HTTP requests. */
export class HttpHandler {
  readonly #engine: RpcEngine
  #options: HttpOptions

  constructor(engine: RpcEngine, options: HttpOptions) {
    this.#engine = engine
    this.#options = options
  }

  /** Changes who may call from now on, and how much a request may hold (of a WebSocket, what its server was started with). */
  allow(who: Pick<HttpOptions, 'allowedOrigins' | 'allowedHosts' | 'maxRequestBytes'>): void {
    this.#options = { ...this.#options, ...who }
  }

  /** Largest body that is read of anybody, bytes. */
  get maxRequestBytes(): number {
    return this.#options.maxRequestBytes ?? MAX_REQUEST_BYTES
  }

  /**
   * Looks at a request before its body is read.
   * @returns the answer to one that is refused; otherwise the largest body that is read, bytes
   */
  admit(request: Pick<HttpRequest, 'url' | 'header'>): HttpResponse | number {
    if (apiVersionOf(request.url) === undefined) return MAX_ANONYMOUS_REQUEST_BYTES
    const caller = this.#caller(request)
    const most = 'status' in caller ? 0 : this.#largestBody(caller.permissions)
    const isTooLarge = Number(request.header('content-length')) > most
    if (!('status' in caller) && !isTooLarge) return most
    const refused = 'status' in caller ? caller : refusal(tooLarge(most))
    return { ...refused, headers: { ...refused.headers, ...this.#corsHeaders(request) } }
  }

  /** What a WebSocket may do that is opened now, and how large its frames may be; or the answer to one that is refused. */
  admitSocket(request: AskedBy): HttpResponse | AdmittedSocket {
    if (apiVersionOf(request.url) === undefined) return NOT_FOUND
    const caller = this.#caller(request)
    if ('status' in caller) return caller
    return {
      permissions: () => this.permissions(request),
      maxFrameBytes: this.#largestBody(caller.permissions),
      name: caller.name,
    }
  }

  /** Answers a request; at once where nothing has to be waited for. */
  handle(request: HttpRequest): HttpResponse | Promise<HttpResponse> {
    const version = apiVersionOf(request.url)
    if (version === undefined) return this.#other(request)
    const cors = this.#corsHeaders(request)
    if (
      cors !== undefined &&
      request.verb === 'OPTIONS' &&
      request.header('access-control-request-method') !== undefined
    ) {
      return { status: 204, headers: cors, body: '' }
    }
    const caller = this.#caller(request)
    if ('status' in caller) return withHeaders(caller, cors)
    const { epochs } = this.#options
    const answer =
      epochs === undefined
        ? this.#authorized(request, version, caller)
        : ofEpoch(request, epochs, () => this.#authorized(request, version, caller))
    return withHeaders(answer, cors)
  }

  /** Who calls; the answer to who may not. */
  #caller(request: AskedBy): Asking | HttpResponse {
    const asking = this.#asking(request)
    return this.#foreign(request, asking?.permissions) ?? asking ?? UNAUTHORIZED
  }

  /** The answer to a page that was not let in, and to who has no token and calls this node by a name that a stranger may own. */
  #foreign(
    request: Pick<HttpRequest, 'url' | 'header'>,
    permissions: ReadonlySet<string> | undefined,
  ): HttpResponse | undefined {
    if (isForeignPage(request, this.#rules)) return FOREIGN_PAGE
    return permissions === ANONYMOUS && isForeignName(request, this.#rules) ? FOREIGN_NAME : undefined
  }

  get #rules(): PageRules {
    const { allowedOrigins: origins = [], allowedHosts: hosts = [] } = this.#options
    return { origins, hosts }
  }

  #largestBody(permissions: ReadonlySet<string>): number {
    return permissions === ANONYMOUS
      ? Math.min(MAX_ANONYMOUS_REQUEST_BYTES, this.maxRequestBytes)
      : this.maxRequestBytes
  }

  /** undefined: there is a token and it is not valid. One token is one caller, however and wherever it is written. */
  #asking(request: AskedBy): Asking | undefined {
    const token = tokenOf(request)
    if (token === undefined) {
      return { permissions: ANONYMOUS, name: { name: `address ${request.address ?? ''}`, hasToken: false } }
    }
    const valid = token === '' ? undefined : this.#options.verifier.verify(token)
    return valid && { permissions: valid.permissions, name: { name: `token ${valid.name}`, hasToken: true } }
  }

  /**
   * What the request's token allows.
   * @returns undefined when there is a token and it is not valid: answer 401 (over WebSocket too)
   */
  permissions(request: Pick<HttpRequest, 'url' | 'header'>): ReadonlySet<string> | undefined {
    return this.#asking(request)?.permissions
  }

  #allows(origin: string): boolean {
    const allowed = this.#options.allowedOrigins ?? []
    return allowed.includes('*') || allowed.includes(origin)
  }

  #corsHeaders(request: Pick<HttpRequest, 'header'>): Record<string, string> | undefined {
    if ((this.#options.allowedOrigins?.length ?? 0) === 0) return undefined
    const origin = request.header('origin')
    if (origin === undefined || !this.#allows(origin)) return undefined
    return {
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Allow-Methods': 'POST, OPTIONS',
      'Access-Control-Allow-Headers': `Authorization, Content-Type, ${MIN_EPOCH_HEADER}`,
      'Access-Control-Expose-Headers': `${EPOCH_HEADER}, ${RETRY_HEADER}`,
      Vary: 'Origin',
    }
  }

  #other(request: HttpRequest): HttpResponse | Promise<HttpResponse> {
    const end = request.url.indexOf('?')
    const path = end < 0 ? request.url : request.url.slice(0, end)
    if (path === TRANSFERS_PATH) return this.#transfers(request)
    const { health, metrics, peer, files } = this.#options
    if (path === PEER_PATH && peer !== undefined && request.verb === 'GET') {
      const headers = { ...JSON_HEADERS, ...this.#corsHeaders(request) }
      return this.#keptFrom(request) ?? { status: 200, headers, body: `${JSON.stringify(peer())}\n` }
    }
    if (metrics !== undefined && METRICS_PATHS.includes(path)) {
      return this.#keptFrom(request) ?? { status: 200, headers: METRICS_HEADERS, body: metrics() }
    }
    if (path === '/health/livez') return this.#health(request, health?.live())
    if (path === '/health/readyz') return this.#health(request, health?.ready())
    const file = request.verb === 'GET' ? files?.(path) : undefined
    // Links of other pages lead here, and none of them can read what they lead to.
    return file !== undefined && isForeignName(request, this.#rules) ? FOREIGN_NAME : (file ?? NOT_FOUND)
  }

  #health(request: HttpRequest, checks: readonly HealthLine[] = []): HttpResponse {
    const answer = healthAnswer(checks, this.#options.presumed?.())
    // Load balancers ask by any name: the status is theirs, the reasons are not.
    return this.#keptFrom(request) === undefined ? answer : { status: answer.status, headers: NO_HEADERS, body: '' }
  }

  /** The answer to who may not read what needs no token: a void one, or a proxy's own, counts as none. */
  #keptFrom(request: HttpRequest): HttpResponse | undefined {
    return this.#foreign(request, this.permissions(request) ?? ANONYMOUS)
  }

  #transfers(request: HttpRequest): HttpResponse | Promise<HttpResponse> {
    const { transfers } = this.#options
    if (transfers === undefined) return NOT_FOUND
    const caller = this.#caller(request)
    const answer =
      'status' in caller
        ? caller
        : transfers.open(request, { name: caller.name, permissions: () => this.permissions(request) })
    return withHeaders(answer, this.#corsHeaders(request))
  }

  #authorized(
    request: HttpRequest,
    version: ApiVersion,
    { permissions, name }: Asking,
  ): HttpResponse | Promise<HttpResponse> {
    const signal = request.signal ?? NEVER
    const caller: Caller = { version, permissions, signal, ended: signal, notify: undefined, name }
    try {
      const text = this.#bodyText(request.body, this.#largestBody(permissions))
      const values = permissions === ANONYMOUS ? requestValues(text, MAX_ANONYMOUS_VALUES) : 0
      if (values > 0 && request.held?.add(values * VALUE_BYTES) === false) return this.#noRoom()
      const body = parseBody(text)
      if (body.kind === 'batch') return this.#batch(body.requests, caller, request.held)
      const { request: asked } = body
      const outcome =
        'error' in asked
          ? this.#dispatch(asked, caller)
          : this.#engine.told(this.#engine.dispatchStreaming(asked, { ...caller, held: request.held }))
      return outcome instanceof Promise ? outcome.then(fromOutcome) : fromOutcome(outcome)
    } catch (error) {
      if (error instanceof RpcError) return refusal(error)
      throw error
    }
  }

  #bodyText(body: Uint8Array | string, most: number): string {
    if (body.length > most) throw tooLarge(most)
    if (typeof body === 'string') return body
    try {
      return fromUtf8(body)
    } catch (cause) {
      throw new RpcError('PARSE_ERROR', 'Parse error', { cause })
    }
  }

  #dispatch(request: RpcRequest | BadRequest, caller: Caller): Outcome | Promise<Outcome> {
    if ('error' in request) return { kind: 'refused', text: failureText(request.id, request.error) }
    return this.#engine.dispatch(request, caller, undefined)
  }

  async #batch(
    requests: readonly (RpcRequest | BadRequest)[],
    caller: Caller,
    held: HttpRequest['held'],
  ): Promise<HttpResponse> {
    const { turn = (part) => part() } = this.#options
    const dispatch: BatchDeps['dispatch'] = (request) => this.#dispatch(request, caller)
    const refusedLater = async (): Promise<Outcome> => this.#engine.told(Promise.resolve(NO_ROOM))
    const answer = await answerBatch(requests, { dispatch, turn, refusedLater, signal: caller.signal, held })
    if (answer === undefined) return this.#noRoom()
    const { text, retryAfterSec, rest } = answer
    const headers = retryAfterSec === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...comeAgain(retryAfterSec) }
    return { status: 200, headers, body: text, ...(rest === undefined ? {} : { rest }) }
  }

  async #noRoom(): Promise<HttpResponse> {
    return fromOutcome(await this.#engine.told(Promise.resolve(NO_ROOM)))
  }
}
