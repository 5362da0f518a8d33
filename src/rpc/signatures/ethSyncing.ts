/** Signature of `eth_syncing`. */
import { type Codec, jsonOnly, struct } from '../../codec/description.ts'
import { type CallSignature, callSignature } from '../signature.ts'
import { ethUint64 } from '../types/ethScalars.ts'

/** How far the node is, in epochs. */
export interface EthProgress {
  readonly startingBlock: bigint
  readonly currentBlock: bigint
  readonly highestBlock: bigint
}

const progress: Codec<EthProgress> = struct<EthProgress>('ethtypes.EthSyncingResult', [
  ['startingBlock', 'startingBlock', ethUint64],
  ['currentBlock', 'currentBlock', ethUint64],
  ['highestBlock', 'highestBlock', ethUint64],
])

/** `false` when done. */
const progressOrDone: Codec<EthProgress | undefined> = jsonOnly<EthProgress | undefined>(
  'ethtypes.EthSyncingResult',
  (value, context) => (value === undefined ? false : progress.toJson(value, context)),
  (json, context) => (json === false ? undefined : progress.fromJson(json, context)),
  { oneOf: [{ type: 'boolean' }, progress.schema] },
)

export const ethSyncing: CallSignature<readonly [], EthProgress | undefined> = callSignature({
  name: 'EthSyncing',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'How far the node has synchronised; false when it has.',
  aliases: ['eth_syncing'],
  params: [],
  result: progressOrDone,
})
