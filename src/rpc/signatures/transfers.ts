/** Signatures of the transfer methods: ours, for exchanges. */
import { int } from '../../codec/description.ts'
import type { AddressedTransfers } from '../../transfers/tipsetTransfers.ts'
import { type ChainEpoch, chainEpoch } from '../../types/scalars.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'
import { type TransferSteps, tipsetTransfers, transferSteps } from '../types/transfers.ts'

export const chainGetTransfers: CallSignature<readonly [Param<TipsetKey>], AddressedTransfers> = callSignature({
  name: 'ChainGetTransfers',
  cost: 'scan',
  perm: 'read',
  summary:
    'Value that moved for good when a tipset was executed: sends of messages and of actors, rewards, and gas paid.',
  params: [param('tipsetKey', tipsetKey)],
  result: tipsetTransfers,
})

export const chainGetTransfersSince: CallSignature<
  readonly [Param<TipsetKey>, Param<ChainEpoch>, Param<number>],
  TransferSteps
> = callSignature({
  name: 'ChainGetTransfersSince',
  cost: 'scan',
  perm: 'read',
  summary:
    'Steps from a position (a tipset key; empty: start now) to the newest tipset that lies so many epochs deep: ' +
    'transfers to take back after a reorg, transfers to book, the next position.',
  params: [param('position', tipsetKey), param('confidence', chainEpoch), param('limit', int)],
  result: transferSteps,
})
