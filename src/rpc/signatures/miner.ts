/** Signatures: methods about storage providers and their blocks. */
import type { MinerPower } from '../../chain/queries/minerPower.ts'
import type { DeadlineInfo } from '../../chain/queries/provingDeadline.ts'
import { bool, list, listOrEmpty, nullable, uint } from '../../codec/description.ts'
import type { BlockTemplate } from '../../consensus/createBlock.ts'
import type { MiningBaseInfo } from '../../consensus/miningBase.ts'
import { type BitField, bitField } from '../../ipld/bitfield.ts'
import { type BlockMsg, blockMsg } from '../../p2p/gossip/blockMsg.ts'
import { type SectorNumber, sectorNumber } from '../../state/scalars.ts'
import { type SectorOnChainInfo, sectorOnChainInfo } from '../../state/sector.ts'
import { type Address, address } from '../../types/address.ts'
import { chainEpoch, tokenAmount } from '../../types/scalars.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'
import {
  type ApiDeadline,
  type ApiMinerInfo,
  type ApiMinerSectors,
  type ApiPartition,
  apiDeadline,
  apiDeadlineInfo,
  apiMinerInfo,
  apiMinerPower,
  apiMinerSectors,
  apiPartition,
  blockTemplate,
  miningBaseInfo,
} from '../types/miner.ts'

const minerParam = param('miner', address)

const sectorParam = param('sectorNumber', sectorNumber)

const key = param('tipsetKey', tipsetKey)

export const stateMinerInfo: CallSignature<readonly [Param<Address>, Param<TipsetKey>], ApiMinerInfo> = callSignature({
  name: 'StateMinerInfo',
  perm: 'read',
  summary: 'What a miner has registered about itself.',
  params: [minerParam, key],
  result: apiMinerInfo,
})

export const stateMinerPower: CallSignature<readonly [Param<Address>, Param<TipsetKey>], MinerPower> = callSignature({
  name: 'StateMinerPower',
  perm: 'read',
  summary: "A miner's power beside the network's.",
  params: [minerParam, key],
  result: apiMinerPower,
})

export const stateListMiners: CallSignature<readonly [Param<TipsetKey>], Address[]> = callSignature({
  name: 'StateListMiners',
  cost: 'scan',
  perm: 'read',
  summary: 'All miners with a claim of power.',
  params: [key],
  result: list(address),
})

export const stateMinerAvailableBalance: CallSignature<readonly [Param<Address>, Param<TipsetKey>], bigint> =
  callSignature({
    name: 'StateMinerAvailableBalance',
    cost: 'scan',
    perm: 'read',
    summary: 'What a miner could withdraw: its balance without what is locked, pledged or owed, and what has vested.',
    params: [minerParam, key],
    result: tokenAmount,
  })

export const minerGetBaseInfo: CallSignature<
  readonly [Param<Address>, Param<number>, Param<TipsetKey>],
  MiningBaseInfo | null
> = callSignature({
  name: 'MinerGetBaseInfo',
  cost: 'scan',
  perm: 'read',
  summary: 'What a miner needs to try for a block of an epoch; null when it cannot.',
  params: [minerParam, param('epoch', chainEpoch), key],
  result: nullable(miningBaseInfo),
})

export const minerCreateBlock: CallSignature<readonly [Param<BlockTemplate | null>], BlockMsg | null> = callSignature({
  name: 'MinerCreateBlock',
  perm: 'write',
  runsOnce: false,
  summary: "Makes a block of a producer's ticket, proofs and messages, signed with the worker's key of the wallet.",
  params: [param('blockTemplate', nullable(blockTemplate))],
  result: nullable(blockMsg),
})

export const stateMinerDeadlines: CallSignature<readonly [Param<Address>, Param<TipsetKey>], ApiDeadline[]> =
  callSignature({
    name: 'StateMinerDeadlines',
    cost: 'scan',
    perm: 'read',
    summary: "All deadlines of a miner's proving period.",
    params: [minerParam, key],
    result: listOrEmpty(apiDeadline),
  })

export const stateMinerProvingDeadline: CallSignature<readonly [Param<Address>, Param<TipsetKey>], DeadlineInfo> =
  callSignature({
    name: 'StateMinerProvingDeadline',
    perm: 'read',
    summary: 'The deadline that a miner is at, seen from the tipset.',
    params: [minerParam, key],
    result: apiDeadlineInfo,
  })

export const stateMinerPartitions: CallSignature<
  readonly [Param<Address>, Param<number>, Param<TipsetKey>],
  ApiPartition[]
> = callSignature({
  name: 'StateMinerPartitions',
  cost: 'scan',
  perm: 'read',
  summary: 'The partitions of one deadline.',
  params: [minerParam, param('deadlineIndex', uint), key],
  result: list(apiPartition),
})

export const stateMinerFaults: CallSignature<readonly [Param<Address>, Param<TipsetKey>], BitField> = callSignature({
  name: 'StateMinerFaults',
  cost: 'scan',
  perm: 'read',
  summary: "A miner's faulty sectors.",
  params: [minerParam, key],
  result: bitField,
})

export const stateMinerRecoveries: CallSignature<readonly [Param<Address>, Param<TipsetKey>], BitField> = callSignature(
  {
    name: 'StateMinerRecoveries',
    cost: 'scan',
    perm: 'read',
    summary: 'Faulty sectors that a miner has declared as recovering.',
    params: [minerParam, key],
    result: bitField,
  },
)

export const stateMinerActiveSectors: CallSignature<readonly [Param<Address>, Param<TipsetKey>], SectorOnChainInfo[]> =
  callSignature({
    name: 'StateMinerActiveSectors',
    cost: 'scan',
    perm: 'read',
    summary: 'Sectors that a miner proves.',
    params: [minerParam, key],
    result: listOrEmpty(sectorOnChainInfo),
  })

export const stateMinerSectors: CallSignature<
  readonly [Param<Address>, Param<BitField | null>, Param<TipsetKey>],
  SectorOnChainInfo[]
> = callSignature({
  name: 'StateMinerSectors',
  cost: 'scan',
  perm: 'read',
  summary: "A miner's sectors, or those of a set.",
  params: [minerParam, param('sectors', nullable(bitField)), key],
  result: listOrEmpty(sectorOnChainInfo),
})

export const stateMinerSectorCount: CallSignature<readonly [Param<Address>, Param<TipsetKey>], ApiMinerSectors> =
  callSignature({
    name: 'StateMinerSectorCount',
    perm: 'read',
    summary: 'How many live, active and faulty sectors a miner has.',
    params: [minerParam, key],
    result: apiMinerSectors,
  })

export const stateMinerAllocated: CallSignature<readonly [Param<Address>, Param<TipsetKey>], BitField> = callSignature({
  name: 'StateMinerAllocated',
  perm: 'read',
  summary: 'Sector numbers that a miner has used.',
  params: [minerParam, key],
  result: bitField,
})

export const stateMinerSectorAllocated: CallSignature<
  readonly [Param<Address>, Param<SectorNumber>, Param<TipsetKey>],
  boolean
> = callSignature({
  name: 'StateMinerSectorAllocated',
  perm: 'read',
  summary: 'Whether a miner has used a sector number.',
  params: [minerParam, sectorParam, key],
  result: bool,
})
