/**
 * The row of one JSON-RPC method. Server, permission check, `rpc.discover`, typed client, command line help and tests
 * all read the same rows.
 *
 * A namespace is a factory: `walletMethods(deps: WalletDeps): MethodRow[]`, with `deps` as narrow as its handlers need.
 */
import type { InPlace, Steps } from '../base/steps.ts'
import type { Codec, Json, JsonContext } from '../codec/description.ts'
import { jsonOnly } from '../codec/description.ts'
import type { BlockEdge } from '../ipld/blockFetcher.ts'
import { walkFetching } from '../ipld/found.ts'
import type { CallerName, CostClass } from './cost.ts'
import { gathered, type Listing } from './listing.ts'
import type { Permission } from './permission.ts'

/** The path a method is served on: `/rpc/v0`, `/rpc/v1`, `/rpc/v2`. */
export type ApiVersion = 'v0' | 'v1' | 'v2'

/** One positional parameter. All are required; the count of a call must match exactly. */
export interface Param<T> {
  readonly name: string
  readonly codec: Codec<T>
}

/** Shorthand for a {@link Param}. */
export function param<T>(name: string, codec: Codec<T>): Param<T> {
  return { name, codec }
}

/** What a handler knows about the call besides its parameters. Who copies it names `signal`, which may be made as it is asked for. */
export interface CallContext {
  readonly version: ApiVersion
  /** Permissions of the caller. */
  readonly permissions: ReadonlySet<string>
  /** Whose share the call counts in. Absent: nobody counts. */
  readonly name?: CallerName
  readonly json: JsonContext
  /** Aborted when the connection ends, the client sends `xrpc.cancel`, or the call's deadline passes. */
  readonly signal: AbortSignal
  /** Aborted when the connection ends: subscriptions live that long. */
  readonly ended: AbortSignal
  /**
   * Takes a walk to its end without holding the event loop for long; at once where it is short. Rejects with `CANCELLED` when
   * `signal` is aborted, and with what the walk throws.
   * @param signal - default: the call's; that of whoever waits where the call is over already
   */
  readonly walk: <T>(steps: Steps<T>, signal?: AbortSignal) => T | Promise<T>
  /** Fetches what a walk misses, where the state is elsewhere. Absent: all is at hand. */
  readonly edge?: BlockEdge
  /** Runs what a subscription searches when it has a place, counted as a `scan` of the caller's. Absent: nothing queues. */
  readonly scan?: InPlace
  /**
   * Executes what a read needs that nobody counts otherwise, when it has a place, counted as an `execute` of the caller's. Absent: the
   * call has a place already, or nothing queues.
   */
  readonly execute?: InPlace | undefined
  /** Sends a call to the client (`eth_subscription`); undefined where the transport cannot. */
  readonly notify: ((method: string, params: Json) => void) | undefined
  /** Counts a subscription of the caller's, until what it returns is called. Absent: nobody counts. @throws RpcError `LIMIT_EXCEEDED` */
  readonly subscribed?: () => () => void
  /** Counts what a subscription of the caller's wants, bytes, until what it returns is called. Absent: nobody counts. @throws RpcError `LIMIT_EXCEEDED` */
  readonly wants?: (bytes: number) => () => void
  /** Ends the connection. Absent: there is none to end. */
  readonly disconnect?: (reason: string) => void
}

/** Where a channel method puts its values. */
export interface ChannelSink<T> {
  value(value: T): void
  /** Ends the channel from the server's side. */
  close(): void
  /** Bytes on the connection that the client has not read: who sends much waits while they are many. */
  unreadBytes(): number
}

/** The values of a list of parameters. */
export type ParamValues<P extends readonly Param<unknown>[]> = {
  [K in keyof P]: P[K] extends Param<infer T> ? T : never
}

/** Fields that every kind of row has. */
export interface MethodBase {
  /** Without namespace: `ChainHead` is served as `Node.ChainHead` and `Filecoin.ChainHead`. */
  readonly name: string
  readonly perm: Permission
  readonly cost: CostClass
  /** Paths; a row of v1 alone is served on v0 too unless v0 has a row of its own with this name (as Lotus does). */
  readonly versions: readonly ApiVersion[]
  readonly params: readonly Param<unknown>[]
  readonly result: Codec<unknown>
  /** One sentence for `rpc.discover` and the command line help. */
  readonly summary: string
  /** Further full names, e.g. `eth_blockNumber`. */
  readonly aliases: readonly string[]
  /** Name in permission errors, where it is not `name` (a v0 row that stands for another v1 method). */
  readonly permName?: string
  /**
   * A call must not run again from its beginning when it missed a block: what it did by then (a message sent, a voucher kept) would be
   * done twice. What it reads is fetched where it is read.
   */
  readonly runsOnce: boolean
  /** Why a cheap call may take longer than `CHEAP_DEADLINE_MS`. Absent: it may not, and is ended then. */
  readonly noDeadline?: string
}

/** A method that answers once. */
export interface CallRow extends MethodBase {
  readonly kind: 'call'
  /** The result is immutable and often the same object: its JSON text is kept with the object. */
  readonly cacheResult: boolean
  /** Prints the result faster than its codec does; the same JSON. */
  readonly resultText?: (value: unknown, json: JsonContext) => string
  handle(args: readonly unknown[], call: CallContext): unknown
  /** The result item by item, where it may have very many; `handle` gathers them. */
  readonly list?: (args: readonly unknown[]) => Listing<unknown, unknown>
  /** Around each step of `list`: fetches what it misses. Default: all is at hand. */
  readonly edge?: BlockEdge
}

/** A method that takes the `params` member as it came (optional trailing parameters). `params` describes it only. */
export interface RawRow extends MethodBase {
  readonly kind: 'raw'
  handle(params: Json | undefined, call: CallContext): unknown
}

