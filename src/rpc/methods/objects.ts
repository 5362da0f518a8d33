/** Methods about single blocks of the store, whatever they hold. */
import type { ActorStates } from '../../chain/actorStates.ts'
import type { ChainView } from '../../chain/chainView.ts'
import { ipldAt } from '../../chain/ipldPath.ts'
import { ipldStat } from '../../chain/ipldStat.ts'
import type { Cid } from '../../codec/cid.ts'
import type { Json } from '../../codec/jsonText.ts'
import { getBlock, hasBlock } from '../../ipld/blockstore.ts'
import { nilPointer, RpcError } from '../errors.ts'
import { type MethodRow, method } from '../method.ts'
import { chainReadObj } from '../signatures/chain.ts'
import {
  chainBlockstoreInfo,
  chainDeleteObj,
  chainGetNode,
  chainHasObj,
  chainPutObj,
  chainStatObj,
} from '../signatures/objects.ts'

/** What the methods need. */
export interface ObjectMethodsDeps {
  readonly view: ChainView
  readonly states: ActorStates
  /** Deletes a block of the node's own store; undefined: it cannot. */
  readonly deleteBlock?: ((cid: Cid) => void) | undefined
  /** Figures of the store; undefined: it has none. */
  readonly storeInfo?: (() => Readonly<Record<string, Json>>) | undefined
}

/** Rows about blocks. */
export function objectMethods({ view, states, deleteBlock, storeInfo }: ObjectMethodsDeps): MethodRow[] {
  const { blocks } = view.store
  return [
    method({
      ...chainReadObj,
      handler: (cid) => getBlock(blocks, cid),
    }),
    method({
      ...chainHasObj,
      // Null is Go's undefined CID, which Lotus takes for one that holds its own data. @see lotus blockstore/idstore.go decodeCid
      handler: (cid) => cid === null || hasBlock(blocks, cid),
    }),
    method({
      ...chainStatObj,
      handler: (cid, base, { walk }) => walk(ipldStat(blocks, cid, base ?? undefined)),
    }),
    method({
      ...chainGetNode,
      handler: (path, call) =>
        ipldAt(path, { blocks, stateJson: (actor, context) => states.json(actor, context) }, call.json),
    }),
    method({
      ...chainPutObj,
      handler: () => {
        throw nilPointer('Filecoin.ChainPutObj')
      },
    }),
    method({
      ...chainDeleteObj,
      handler: (cid) => {
        if (deleteBlock === undefined) throw new RpcError('FAILED', 'not supported: deleting blocks of this store')
        deleteBlock(cid)
      },
    }),
    method({
      ...chainBlockstoreInfo,
      handler: () => {
        if (storeInfo === undefined) throw new RpcError('FAILED', 'underlying blockstore does not provide info')
        return { ...storeInfo() }
      },
    }),
  ]
}
