/**
 * A chain's genesis as a file: CARv1 with the genesis block as its root and all of its state.
 * @see lotus chain/gen/genesis/genesis.go MakeGenesisBlock; chain/store/snapshot.go Import
 */

import { carBlocks, carBytes, readCarHeader } from '../archive/car.ts'
import type { ByteSource } from '../codec/byteSource.ts'
import type { Cid } from '../codec/cid.ts'
import { type Blockstore, hasBlock } from '../ipld/blockstore.ts'
import { verifyBlock } from '../ipld/verifyBlock.ts'
import { isBlockLink, walkDag } from '../ipld/walkDag.ts'
import { ChainError } from './errors.ts'

/**
 * The file's bytes. What is nowhere is left out: the Wasm code of actors that run as native ones, the parents that a
 * genesis block names.
 * @param code - blocks of the actors' bundle, which the state names through its manifest: a Lotus that is to execute the
 *   chain finds them nowhere else (node/modules/genesis.go LoadGenesis)
 */
export function writeGenesisCar(
  store: Blockstore,
  genesis: Cid,
  code: (cid: Cid) => Uint8Array | undefined = () => undefined,
): Uint8Array {
  const all: Blockstore = {
    get: (cid) => store.get(cid) ?? code(cid),
    has: (cid) => store.has(cid) || code(cid) !== undefined,
    put: (cid, data) => store.put(cid, data),
  }
  const blocks: [Cid, Uint8Array][] = []
  walkDag(all, genesis, (cid, data) => blocks.push([cid, data]), {
    follow: (cid) => isBlockLink(cid) && hasBlock(all, cid),
  })
  return carBytes([genesis], blocks)
}

/** What is taken of a genesis: its block alone, or the state, too. */
export type GenesisPart = 'header' | 'state'

/**
 * Copies the file's blocks into a store, each checked against its CID. For the header the file is read no further than it.
 * @returns CID of the genesis block
 * @throws IpldError `INVALID_CAR`, `CID_MISMATCH`; ChainError `TIPSET_INVALID` when the file names no single root
 */
export function readGenesisCar(store: Blockstore, source: ByteSource, part: GenesisPart = 'state'): Cid {
  const { roots } = readCarHeader(source)
  const root = roots[0]
  if (roots.length !== 1 || root === undefined) {
    throw new ChainError('TIPSET_INVALID', `Cannot read genesis: the file has ${roots.length} roots, expected 1`)
  }
  for (const [cid, data] of carBlocks(source)) {
    if (part === 'header' && !cid.equals(root)) continue
    verifyBlock(cid, data)
    store.put(cid, data)
    if (part === 'header') break
  }
  return root
}
