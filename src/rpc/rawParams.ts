/** Parameters of methods that take a varying number of them. @see go-jsonrpc RawParams, DecodeParams */
import type { Codec, JsonContext } from '../codec/description.ts'
import { CodecError } from '../codec/errors.ts'
import type { Json } from '../codec/jsonText.ts'
import { RpcError } from './errors.ts'

/**
 * Reads `params` by `codecs`; those from `required` on may be left out.
 * @returns as many values as were given
 * @throws RpcError `FAILED` with Lotus' words
 */
export function decodeParams(
  params: Json | undefined,
  codecs: readonly Codec<unknown>[],
  required: number,
  context: JsonContext,
): unknown[] {
  try {
    const list = params ?? []
    if (!Array.isArray(list)) throw new CodecError('INVALID_JSON', 'expected an array of params')
    if (list.length < required || list.length > codecs.length) {
      throw new CodecError('INVALID_JSON', `expected ${required} or ${codecs.length} params, got ${list.length}`)
    }
    // Lotus reads the last one first, where it may be left out.
    const last = list.length - 1
    const optional = last >= required ? (codecs[last] as Codec<unknown>).fromJson(list[last], context) : undefined
    return list.map((given, i) =>
      i === last && i >= required ? optional : (codecs[i] as Codec<unknown>).fromJson(given, context),
    )
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    throw new RpcError('FAILED', `decoding params: ${error.message}`, { cause: error })
  }
}
