/**
 * The typed client: a function for each signature, whose parameters and result go through the same codecs as the
 * server's row.
 *
 *     const node = createClient(transport, { ChainHead: chainHead, StateGetActor: stateGetActor })
 *     const head = await node.ChainHead()
 *     const { balance } = await node.StateGetActor(address, head.key)
 */
import { errorMessage } from '../../base/errors.ts'
import type { Codec, Json, JsonContext } from '../../codec/description.ts'
import type { Param, ParamValues } from '../method.ts'
import type { CallSignature, ChannelSignature, RawSignature } from '../signature.ts'
import { NAMESPACES } from '../table.ts'
import { RpcClientError } from './errors.ts'
import type { ChannelListener, RpcTransport } from './transport.ts'

type Params = readonly Param<unknown>[]

/** Any signature. */
export type AnySignature =
  | CallSignature<Params, unknown>
  | RawSignature<Params, unknown>
  | ChannelSignature<Params, unknown>

/** What a signature becomes. */
type ClientMethod<S> =
  S extends CallSignature<infer P, infer R>
    ? (...args: ParamValues<P>) => Promise<R>
    : S extends RawSignature<infer P, infer R>
      ? (...args: Partial<ParamValues<P>>) => Promise<R>
      : S extends ChannelSignature<infer P, infer R>
        ? (...args: [...ParamValues<P>, ChannelListener<R>]) => Promise<() => void>
        : never

/** The methods of a client. */
export type RpcClient<S> = { readonly [K in keyof S]: ClientMethod<S[K]> }

function decodeResult<T>(codec: Codec<T>, json: Json, context: JsonContext, name: string): T {
  try {
    return codec.fromJson(json, context)
  } catch (cause) {
    throw new RpcClientError('BAD_ANSWER', `Cannot read the answer of ${name}: ${errorMessage(cause)}`, {}, { cause })
  }
}

/** A value that cannot be read ends the channel for its listener. */
function decodedChannel<T>(listener: ChannelListener<T>, decode: (json: Json) => T): ChannelListener<Json> {
  let over = false
  return {
    value: (json) => {
      if (over) return
      let value: T
      try {
        value = decode(json)
      } catch (error) {
        over = true
        listener.end?.(error)
        return
      }
      listener.value(value)
    },
    end: (error) => {
      if (!over) listener.end?.(error)
    },
  }
}

/**
 * A client of these methods.
 * @param context - how addresses are printed in parameters; a node takes both letters
 * @returns methods that throw RpcClientError
 */
export function createClient<const S extends Readonly<Record<string, AnySignature>>>(
  transport: RpcTransport,
  signatures: S,
  context: JsonContext = { addressPrefix: 'f' },
): RpcClient<S> {
  const encodeParams = (params: Params, args: readonly unknown[]): Json =>
    params.slice(0, args.length).map((param, i) => param.codec.toJson(args[i], context))
  const methods: Record<string, unknown> = {}
  for (const [name, signature] of Object.entries(signatures)) {
    const fullName = `${NAMESPACES[0]}.${signature.name}`
    const { params, result } = signature
    methods[name] =
      signature.kind !== 'channel'
        ? async (...args: unknown[]): Promise<unknown> =>
            decodeResult(result, await transport.request(fullName, encodeParams(params, args)), context, signature.name)
        : (...args: unknown[]): Promise<() => void> =>
            transport.subscribe(
              fullName,
              encodeParams(params, args),
              decodedChannel(args[params.length] as ChannelListener<unknown>, (json) =>
                decodeResult(result, json, context, signature.name),
              ),
            )
  }
  return methods as RpcClient<S>
}