/** A method whose result is a stream of values; WebSocket only. */
export interface ChannelRow extends MethodBase {
  readonly kind: 'channel'
  /** Starts the stream. Returns what stops it; that must not call the sink any more. */
  subscribe(args: readonly unknown[], sink: ChannelSink<unknown>, call: CallContext): () => void
}

/** A result that somebody printed already: its JSON, UTF-8, in pieces that belong one behind the other. */
export class PrintedResult {
  readonly pieces: readonly Uint8Array[]

  constructor(pieces: readonly Uint8Array[]) {
    this.pieces = pieces
  }
}

/** One row of the method table. */
export type MethodRow = CallRow | RawRow | ChannelRow

/** What is said of a method besides its parameters and result. */
export interface MethodFacts {
  readonly name: string
  readonly perm: Permission
  /** Default: `cheap`. */
  readonly cost?: CostClass
  /** Default: v0 and v1. */
  readonly versions?: readonly ApiVersion[]
  readonly summary?: string
  readonly aliases?: readonly string[]
  readonly permName?: string
  /**
   * Default: of what needs more than the permission `read`. False where nothing is done twice, as what is done comes last, or is the same
   * the second time.
   */
  readonly runsOnce?: boolean
  /** See {@link MethodBase}. */
  readonly noDeadline?: string
}

/** What {@link method} takes. */
export interface MethodSpec<P extends readonly Param<unknown>[], R> extends MethodFacts {
  readonly params: P
  readonly result: Codec<R>
  readonly cacheResult?: boolean
  /** Prints the result faster than its codec does; the same JSON. */
  readonly resultText?: (value: R, json: JsonContext) => string
  /** The decoded parameters in order, then the {@link CallContext}. Synchronous or not. */
  readonly handler: (...args: [...ParamValues<P>, CallContext]) => R | PrintedResult | Promise<R | PrintedResult>
}

const BOTH: readonly ApiVersion[] = ['v0', 'v1']

function base(spec: MethodFacts): Omit<MethodBase, 'params' | 'result'> {
  return {
    name: spec.name,
    perm: spec.perm,
    cost: spec.cost ?? 'cheap',
    versions: spec.versions ?? BOTH,
    summary: spec.summary ?? '',
    aliases: spec.aliases ?? [],
    runsOnce: spec.runsOnce ?? spec.perm !== 'read',
    ...(spec.permName === undefined ? {} : { permName: spec.permName }),
    ...(spec.noDeadline === undefined ? {} : { noDeadline: spec.noDeadline }),
  }
}

/** A row whose handler's argument types follow the codecs of its parameters. */
export function method<const P extends readonly Param<unknown>[], R>(spec: MethodSpec<P, R>): CallRow {
  const handler = spec.handler as (...args: unknown[]) => unknown
  return {
    ...base(spec),
    kind: 'call',
    params: spec.params,
    result: spec.result as Codec<unknown>,
    cacheResult: spec.cacheResult ?? false,
    ...(spec.resultText === undefined ? {} : { resultText: spec.resultText as NonNullable<CallRow['resultText']> }),
    handle: (args, call) => handler(...args, call),
  }
}

/** What {@link listMethod} takes. */
export interface ListMethodSpec<P extends readonly Param<unknown>[], R> extends MethodFacts {
  readonly params: P
  readonly result: Codec<R>
  /** The decoded parameters in order. */
  readonly list: (...args: ParamValues<P>) => Listing<unknown, R>
}

/** A row of a method whose result has very many items, see listing.ts. */
export function listMethod<const P extends readonly Param<unknown>[], R>(spec: ListMethodSpec<P, R>): CallRow {
  const list = spec.list as (...args: unknown[]) => Listing<unknown, R>
  return {
    ...base(spec),
    kind: 'call',
    params: spec.params,
    result: spec.result as Codec<unknown>,
    cacheResult: false,
    list: (args) => list(...args),
    handle: (args, call) => walkFetching(gathered(list(...args)), call),
  }
}

/** What {@link rawMethod} takes. */
export interface RawMethodSpec<R> extends MethodFacts {
  readonly params: readonly Param<unknown>[]
  readonly result: Codec<R>
  readonly handler: (params: Json | undefined, call: CallContext) => R | Promise<R>
}

/** A row of a method that reads its `params` by itself. */
export function rawMethod<R>(spec: RawMethodSpec<R>): RawRow {
  return {
    ...base(spec),
    kind: 'raw',
    params: spec.params,
    result: spec.result as Codec<unknown>,
    handle: (params, call) => spec.handler(params, call),
  }
}

/** What {@link channelMethod} takes. */
export interface ChannelMethodSpec<P extends readonly Param<unknown>[], R> extends MethodFacts {
  readonly params: P
  /** Codec of one value. */
  readonly result: Codec<R>
  /** The decoded parameters, the sink, the context. Returns what stops the stream. */
  readonly subscribe: (...args: [...ParamValues<P>, ChannelSink<R>, CallContext]) => () => void
}

/** A row of a method that answers with a channel. */
export function channelMethod<const P extends readonly Param<unknown>[], R>(spec: ChannelMethodSpec<P, R>): ChannelRow {
  const subscribe = spec.subscribe as (...args: unknown[]) => () => void
  return {
    ...base(spec),
    kind: 'channel',
    params: spec.params,
    result: spec.result as Codec<unknown>,
    subscribe: (args, sink, call) => subscribe(...args, sink, call),
  }
}

/** Result of a method that returns nothing: JSON null. */
export const nothing: Codec<void> = jsonOnly<void>(
  'nothing',
  () => null,
  () => undefined,
  { type: 'null' },
)
