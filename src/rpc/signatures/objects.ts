/** Signatures: objects of the blockstore. */
import type { Cid } from '../../codec/cid.ts'
import { bool, type Codec, cid, json, jsonOnly, nullable, struct, text } from '../../codec/description.ts'
import { wrongJson } from '../../codec/goJson.ts'
import type { Json } from '../../codec/jsonText.ts'
import { nothing, type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'
import { type ObjStat, objStat, optionalCid } from '../types/chain.ts'

const ipldObject = struct<{ readonly cid: Cid; readonly json: Json }>('api.IpldObject', [
  ['cid', 'Cid', cid],
  ['json', 'Obj', json],
])

/** Go's interface of a block, which `encoding/json` can only make from null. */
const goBlock: Codec<null> = jsonOnly<null>(
  'blocks.Block',
  () => null,
  (value) => {
    if (value === undefined || value === null) return null
    throw wrongJson(value, 'blocks.Block')
  },
)

export const chainHasObj: CallSignature<readonly [Param<Cid | null>], boolean> = callSignature({
  name: 'ChainHasObj',
  perm: 'read',
  summary: 'Whether a block is at hand.',
  params: [param('objectCid', nullable(cid))],
  result: bool,
})

export const chainStatObj: CallSignature<readonly [Param<Cid>, Param<Cid | null>], ObjStat> = callSignature({
  name: 'ChainStatObj',
  cost: 'scan',
  perm: 'read',
  summary: 'Bytes and blocks of a tree, without those of the tree `base`.',
  params: [param('objectCid', cid), param('base', optionalCid)],
  result: objStat,
})

export const chainGetNode: CallSignature<
  readonly [Param<string>],
  {
    readonly cid: Cid
    readonly json: Json
  } | null
> = callSignature({
  name: 'ChainGetNode',
  perm: 'read',
  summary: 'What stands at the end of a path: a block as DAG-JSON.',
  params: [param('path', text)],
  result: nullable(ipldObject),
})

export const chainPutObj: CallSignature<readonly [Param<null>], void> = callSignature({
  name: 'ChainPutObj',
  perm: 'admin',
  summary: 'Not usable over JSON, as in Lotus: a block has no JSON form.',
  params: [param('block', goBlock)],
  result: nothing,
})

export const chainDeleteObj: CallSignature<readonly [Param<Cid>], void> = callSignature({
  name: 'ChainDeleteObj',
  perm: 'admin',
  summary: "Deletes a block of the node's own store; one of a snapshot below it stays.",
  params: [param('objectCid', cid)],
  result: nothing,
})

export const chainBlockstoreInfo: CallSignature<readonly [], Json> = callSignature({
  name: 'ChainBlockstoreInfo',
  perm: 'read',
  versions: ['v1'],
  summary: 'Figures of the block store and of the collections of old state.',
  params: [],
  result: json,
})
