/**
 * A new miner: its deposit, who controls it, its empty state.
 * @see builtin-actors v18 actors/miner/src/lib.rs constructor, calculate_create_miner_deposit, resolve_worker_address
 */
import { minerInfo, minerState } from '../../state/miner.ts'
import { currentTotalPowerReturn, type MinerConstructorParams } from '../../state/params/power.ts'
import { thisEpochRewardReturn } from '../../state/params/reward.ts'
import { type Address, address, idAddress, PROTOCOL_BLS } from '../../types/address.ts'
import { Exit } from '../../types/exitCodes.ts'
import { AccountMethod, PowerMethod, RewardMethod } from '../../types/methodNumbers.ts'
import type { ActorId, ExitCode, TokenAmount } from '../../types/scalars.ts'
import { INIT_ID, POWER_ADDRESS, REWARD_ADDRESS } from '../../types/singletons.ts'
import { ActorType } from '../actorType.ts'
import { readBlock } from '../blocks.ts'
import { ActorError, type ExitData } from '../errors.ts'
import type { ActorsPolicy } from '../policy.ts'
import type { Runtime } from '../runtime.ts'
import { newMinerInfo, newMinerState } from './newMiner.ts'
import { initialPledgeForPower } from './pledge.ts'
import { provingPeriodStart } from './provingPeriod.ts'
import { addLockedFunds, REWARD_VESTING_SPEC } from './vestingFunds.ts'

const MAX_CONTROL_ADDRESSES = 10
const MAX_PEER_ID_LENGTH = 128
const MAX_MULTIADDR_DATA = 1024
/** The deposit is that for this part of the consensus minimum. */
const DEPOSIT_DIVISOR = 10n

function fail(code: ExitCode, message: string): never {
  throw new ActorError(code, message)
}

function returned(data: ExitData | undefined): ExitData {
  return data ?? fail(Exit.USR_ASSERTION_FAILED, 'return expected')
}

function check(
  { controlAddrs, peerId, multiaddrs, windowPoStProofType }: MinerConstructorParams,
  policy: ActorsPolicy,
): void {
  if (controlAddrs.length > MAX_CONTROL_ADDRESSES) {
    fail(
      Exit.USR_ILLEGAL_ARGUMENT,
      `control addresses length ${controlAddrs.length} exceeds max control addresses length ${MAX_CONTROL_ADDRESSES}`,
    )
  }
  if (peerId.length > MAX_PEER_ID_LENGTH) {
    fail(Exit.USR_ILLEGAL_ARGUMENT, `peer ID size of ${peerId.length} exceeds maximum size of ${MAX_PEER_ID_LENGTH}`)
  }
  let total = 0
  for (const multiaddr of multiaddrs) {
    if (multiaddr.length === 0) fail(Exit.USR_ILLEGAL_ARGUMENT, 'invalid empty multiaddr')
    total += multiaddr.length
  }
  if (total > MAX_MULTIADDR_DATA) {
    fail(Exit.USR_ILLEGAL_ARGUMENT, `multiaddr size of ${total} exceeds maximum of ${MAX_MULTIADDR_DATA}`)
  }
  if (!policy.windowPoStProofs.includes(windowPoStProofType)) {
    fail(Exit.USR_ILLEGAL_ARGUMENT, `proof type ${windowPoStProofType} not allowed for new miner actors`)
  }
}

function deposit(runtime: Runtime, policy: ActorsPolicy): TokenAmount {
  const reward = readBlock(
    thisEpochRewardReturn,
    returned(runtime.send(REWARD_ADDRESS, RewardMethod.ThisEpochReward, undefined, 0n)),
  )
  const power = readBlock(
    currentTotalPowerReturn,
    returned(runtime.send(POWER_ADDRESS, PowerMethod.CurrentTotalPower, undefined, 0n)),
  )
  runtime.gas.add('pledge')
  return initialPledgeForPower(policy.minimumConsensusPower / DEPOSIT_DIVISOR, {
    baselinePower: reward.thisEpochBaselinePower,
    reward: reward.thisEpochRewardSmoothed,
    networkPower: power.qualityAdjPowerSmoothed,
    circulatingSupply: runtime.totalFilCircSupply(),
    epochsSinceRampStart: runtime.epoch - power.rampStartEpoch,
    rampDuration: power.rampDurationEpochs,
  })
}

/** A worker's key must be BLS: it is used for the VRF as well. */
function resolveWorker(runtime: Runtime, raw: Address): ActorId {
  const id = runtime.resolveAddress(raw)
  if (id === undefined) fail(Exit.USR_ILLEGAL_ARGUMENT, `unable to resolve address: ${raw.toString()}`)
  const code = runtime.actorCode(id)
  if (code === undefined) fail(Exit.USR_ILLEGAL_ARGUMENT, `no code for address: ${id}`)
  if (runtime.builtinType(code) !== ActorType.account) {
    fail(Exit.USR_ILLEGAL_ARGUMENT, `worker actor type must be an account, was ${code.toString()}`)
  }
  if (raw.protocol !== PROTOCOL_BLS) {
    const key = readBlock(address, returned(runtime.send(idAddress(id), AccountMethod.PubkeyAddress, undefined, 0n)))
    if (key.protocol !== PROTOCOL_BLS) {
      fail(Exit.USR_ILLEGAL_ARGUMENT, `worker account ${id} must have BLS pubkey, was ${key.protocol}`)
    }
  }
  return id
}

/** The miner actor's constructor. */
export function minerConstructor(policy: ActorsPolicy): (runtime: Runtime, params: MinerConstructorParams) => void {
  return (runtime, params) => {
    runtime.validateCallerIs(INIT_ID)
    check(params, policy)
    const balance = runtime.currentBalance()
    const locked = deposit(runtime, policy)
    if (balance < locked) {
      fail(
        Exit.USR_INSUFFICIENT_FUNDS,
        `not enough balance to lock for create miner deposit: sent balance ${balance} < deposit ${locked}`,
      )
    }
    const owner = runtime.resolveAddress(params.ownerAddr)
    if (owner === undefined) {
      fail(Exit.USR_ILLEGAL_ARGUMENT, `unable to resolve owner address: ${params.ownerAddr.toString()}`)
    }
    const worker = idAddress(resolveWorker(runtime, params.workerAddr))
    const controlAddresses = params.controlAddrs.map((control) => {
      const id = runtime.resolveAddress(control)
      return id === undefined
        ? fail(Exit.USR_ILLEGAL_ARGUMENT, `unable to resolve control address: ${control.toString()}`)
        : idAddress(id)
    })
    const { epoch } = runtime
    const self = idAddress(runtime.message.receiver)
    const periodStart = provingPeriodStart(self, epoch, (data) => runtime.hashBlake2b(data))
    const info = newMinerInfo({ ...params, owner: idAddress(owner), worker, controlAddresses })
    if (info === undefined) fail(Exit.USR_ILLEGAL_ARGUMENT, `invalid sector size: unsupported proof type`)
    const state = newMinerState(runtime, runtime.putCbor(minerInfo, info), periodStart, epoch)
    const { funds } = addLockedFunds(runtime, null, epoch, locked, periodStart, REWARD_VESTING_SPEC)
    runtime.create(minerState, { ...state, vestingFunds: funds, lockedFunds: locked })
  }
}
