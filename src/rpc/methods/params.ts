/**
 * Parameters of the built-in actors' methods between CBOR and JSON.
 * @see lotus node/impl/full/state.go StateDecodeParams, StateEncodeParams; chain/stmgr/utils.go GetParamType
 */
import { EMPTY_BYTES } from '../../base/bytes.ts'
import { actorOf } from '../../chain/actorLookup.ts'
import type { ChainView } from '../../chain/chainView.ts'
import { CborReader } from '../../codec/cborReader.ts'
import type { Cid } from '../../codec/cid.ts'
import { type Codec, encode } from '../../codec/description.ts'
import { CodecError } from '../../codec/errors.ts'
import { type ActorMethod, actorMethod } from '../../state/actorMethods.ts'
import { METHOD_SEND } from '../../types/methodNumbers.ts'
import type { MethodNum } from '../../types/scalars.ts'
import { RpcError } from '../errors.ts'
import { inContext } from '../inContext.ts'
import { type MethodRow, method } from '../method.ts'
import { stateDecodeParams, stateEncodeParams } from '../signatures/params.ts'
import { loadTipset } from './chain.ts'

type ActorMethodValues = Pick<ActorMethod, 'params'>

const SEND: ActorMethodValues = { params: null }

function methodOf(view: ChainView, code: Cid, number: MethodNum): ActorMethodValues {
  const info = view.codes(code)
  // Every actor takes a plain send. @see lotus chain/vm/invoker.go ActorRegistry.Register
  if (info !== undefined && number === METHOD_SEND) return SEND
  const found = info === undefined ? undefined : actorMethod(info.kind, info.actorsVersion, number)
  if (found !== undefined) return found
  const text = `getting params type: unknown method ${number} for actor ${code}: actor metadata not found`
  throw new RpcError('FAILED', text)
}

/**
 * Anybody can send parameters with something behind them; that the actor refuses them, the message's exit code says.
 * @throws RpcError `FAILED` with Go's words for an input that ends early; CodecError
 * @see cbor-gen gen.go UnmarshalCBOR: reads the value and stops
 */
function decodedParams<T>(codec: Codec<T>, params: Uint8Array): T {
  try {
    return codec.read(new CborReader(params))
  } catch (error) {
    if (!(error instanceof CodecError) || error.code !== 'TRUNCATED') throw error
    throw new RpcError('FAILED', params.length === 0 ? 'EOF' : 'unexpected EOF', { cause: error })
  }
}

/** Rows about parameters. */
export function paramsMethods(view: ChainView): MethodRow[] {
  return [
    method({
      ...stateDecodeParams,
      handler: (to, number, params, key, call) => {
        const tree = view.stateBefore(loadTipset(view, key))
        const actor = inContext('getting actor: ', () => actorOf(view, tree, to))
        const codec = methodOf(view, actor.code, number).params
        return codec === null ? {} : codec.toJson(decodedParams(codec, params), call.json)
      },
    }),
    method({
      ...stateEncodeParams,
      handler: (code, number, params, call) => {
        const codec = methodOf(view, code, number).params
        return codec === null ? EMPTY_BYTES : encode(codec, codec.fromJson(params, call.json))
      },
    }),
  ]
}
