/** The block of an empty CBOR list: the state of an actor that has none. @see ref-fvm shared/src/lib.rs EMPTY_ARR_CID */

import { fromHex } from '../base/bytes.ts'
import { type Cid, CODEC_DAG_CBOR, createCid, HASH_BLAKE2B_256 } from '../codec/cid.ts'

/** CBOR of a list with nothing in it. */
export const EMPTY_ARRAY: Uint8Array = Uint8Array.of(0x80)

/** bafy2bzacebc3bt6cedhoyw34drrmjvazhu4oj25er2ebk4u445pzycvq4ta4a */
export const EMPTY_ARRAY_CID: Cid = createCid(
  CODEC_DAG_CBOR,
  HASH_BLAKE2B_256,
  fromHex('45b0cfc220ceec5b7c1c62c4d4193d38e4eba48e8815729ce75f9c0ab0e4c1c0'),
)
