/**
 * Keys in their exported form.
 * @see lotus chain/types/keystore.go KeyType, KeyInfo
 */
import type { Json } from '../codec/description.ts'
import { bytesOrEmpty, type Codec, jsonOnly, struct } from '../codec/description.ts'
import { CodecError } from '../codec/errors.ts'
import { wrongJson } from '../codec/goJson.ts'
import { SIGNATURE_BLS, SIGNATURE_DELEGATED, SIGNATURE_SECP256K1 } from '../types/signature.ts'

/** Kinds of keys, by Lotus' names. */
export const KEY_SECP256K1 = 'secp256k1'
export const KEY_BLS = 'bls'
export const KEY_DELEGATED = 'delegated'
/** A key on a hardware device. */
export const KEY_SECP256K1_LEDGER = 'secp256k1-ledger'
/** No key: the text of an address that is listed and cannot sign. */
export const WATCH_ONLY = 'watch-only'
/** Secret of the API tokens; no key of an address. */
export const KEY_JWT_SECRET = 'jwt-hmac-secret'

/** A secret with what it is for. */
export interface KeyInfo {
  /** `secp256k1`, `bls`, `delegated`, `watch-only`, `jwt-hmac-secret`; any text is carried. */
  readonly type: string
  /** 32 bytes; little-endian for BLS. UTF-8 of the address for `watch-only`. */
  readonly privateKey: Uint8Array
}

const TYPE_OF_NUMBER: ReadonlyMap<number, string> = new Map([
  [SIGNATURE_SECP256K1, KEY_SECP256K1],
  [SIGNATURE_BLS, KEY_BLS],
  [SIGNATURE_DELEGATED, KEY_DELEGATED],
])

function typeOfJson(json: Json | undefined): string {
  if (json === undefined || json === null) return ''
  if (typeof json === 'string') return json
  if (typeof json !== 'number' || !Number.isInteger(json) || json < 0 || json > 255) {
    const reason =
      typeof json === 'number'
        ? `json: cannot unmarshal number ${json} into Go value of type uint8`
        : wrongJson(json, 'uint8').message
    throw new CodecError('INVALID_JSON', `could not unmarshal KeyType either as string nor integer: ${reason}`)
  }
  const type = TYPE_OF_NUMBER.get(json)
  if (type === undefined) throw new CodecError('INVALID_JSON', `unknown sigtype: ${json}`)
  return type
}

/** JSON text; on input also 1 (secp256k1), 2 (BLS), 3 (delegated). Any text is taken: the wallet refuses unknown ones. */
export const keyType: Codec<string> = {
  ...jsonOnly<string>('types.KeyType', (value) => value, typeOfJson, { type: ['string', 'integer'] }),
  name: 'types.KeyType',
}

/** JSON `{Type, PrivateKey}`, the private key in base64. */
export const keyInfo: Codec<KeyInfo> = struct<KeyInfo>('types.KeyInfo', [
  ['type', 'Type', keyType],
  ['privateKey', 'PrivateKey', bytesOrEmpty],
])
