/**
 * What `eth_call` and `eth_estimateGas` take.
 * @see lotus chain/types/ethtypes/eth_types.go EthCall, EthBlockNumberOrHash
 */
import { EMPTY_BYTES } from '../../base/bytes.ts'
import { type Codec, jsonOnly } from '../../codec/description.ts'
import { CodecError } from '../../codec/errors.ts'
import { inField, jsonField, wrongJson } from '../../codec/goJson.ts'
import type { EthCall } from '../../eth/ethCall.ts'
import { ethAddress, ethBigInt, ethBytes, ethHash, ethUint64, hexBytes, hexNumber } from './ethScalars.ts'

/** A call; `input` goes before `data`. */
export const ethCall: Codec<EthCall> = jsonOnly<EthCall>(
  'ethtypes.EthCall',
  ({ from, to, value, data }) => ({
    ...(from === undefined ? {} : { from: hexBytes(from) }),
    ...(to === undefined ? {} : { to: hexBytes(to) }),
    value: hexNumber(value),
    data: hexBytes(data),
  }),
  (json, context) => {
    if (json === undefined || json === null) return { from: undefined, to: undefined, value: 0n, data: EMPTY_BYTES }
    if (typeof json !== 'object' || Array.isArray(json)) throw wrongJson(json, 'ethtypes.EthCallDecode')
    // `input` is a field of the struct that is decoded; the others are of one embedded there.
    const read = <T>(name: string, codec: Codec<T>): T =>
      inField('EthCallDecode', `EthCallRaw.${name}`, () => codec.fromJson(jsonField(json, name), context))
    const pointed = <T>(name: string, codec: Codec<T>): T | undefined =>
      (jsonField(json, name) ?? null) === null ? undefined : read(name, codec)
    const input = jsonField(json, 'input') ?? null
    const from = pointed('from', ethAddress)
    const to = pointed('to', ethAddress)
    // Read although nothing depends on them: what is no number is refused.
    if (jsonField(json, 'gas') !== undefined) read('gas', ethUint64)
    read('gasPrice', ethBigInt)
    const value = read('value', ethBigInt)
    const data = read('data', ethBytes)
    return {
      from,
      to,
      value,
      data: input === null ? data : inField('EthCallDecode', 'input', () => ethBytes.fromJson(input, context)),
    }
  },
  {
    type: 'object',
    properties: Object.fromEntries([
      ...['from', 'to'].map((name) => [name, ethAddress.schema] as const),
      ...['gas', 'gasPrice', 'value'].map((name) => [name, ethUint64.schema] as const),
      ...['input', 'data'].map((name) => [name, ethBytes.schema] as const),
    ]),
  },
)

/** A block by hash. */
export interface BlockHashParam {
  readonly hash: Uint8Array
  /** Refuse a block that is not on the head's chain. */
  readonly requireCanonical: boolean
}

/** A tag, a number (`0x…`), a hash; undefined where an object names none. */
export type BlockParam = string | BlockHashParam | undefined

const TAGS: ReadonlySet<string> = new Set(['earliest', 'pending', 'latest', 'finalized', 'safe'])
const HASH_TEXT_LENGTH = 66

/** A block by tag, number or hash: `"latest"`, `"0x10"`, `"16"`, `"0x…"` of 32 bytes, `{blockNumber}`, `{blockHash, requireCanonical}`. */
export const blockParam: Codec<BlockParam> = jsonOnly<BlockParam>(
  'ethtypes.EthBlockNumberOrHash',
  (value) => {
    if (value === undefined) return null
    if (typeof value === 'string') return value
    const hash = hexBytes(value.hash)
    return value.requireCanonical ? { blockHash: hash, requireCanonical: true } : hash
  },
  (given, context) => {
    if (given === undefined || given === null) return undefined
    if (typeof given === 'object' && !Array.isArray(given)) {
      const number = jsonField(given, 'blockNumber') ?? null
      const hash = jsonField(given, 'blockHash') ?? null
      const requireCanonical = jsonField(given, 'requireCanonical') ?? false
      if (typeof requireCanonical !== 'boolean') throw wrongJson(given, 'string')
      if (number !== null && hash !== null) {
        throw new CodecError('INVALID_JSON', 'cannot specify both blockNumber and blockHash')
      }
      try {
        if (number !== null) return hexNumber(ethUint64.fromJson(number, context))
        return hash === null ? undefined : { hash: ethHash.fromJson(hash, context), requireCanonical }
      } catch (error) {
        // What is no such object has to be a text.
        if (error instanceof CodecError) throw wrongJson(given, 'string')
        throw error
      }
    }
    if (typeof given !== 'string') throw wrongJson(given, 'string')
    if (TAGS.has(given)) return given
    if (given.length === HASH_TEXT_LENGTH && given.startsWith('0x')) {
      return { hash: ethHash.fromJson(given, context), requireCanonical: false }
    }
    try {
      return hexNumber(ethUint64.fromJson(given, context))
    } catch (error) {
      if (error instanceof CodecError) throw new CodecError('INVALID_JSON', 'invalid block param')
      throw error
    }
  },
  { oneOf: [{ type: 'string' }, { type: 'object' }] },
)
