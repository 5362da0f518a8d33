/** `eth_syncing`. @see lotus node/impl/eth/basic.go EthSyncing; chain/types/ethtypes/eth_types.go EthSyncingResult */
import { type Codec, jsonOnly, struct } from '../../codec/description.ts'
import { SYNC_STAGE, type SyncState } from '../../sync/syncState.ts'
import { RpcError } from '../errors.ts'
import { type MethodRow, method } from '../method.ts'
import { ethUint64 } from '../types/ethScalars.ts'

interface Progress {
  readonly startingBlock: bigint
  readonly currentBlock: bigint
  readonly highestBlock: bigint
}

const progress: Codec<Progress> = struct<Progress>('ethtypes.EthSyncingResult', [
  ['startingBlock', 'startingBlock', ethUint64],
  ['currentBlock', 'currentBlock', ethUint64],
  ['highestBlock', 'highestBlock', ethUint64],
])

/** `false` when done. */
const progressOrDone: Codec<Progress | undefined> = jsonOnly<Progress | undefined>(
  'ethtypes.EthSyncingResult',
  (value, context) => (value === undefined ? false : progress.toJson(value, context)),
  (json, context) => (json === false ? undefined : progress.fromJson(json, context)),
  { oneOf: [{ type: 'boolean' }, progress.schema] },
)

/** What the last worker that is not idle does, else the last one. */
function ethSyncing({ activeSyncs }: SyncState): Progress | undefined {
  const shown = activeSyncs.findLast(({ stage }) => stage !== SYNC_STAGE.idle) ?? activeSyncs.at(-1)
  if (shown === undefined) throw new RpcError('FAILED', 'no active syncs, try again')
  const { base, target, height, stage } = shown
  if (base === null || target === null) throw new RpcError('FAILED', 'missing syncing information, try again')
  if (stage === SYNC_STAGE.complete) return undefined
  return { startingBlock: BigInt(base.height), currentBlock: BigInt(height), highestBlock: BigInt(target.height) }
}

export function ethSyncingMethod(state: () => SyncState): MethodRow {
  return method({
    name: 'EthSyncing',
    perm: 'read',
    versions: ['v1', 'v2'],
    summary: 'How far the node has synchronised; false when it has.',
    aliases: ['eth_syncing'],
    params: [],
    result: progressOrDone,
    handler: () => ethSyncing(state()),
  })
}
