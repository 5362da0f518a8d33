/** Methods about single blocks of the store, whatever they hold. */
import type { ActorStates } from '../../chain/actorStates.ts'
import type { ChainView } from '../../chain/chainView.ts'
import { ipldAt } from '../../chain/ipldPath.ts'
import { ipldStat } from '../../chain/ipldStat.ts'
import type { Cid } from '../../codec/cid.ts'
import { bool, type Codec, cid, json, jsonOnly, nullable, struct, text, wrongJson } from '../../codec/description.ts'
import type { Json } from '../../codec/jsonText.ts'
import { getBlock, hasBlock } from '../../ipld/blockstore.ts'
import { nilPointer, RpcError } from '../errors.ts'
import { type MethodRow, method, nothing, param } from '../method.ts'
import { chainReadObj } from '../signatures/chain.ts'
import { objStat, optionalCid } from '../types/chain.ts'

/** What the methods need. */
export interface ObjectMethodsDeps {
  readonly view: ChainView
  readonly states: ActorStates
  /** Deletes a block of the node's own store; undefined: it cannot. */
  readonly deleteBlock?: ((cid: Cid) => void) | undefined
  /** Figures of the store; undefined: it has none. */
  readonly storeInfo?: (() => Readonly<Record<string, Json>>) | undefined
}

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

/** Rows about blocks. */
export function objectMethods({ view, states, deleteBlock, storeInfo }: ObjectMethodsDeps): MethodRow[] {
  const { blocks } = view.store
  return [
    method({
      ...chainReadObj,
      handler: (one) => getBlock(blocks, one),
    }),
    method({
      name: 'ChainHasObj',
      perm: 'read',
      summary: 'Whether a block is at hand.',
      params: [param('objectCid', cid)],
      result: bool,
      handler: (one) => hasBlock(blocks, one),
    }),
    method({
      name: 'ChainStatObj',
      perm: 'read',
      summary: 'Bytes and blocks of a tree, without those of the tree `base`.',
      params: [param('objectCid', cid), param('base', optionalCid)],
      result: objStat,
      handler: (one, base) => ipldStat(blocks, one, base ?? undefined),
    }),
    method({
      name: 'ChainGetNode',
      perm: 'read',
      summary: 'What stands at the end of a path: a block as DAG-JSON.',
      params: [param('path', text)],
      result: nullable(ipldObject),
      handler: (path, call) =>
        ipldAt(path, { blocks, stateJson: (actor, context) => states.json(actor, context) }, call.json),
    }),
    method({
      name: 'ChainPutObj',
      perm: 'admin',
      summary: 'Not usable over JSON, as in Lotus: a block has no JSON form.',
      params: [param('block', goBlock)],
      result: nothing,
      handler: () => {
        throw nilPointer('ChainPutObj')
      },
    }),
    method({
      name: 'ChainDeleteObj',
      perm: 'admin',
      summary: "Deletes a block of the node's own store; one of a snapshot below it stays.",
      params: [param('objectCid', cid)],
      result: nothing,
      handler: (one) => {
        if (deleteBlock === undefined) throw new RpcError('FAILED', 'not supported: deleting blocks of this store')
        deleteBlock(one)
      },
    }),
    method({
      name: 'ChainBlockstoreInfo',
      perm: 'read',
      versions: ['v1'],
      summary: 'Figures of the block store and of the collections of old state.',
      params: [],
      result: json,
      handler: () => {
        if (storeInfo === undefined) throw new RpcError('FAILED', 'underlying blockstore does not provide info')
        return { ...storeInfo() }
      },
    }),
  ]
}
