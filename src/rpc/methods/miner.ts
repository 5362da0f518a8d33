/** Methods about storage miners. */
import type { Steps } from '../../base/steps.ts'
import { actorOf } from '../../chain/actorLookup.ts'
import type { ChainView } from '../../chain/chainView.ts'
import { activeSectors, liveSectors, type MinerActor, minerOf } from '../../chain/queries/minerActor.ts'
import { listMiners, minerPower } from '../../chain/queries/minerPower.ts'
import { deadlineInfo, nextNotElapsed } from '../../chain/queries/provingDeadline.ts'
import { URGENCY } from '../../chain/urgency.ts'
import { urgentVm, type VmHost } from '../../chain/vm.ts'
import { createBlock } from '../../consensus/createBlock.ts'
import { miningBase } from '../../consensus/miningBase.ts'
import { type BitField, unionAll } from '../../ipld/bitfield.ts'
import type { BlockMissing } from '../../ipld/errors.ts'
import { toBlockMsg } from '../../p2p/gossip/blockMsg.ts'
import type { Partition } from '../../state/deadline.ts'
import { type SectorOnChainInfo, sectorOnChainInfo } from '../../state/sector.ts'
import { type Address, address, UNDEF_ADDRESS } from '../../types/address.ts'
import { SIGNATURE_BLS, type Signature } from '../../types/signature.ts'
import type { Tipset, TipsetKey } from '../../types/tipset.ts'
import { nilPointer } from '../errors.ts'
import { inContext } from '../inContext.ts'
import { listing } from '../listing.ts'
import { listMethod, type MethodRow, method } from '../method.ts'
import {
  minerCreateBlock,
  minerGetBaseInfo,
  stateListMiners,
  stateMinerActiveSectors,
  stateMinerAllocated,
  stateMinerAvailableBalance,
  stateMinerDeadlines,
  stateMinerFaults,
  stateMinerInfo,
  stateMinerPartitions,
  stateMinerPower,
  stateMinerProvingDeadline,
  stateMinerRecoveries,
  stateMinerSectorAllocated,
  stateMinerSectorCount,
  stateMinerSectors,
} from '../signatures/miner.ts'
import { loadTipset } from './chain.ts'

/** What the methods need. */
export interface MinerMethodsDeps {
  readonly view: ChainView
  readonly vm: Pick<VmHost, 'tipsetState' | 'run'>
  /** Signs a block with a worker's key. */
  readonly signBlock: (worker: Address, data: Uint8Array) => Promise<Signature>
}

/** The empty key is no head here. @see lotus chain/stmgr/actors.go MinerGetBaseInfo */
function baseTipset(view: ChainView, key: TipsetKey): Tipset {
  return inContext('failed to load tipset for mining base: ', () => view.store.tipset(key))
}

/** Rows about miners: their records, power, deadlines and sectors. */
export function minerMethods(deps: MinerMethodsDeps): MethodRow[] {
  return [...recordMethods(deps), ...deadlineMethods(deps.view), ...sectorMethods(deps.view)]
}

function minerAt(view: ChainView, who: Address, key: TipsetKey): MinerActor {
  const tree = view.stateBefore(loadTipset(view, key))
  const actor = inContext('failed to load miner actor: ', () => actorOf(view, tree, who))
  return minerOf(view, actor)
}

/** Two methods say no more than why. @see lotus node/impl/full/state.go StateMinerSectorCount, StateMinerAllocated */
function plainMinerAt(view: ChainView, who: Address, key: TipsetKey): MinerActor {
  return minerOf(view, actorOf(view, view.stateBefore(loadTipset(view, key)), who), '')
}

