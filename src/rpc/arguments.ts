/** The parameters of a call, as its row wants them. */
import { PetrelError } from '../base/errors.ts'
import type { Codec, Json, JsonContext } from '../codec/description.ts'
import { RpcError } from './errors.ts'
import type { MethodRow, Param } from './method.ts'
import type { RpcRequest } from './request.ts'

/** Go's type of a parameter as it stands in error texts. */
function goType(codec: Codec<unknown>): string {
  return `*${codec.goType ?? codec.name}`
}

function paramArray(params: Json | undefined): Json[] {
  if (params === undefined || params === null) return []
  if (Array.isArray(params)) return params
  const kind = typeof params === 'boolean' ? 'bool' : typeof params === 'bigint' ? 'number' : typeof params
  throw new RpcError(
    'PARSE_ERROR',
    `unmarshaling param array: json: cannot unmarshal ${kind} into Go value of type []jsonrpc.param`,
  )
}

/**
 * Those that a request brings, read; none of a raw row, which reads them itself.
 * @throws RpcError `INVALID_PARAMS`, `PARSE_ERROR`, `FAILED`
 */
export function argumentsOf(request: RpcRequest, row: MethodRow, json: JsonContext): readonly unknown[] {
  if (row.kind === 'raw') return []
  const given = paramArray(request.params)
  const { params } = row
  if (given.length !== params.length) {
    const text = `wrong param count (method '${request.method}'): ${given.length} != ${params.length}`
    throw new RpcError('INVALID_PARAMS', text)
  }
  const args: unknown[] = []
  for (let i = 0; i < params.length; i++) {
    const { codec } = params[i] as Param<unknown>
    try {
      args.push(codec.fromJson(given[i], json))
    } catch (cause) {
      if (!(cause instanceof PetrelError)) throw cause
      // Lotus' decoder takes it; its handler finds nothing there.
      if (cause.code === 'UNDEFINED_CID') throw new RpcError('FAILED', cause.message, { cause })
      const text = `unmarshaling params for '${request.method}' (param: ${goType(codec)}): ${cause.message}`
      throw new RpcError('PARSE_ERROR', text, { cause })
    }
  }
  // A filter or a channel holds on to its call, and with it to the request: what that brought is as long as its text.
  request.params = undefined
  return args
}
