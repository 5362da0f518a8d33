/** Methods about storage miners. */
import type { ChainView } from '../../chain/chainView.ts'
import { activeSectors, liveSectors, loadMiner, type MinerActor } from '../../chain/queries/minerActor.ts'
import { listMiners, minerPower } from '../../chain/queries/minerPower.ts'
import { deadlineInfo, nextNotElapsed } from '../../chain/queries/provingDeadline.ts'
import type { VmHost } from '../../chain/vm.ts'
import { bool, list, listOrEmpty, nullable, uint } from '../../codec/description.ts'
import { createBlock } from '../../consensus/createBlock.ts'
import { miningBase } from '../../consensus/miningBase.ts'
import { bitField } from '../../ipld/bitfield.ts'
import { blockMsg, toBlockMsg } from '../../p2p/gossip/blockMsg.ts'
import { sectorNumber } from '../../state/scalars.ts'
import { sectorOnChainInfo } from '../../state/sector.ts'
import { type Address, address, UNDEF_ADDRESS } from '../../types/address.ts'
import { chainEpoch, tokenAmount } from '../../types/scalars.ts'
import { SIGNATURE_BLS, type Signature } from '../../types/signature.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { nilPointer } from '../errors.ts'
import { type MethodRow, method, param } from '../method.ts'
import {
  apiDeadline,
  apiDeadlineInfo,
  apiMinerInfo,
  apiMinerPower,
  apiMinerSectors,
  apiPartition,
  blockTemplate,
  miningBaseInfo,
} from '../types/miner.ts'
import { loadTipset } from './chain.ts'

/** What the methods need. */
export interface MinerMethodsDeps {
  readonly view: ChainView
  readonly vm: Pick<VmHost, 'tipsetState'>
  /** Signs a block with a worker's key. */
  readonly signBlock: (worker: Address, data: Uint8Array) => Promise<Signature>
}

const minerParam = param('miner', address)
const sectorParam = param('sectorNumber', sectorNumber)
const key = param('tipsetKey', tipsetKey)

/** Rows about miners: their records, power, deadlines and sectors. */
export function minerMethods(deps: MinerMethodsDeps): MethodRow[] {
  return [...recordMethods(deps), ...deadlineMethods(deps.view), ...sectorMethods(deps.view)]
}

function minerAt(view: ChainView, who: Address, one: TipsetKey): MinerActor {
  return loadMiner(view, view.stateBefore(loadTipset(view, one)), who)
}

function recordMethods({ view, vm, signBlock }: MinerMethodsDeps): MethodRow[] {
  return [
    method({
      name: 'StateMinerInfo',
      perm: 'read',
      summary: 'What a miner has registered about itself.',
      params: [minerParam, key],
      result: apiMinerInfo,
      handler: (who, one) => {
        const info = minerAt(view, who, one).info()
        return {
          ...info,
          newWorker: info.pendingWorkerKey?.newWorker ?? UNDEF_ADDRESS,
          workerChangeEpoch: info.pendingWorkerKey?.effectiveAt ?? -1,
        }
      },
    }),
    method({
      name: 'StateMinerPower',
      perm: 'read',
      summary: "A miner's power beside the network's.",
      params: [minerParam, key],
      result: apiMinerPower,
      handler: (who, one) => minerPower(view, view.stateBefore(loadTipset(view, one)), who),
    }),
    method({
      name: 'StateListMiners',
      perm: 'read',
      summary: 'All miners with a claim of power.',
      params: [key],
      result: list(address),
      handler: (one) => listMiners(view, view.stateBefore(loadTipset(view, one))),
    }),
    method({
      name: 'StateMinerAvailableBalance',
      perm: 'read',
      summary: 'What a miner could withdraw: its balance without what is locked, pledged or owed, and what has vested.',
      params: [minerParam, key],
      result: tokenAmount,
      handler: (who, one) => {
        const miner = minerAt(view, who, one)
        return miner.availableBalance() + miner.vestedFunds(loadTipset(view, one).height)
      },
    }),
    method({
      name: 'MinerGetBaseInfo',
      perm: 'read',
      summary: 'What a miner needs to try for a block of an epoch; null when it cannot.',
      params: [minerParam, param('epoch', chainEpoch), key],
      result: nullable(miningBaseInfo),
      handler: (who, epoch, one) =>
        miningBase(view, loadTipset(view, one), epoch, who, async (tipset) => (await vm.tipsetState(tipset)).stateRoot),
    }),
    method({
      name: 'MinerCreateBlock',
      perm: 'write',
      summary: "Makes a block of a producer's ticket, proofs and messages, signed with the worker's key of the wallet.",
      params: [param('blockTemplate', nullable(blockTemplate))],
      result: nullable(blockMsg),
      handler: async (template) => {
        if (template === null) throw nilPointer('MinerCreateBlock')
        const { header, messages } = await createBlock(template, view, vm, signBlock)
        const bls = messages.filter((one) => one.signature.type === SIGNATURE_BLS)
        const signed = messages.filter((one) => one.signature.type !== SIGNATURE_BLS)
        return toBlockMsg({ header, messages: { bls: bls.map((one) => one.message), signed } })
      },
    }),
  ]
}

