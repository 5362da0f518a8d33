/** How far back a block looks for the state that its miner is elected by. */
import type { ChainEpoch } from '../types/scalars.ts'
import { type Network, networkVersionAt } from './network.ts'

const SHORT_UP_TO_VERSION = 3

/**
 * The epoch that a block of `epoch` looks back to, not below genesis; `isShort`: by the rules before network version 4.
 * @see lotus chain/stmgr/utils.go GetLookbackTipSetForRound; actors/policy GetWinningPoStSectorSetLookback
 */
export function electionLookback(network: Network, epoch: ChainEpoch): { target: ChainEpoch; isShort: boolean } {
  const { winningPoStLookback, winningPoStLookbackUpToNv3 } = network.protocol
  const isShort = networkVersionAt(network, epoch) <= SHORT_UP_TO_VERSION
  return { target: Math.max(0, epoch - (isShort ? winningPoStLookbackUpToNv3 : winningPoStLookback)), isShort }
}
