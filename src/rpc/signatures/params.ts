/** Signatures: parameters of actors' methods. */
import type { Cid } from '../../codec/cid.ts'
import { bytes, cid, type Json, json } from '../../codec/description.ts'
import { type Address, address } from '../../types/address.ts'
import { methodNum } from '../../types/scalars.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'

export const stateDecodeParams: CallSignature<
  readonly [Param<Address>, Param<bigint>, Param<Uint8Array>, Param<TipsetKey>],
  Json
> = callSignature({
  name: 'StateDecodeParams',
  perm: 'read',
  summary: "Parameters of an actor's method as JSON.",
  params: [param('toAddr', address), param('method', methodNum), param('params', bytes), param('tipsetKey', tipsetKey)],
  result: json,
})

export const stateEncodeParams: CallSignature<readonly [Param<Cid>, Param<bigint>, Param<Json>], Uint8Array> =
  callSignature({
    name: 'StateEncodeParams',
    perm: 'read',
    summary: "Parameters of an actor's method as CBOR, from JSON.",
    params: [param('toActCode', cid), param('method', methodNum), param('params', json)],
    result: bytes,
  })
