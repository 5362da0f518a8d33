/** The send specification: second parameter of MpoolPushMessage and GasEstimateMessageGas. */
import { bool, type Codec, jsonOnly } from '../codec/description.ts'
import { CodecError } from '../codec/errors.ts'
import { inField, jsonField, wrongJson } from '../codec/goJson.ts'
import type { Json } from '../codec/jsonText.ts'
import { type TokenAmount, tokenAmount } from '../types/scalars.ts'

/** How a message is priced and sent. */
export interface SendSpec {
  /** The most it may cost in gas, attoFIL; 0: the node's default. */
  readonly maxFee: TokenAmount
  /** A send with an id that was used before returns what that send returned. Undefined: none. */
  readonly msgUuid: string | undefined
  /** The fee cap is everything that `maxFee` allows, however low the base fee. */
  readonly maximizeFeeCap: boolean
  /** Factor on the estimated gas limit, at least 1; undefined: the node's. Not a field of Lotus. */
  readonly gasLimitOverestimation: number | undefined
}

/** What a null specification means. */
export const DEFAULT_SEND_SPEC: SendSpec = {
  maxFee: 0n,
  msgUuid: undefined,
  maximizeFeeCap: false,
  gasLimitOverestimation: undefined,
}

const GO_TYPE = 'api.MessageSendSpec'
const ZERO_UUID = '00000000-0000-0000-0000-000000000000'
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/**
 * JSON `MessageSendSpec`, all fields optional; null is the default. Unlike Go, an empty or null MaxFee is taken as 0.
 * @see lotus api/types.go MessageSendSpec
 */
export const sendSpec: Codec<SendSpec> = jsonOnly<SendSpec>(
  GO_TYPE,
  (spec, context) => ({
    MaxFee: tokenAmount.toJson(spec.maxFee, context),
    MsgUuid: spec.msgUuid ?? ZERO_UUID,
    MaximizeFeeCap: spec.maximizeFeeCap,
    ...(spec.gasLimitOverestimation === undefined ? {} : { GasLimitOverestimation: spec.gasLimitOverestimation }),
  }),
  (json, context) => {
    if (json === undefined || json === null) return DEFAULT_SEND_SPEC
    if (typeof json !== 'object' || Array.isArray(json)) {
      throw wrongJson(json, GO_TYPE)
    }
    const maxFee = jsonField(json, 'MaxFee')
    return {
      maxFee:
        maxFee === undefined || maxFee === null || maxFee === ''
          ? 0n
          : inField(GO_TYPE, 'MaxFee', () => tokenAmount.fromJson(maxFee, context)),
      msgUuid: inField(GO_TYPE, 'MsgUuid', () => readUuid(jsonField(json, 'MsgUuid'))),
      maximizeFeeCap: inField(GO_TYPE, 'MaximizeFeeCap', () =>
        bool.fromJson(jsonField(json, 'MaximizeFeeCap'), context),
      ),
      gasLimitOverestimation: readFactor(jsonField(json, 'GasLimitOverestimation')),
    }
  },
  {
    type: 'object',
    title: 'api.MessageSendSpec',
    properties: {
      MaxFee: { type: 'string' },
      MsgUuid: { type: 'string' },
      MaximizeFeeCap: { type: 'boolean' },
      GasLimitOverestimation: { type: 'number' },
    },
  },
)

function readUuid(json: Json | undefined): string | undefined {
  if (json === undefined || json === null || json === '') return undefined
  if (typeof json !== 'string') throw wrongJson(json, 'uuid.UUID')
  const text = json.toLowerCase()
  if (!UUID.test(text)) throw invalid(`invalid UUID length: ${json.length}`)
  return text === ZERO_UUID ? undefined : text
}

function readFactor(json: Json | undefined): number | undefined {
  if (json === undefined || json === null || json === 0) return undefined
  if (typeof json !== 'number' || !(json >= 1)) throw invalid("'GasLimitOverestimation' cannot be less than 1")
  return json
}

function invalid(message: string): CodecError {
  return new CodecError('INVALID_JSON', message)
}