function recordMethods({ view, vm, signBlock }: MinerMethodsDeps): MethodRow[] {
  return [
    method({
      ...stateMinerInfo,
      handler: (who, key) => {
        const info = minerAt(view, who, key).info()
        return {
          ...info,
          newWorker: info.pendingWorkerKey?.newWorker ?? UNDEF_ADDRESS,
          workerChangeEpoch: info.pendingWorkerKey?.effectiveAt ?? -1,
        }
      },
    }),
    method({
      ...stateMinerPower,
      handler: (who, key) => minerPower(view, view.stateBefore(loadTipset(view, key)), who),
    }),
    listMethod({
      ...stateListMiners,
      list: (key) => {
        const tree = view.stateBefore(loadTipset(view, key))
        return listing(address, () => listMiners(view, tree))
      },
    }),
    method({
      ...stateMinerAvailableBalance,
      handler: (who, key) => {
        const miner = minerAt(view, who, key)
        return miner.availableBalance() + miner.vestedFunds(loadTipset(view, key).height)
      },
    }),
    method({
      ...minerGetBaseInfo,
      handler: (who, epoch, key, { signal }) =>
        miningBase(
          view,
          baseTipset(view, key),
          epoch,
          who,
          async (tipset) => (await vm.tipsetState(tipset, signal)).stateRoot,
        ),
    }),
    method({
      ...minerCreateBlock,
      handler: async (template) => {
        if (template === null) throw nilPointer('Filecoin.MinerCreateBlock')
        const { header, messages } = await createBlock(template, view, urgentVm(vm, URGENCY.chain), signBlock)
        const bls = messages.filter((signedMessage) => signedMessage.signature.type === SIGNATURE_BLS)
        const signed = messages.filter((signedMessage) => signedMessage.signature.type !== SIGNATURE_BLS)
        return toBlockMsg({ header, messages: { bls: bls.map((signedMessage) => signedMessage.message), signed } })
      },
    }),
  ]
}

function deadlineMethods(view: ChainView): MethodRow[] {
  return [
    method({
      ...stateMinerDeadlines,
      handler: (who, key) => {
        const miner = minerAt(view, who, key)
        return miner.deadlines().map((deadline) => ({
          postSubmissions: deadline.partitionsPoSted,
          disputableProofCount: miner.disputableProofs(deadline),
          dailyFee: deadline.dailyFee ?? 0n,
        }))
      },
    }),
    method({
      ...stateMinerProvingDeadline,
      handler: (who, key) => {
        const { provingPeriodStart, currentDeadline } = minerAt(view, who, key).state
        return nextNotElapsed(deadlineInfo(provingPeriodStart, currentDeadline, loadTipset(view, key).height))
      },
    }),
    method({
      ...stateMinerPartitions,
      handler: (who, index, key) => {
        const miner = minerAt(view, who, key)
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

function* unionSteps(miner: MinerActor, pick: (partition: Partition) => BitField): Steps<BitField> {
  return unionAll(yield* miner.partitionSteps(pick))
}

/** Which they are is known when all partitions were read. */
function* eachActive(miner: MinerActor): Generator<SectorOnChainInfo | BlockMissing | undefined, void> {
  const steps = unionSteps(miner, activeSectors)
  let step = steps.next()
  for (; step.done !== true; step = steps.next()) yield undefined
  yield* miner.eachSector(step.value)
}

function* countSteps(miner: MinerActor): Steps<{ live: number; active: number; faulty: number }> {
  const counts = yield* miner.partitionSteps((partition) => [
    liveSectors(partition).count,
    activeSectors(partition).count,
    partition.faults.count,
  ])
  const sum = (at: number): number => counts.reduce((total, count) => total + (count[at] as number), 0)
  return { live: sum(0), active: sum(1), faulty: sum(2) }
}

function sectorMethods(view: ChainView): MethodRow[] {
  return [
    method({
      ...stateMinerFaults,
      handler: (who, key, { walk }) => walk(unionSteps(minerAt(view, who, key), ({ faults }) => faults)),
    }),
    method({
      ...stateMinerRecoveries,
      handler: (who, key, { walk }) => walk(unionSteps(minerAt(view, who, key), ({ recoveries }) => recoveries)),
    }),
    listMethod({
      ...stateMinerActiveSectors,
      list: (who, key) => {
        const miner = minerAt(view, who, key)
        return listing(sectorOnChainInfo, () => eachActive(miner))
      },
    }),
    listMethod({
      ...stateMinerSectors,
      list: (who, numbers, key) => {
        const miner = minerAt(view, who, key)
        return listing(sectorOnChainInfo, () => miner.eachSector(numbers ?? undefined))
      },
    }),
    method({
      ...stateMinerSectorCount,
      handler: (who, key, { walk }) => walk(countSteps(plainMinerAt(view, who, key))),
    }),
    method({
      ...stateMinerAllocated,
      handler: (who, key) => plainMinerAt(view, who, key).allocatedSectors(),
    }),
    method({
      ...stateMinerSectorAllocated,
      handler: (who, number, key) => minerAt(view, who, key).allocatedSectors().has(number),
    }),
  ]
}
