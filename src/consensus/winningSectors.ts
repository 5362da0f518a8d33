/**
 * Which sectors a block's winning PoSt is about.
 * @see lotus chain/stmgr/actors.go GetSectorsForWinningPoSt
 */
import type { ChainView } from '../chain/chainView.ts'
import { activeSectors, type MinerActor } from '../chain/queries/minerActor.ts'
import { proverId } from '../fvm/proofStatements.ts'
import { bitFieldOf } from '../ipld/bitfield.ts'
import { winningSectorIndex } from '../proofs/post/leafChallenge.ts'
import type { Partition } from '../state/deadline.ts'
import type { SectorOnChainInfo } from '../state/sector.ts'
import { type Address, addressToId } from '../types/address.ts'

/** Up to this version sectors that are not proven yet, or terminated, took part too. */
const ALL_SECTORS_UP_TO_VERSION = 6

function notFaulty(partition: Partition) {
  return partition.sectors.subtract(partition.faults)
}

/**
 * One sector of the miner's active ones, drawn by the randomness; none of a miner that has none.
 * @param actor - the miner at the lookback
 * @param randomness - see `winningPoStRandomness`: 32 bytes, the top two bits cleared
 */
export function winningSectors(
  view: ChainView,
  actor: MinerActor,
  networkVersion: number,
  miner: Address,
  randomness: Uint8Array,
): SectorOnChainInfo[] {
  const proving = actor.sectorsOf(networkVersion <= ALL_SECTORS_UP_TO_VERSION ? notFaulty : activeSectors)
  if (proving.isEmpty) return []
  // Lotus' stand-in for proofs challenges the first sector that is there.
  if (view.network.proofs === 'accept') return actor.sectors(bitFieldOf([proving.first]))
  const index = Number(winningSectorIndex(proverId(addressToId(miner)), randomness, BigInt(proving.count)))
  return actor.sectors(proving.slice(index, 1))
}