function deadlineMethods(view: ChainView): MethodRow[] {
  return [
    method({
      name: 'StateMinerDeadlines',
      perm: 'read',
      summary: "All deadlines of a miner's proving period.",
      params: [minerParam, key],
      result: listOrEmpty(apiDeadline),
      handler: (who, one) => {
        const miner = minerAt(view, who, one)
        return miner.deadlines().map((deadline) => ({
          postSubmissions: deadline.partitionsPoSted,
          disputableProofCount: miner.disputableProofs(deadline),
          dailyFee: deadline.dailyFee ?? 0n,
        }))
      },
    }),
    method({
      name: 'StateMinerProvingDeadline',
      perm: 'read',
      summary: 'The deadline that a miner is at, seen from the tipset.',
      params: [minerParam, key],
      result: apiDeadlineInfo,
      handler: (who, one) => {
        const { provingPeriodStart, currentDeadline } = minerAt(view, who, one).state
        return nextNotElapsed(deadlineInfo(provingPeriodStart, currentDeadline, loadTipset(view, one).height))
      },
    }),
    method({
      name: 'StateMinerPartitions',
      perm: 'read',
      summary: 'The partitions of one deadline.',
      params: [minerParam, param('deadlineIndex', uint), key],
      result: list(apiPartition),
      handler: (who, index, one) => {
        const miner = minerAt(view, who, one)
        return miner.partitions(miner.deadline(index)).map((partition) => ({
          allSectors: partition.sectors,
          faultySectors: partition.faults,
          recoveringSectors: partition.recoveries,
          liveSectors: liveSectors(partition),
          activeSectors: activeSectors(partition),
        }))
      },
    }),
  ]
}

function sectorMethods(view: ChainView): MethodRow[] {
  return [
    method({
      name: 'StateMinerFaults',
      perm: 'read',
      summary: "A miner's faulty sectors.",
      params: [minerParam, key],
      result: bitField,
      handler: (who, one) => minerAt(view, who, one).sectorsOf((partition) => partition.faults),
    }),
    method({
      name: 'StateMinerRecoveries',
      perm: 'read',
      summary: 'Faulty sectors that a miner has declared as recovering.',
      params: [minerParam, key],
      result: bitField,
      handler: (who, one) => minerAt(view, who, one).sectorsOf((partition) => partition.recoveries),
    }),
    method({
      name: 'StateMinerActiveSectors',
      perm: 'read',
      summary: 'Sectors that a miner proves.',
      params: [minerParam, key],
      result: listOrEmpty(sectorOnChainInfo),
      handler: (who, one) => {
        const miner = minerAt(view, who, one)
        return miner.sectors(miner.sectorsOf(activeSectors))
      },
    }),
    method({
      name: 'StateMinerSectors',
      perm: 'read',
      summary: "A miner's sectors, or those of a set.",
      params: [minerParam, param('sectors', nullable(bitField)), key],
      result: listOrEmpty(sectorOnChainInfo),
      handler: (who, numbers, one) => minerAt(view, who, one).sectors(numbers ?? undefined),
    }),
    method({
      name: 'StateMinerSectorCount',
      perm: 'read',
      summary: 'How many live, active and faulty sectors a miner has.',
      params: [minerParam, key],
      result: apiMinerSectors,
      handler: (who, one) => {
        const miner = minerAt(view, who, one)
        const partitions = miner.deadlines().flatMap((deadline) => miner.partitions(deadline))
        let [live, active, faulty] = [0, 0, 0]
        for (const partition of partitions) {
          live += liveSectors(partition).count
          active += activeSectors(partition).count
          faulty += partition.faults.count
        }
        return { live, active, faulty }
      },
    }),
    method({
      name: 'StateMinerAllocated',
      perm: 'read',
      summary: 'Sector numbers that a miner has used.',
      params: [minerParam, key],
      result: bitField,
      handler: (who, one) => minerAt(view, who, one).allocatedSectors(),
    }),
    method({
      name: 'StateMinerSectorAllocated',
      perm: 'read',
      summary: 'Whether a miner has used a sector number.',
      params: [minerParam, sectorParam, key],
      result: bool,
      handler: (who, number, one) => minerAt(view, who, one).allocatedSectors().has(number),
    }),
  ]
}
