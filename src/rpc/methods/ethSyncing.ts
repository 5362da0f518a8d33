/** `eth_syncing`. @see lotus node/impl/eth/basic.go EthSyncing; chain/types/ethtypes/eth_types.go EthSyncingResult */
import { SYNC_STAGE, type SyncState } from '../../sync/syncState.ts'
import { RpcError } from '../errors.ts'
import { type MethodRow, method } from '../method.ts'
import { type EthProgress, ethSyncing } from '../signatures/ethSyncing.ts'

/** What the last worker that is not idle does, else the last one. */
function progressOf({ activeSyncs }: SyncState): EthProgress | undefined {
  const shown = activeSyncs.findLast(({ stage }) => stage !== SYNC_STAGE.idle) ?? activeSyncs.at(-1)
  if (shown === undefined) throw new RpcError('FAILED', 'no active syncs, try again')
  const { base, target, height, stage } = shown
  if (base === null || target === null) throw new RpcError('FAILED', 'missing syncing information, try again')
  // Nothing was synchronised yet: a local chain makes its blocks itself.
  const isIdle = stage === SYNC_STAGE.idle && base === target
  if (stage === SYNC_STAGE.complete || isIdle) return undefined
  return { startingBlock: BigInt(base.height), currentBlock: BigInt(height), highestBlock: BigInt(target.height) }
}

/**
 * The row of `eth_syncing`: false once the last sync is complete.
 * @throws RpcError `FAILED` from its handler as long as none has begun
 */
export function ethSyncingMethod(state: () => SyncState): MethodRow {
  return method({
    ...ethSyncing,
    handler: () => progressOf(state()),
  })
}
