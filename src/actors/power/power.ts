/**
 * The power actor: who has how much of it, and the clock that drives miners.
 * @see builtin-actors v18 actors/power/src/lib.rs
 */
import { bigInt } from '../../codec/bigInteger.ts'
import type { Codec } from '../../codec/codec.ts'
import { encode, int, tuple } from '../../codec/description.ts'
import { execParams, execReturn } from '../../state/params/init.ts'
import { deferredCronEventParams } from '../../state/params/miner/upkeep.ts'
import {
  type CreateMinerParams,
  type CreateMinerReturn,
  type CurrentTotalPowerReturn,
  createMinerParams,
  createMinerReturn,
  currentTotalPowerReturn,
  type EnrollCronEventParams,
  enrollCronEventParams,
  type MinerRawPowerReturn,
  minerConstructorParams,
  minerRawPowerReturn,
  type UpdateClaimedPowerParams,
  updateClaimedPowerParams,
} from '../../state/params/power.ts'
import { type ThisEpochRewardReturn, thisEpochRewardReturn } from '../../state/params/reward.ts'
import { type CronEvent, type PowerState, powerState } from '../../state/power.ts'
import type { FilterEstimate } from '../../state/scalars.ts'
import { type Address, idAddress } from '../../types/address.ts'
import { Exit } from '../../types/exitCodes.ts'
import { InitMethod, MinerMethod, RewardMethod } from '../../types/methodNumbers.ts'
import { actorId, type TokenAmount, tokenAmount } from '../../types/scalars.ts'
import { CRON_ID, INIT_ADDRESS, REWARD_ADDRESS } from '../../types/singletons.ts'
import { ActorType } from '../actorType.ts'
import { cborBlock, readBlock } from '../blocks.ts'
import { action, call, command, type NativeActor, nativeActor, query } from '../dispatch.ts'
import { ActorError } from '../errors.ts'
import { nextEstimate } from '../filterEstimate.ts'
import type { ActorsPolicy } from '../policy.ts'
import { powerOrNull } from '../reward/reward.ts'
import type { Runtime } from '../runtime.ts'
import {
  addToClaim,
  CONSENSUS_MINER_MIN_MINERS,
  currentTotalPower,
  deleteClaim,
  loadClaims,
  setClaim,
} from './claims.ts'
import { CronEvents } from './cronEvents.ts'

interface MinerPowerReturn {
  readonly rawBytePower: bigint
  readonly qualityAdjPower: bigint
}

const minerPowerReturn: Codec<MinerPowerReturn> = tuple<MinerPowerReturn>('power.MinerPowerReturn', [
  ['rawBytePower', 'RawBytePower', bigInt],
  ['qualityAdjPower', 'QualityAdjPower', bigInt],
])

function callerAddress(runtime: Runtime): Address {
  return idAddress(runtime.caller)
}

/** A read of the state that anybody may make. */
function readState(runtime: Runtime): PowerState {
  runtime.validateCallerAny()
  return runtime.state(powerState)
}

/** @returns the new miner's addresses, as the init actor gave them */
function createMiner(policy: ActorsPolicy): (runtime: Runtime, params: CreateMinerParams) => CreateMinerReturn {
  return (runtime, params) => {
    runtime.validateCallerAny()
    const { windowPoStProofType } = params
    const { owner, worker, peer, multiaddrs } = params
    const constructorParams = encode(minerConstructorParams, {
      ownerAddr: owner,
      workerAddr: worker,
      controlAddrs: [],
      windowPoStProofType,
      peerId: peer,
      multiaddrs,
    })
    const code = runtime.codeForType(ActorType.storageminer)
    const exec = cborBlock(execParams, { codeCid: code, constructorParams })
    const answer = runtime.send(INIT_ADDRESS, InitMethod.Exec, exec, runtime.message.valueReceived)
    if (answer === undefined) throw new ActorError(Exit.USR_ASSERTION_FAILED, 'return expected')
    const created = readBlock(execReturn, answer)
    runtime.transaction(powerState, (state) => {
      const claims = loadClaims(runtime, state)
      setClaim(claims, created.idAddress, { windowPoStProofType, rawBytePower: 0n, qualityAdjPower: 0n })
      const above = policy.minimumConsensusPower > 0n ? 0 : 1
      const minerAboveMinPowerCount = state.minerAboveMinPowerCount + above
      const minerCount = state.minerCount + 1
      return { state: { ...state, minerCount, minerAboveMinPowerCount, claims: claims.flush() }, result: undefined }
    })
    return created
  }
}

function updateClaimedPower(policy: ActorsPolicy): (runtime: Runtime, params: UpdateClaimedPowerParams) => void {
  return (runtime, params) => {
    runtime.validateCallerType(ActorType.storageminer)
    runtime.transaction(powerState, (state) => {
      const claims = loadClaims(runtime, state)
      const next = addToClaim(
        state,
        claims,
        callerAddress(runtime),
        params.rawByteDelta,
        params.qualityAdjustedDelta,
        policy.minimumConsensusPower,
      )
      return { state: { ...next, claims: claims.flush() }, result: undefined }
    })
  }
}

function enrollCronEvent(runtime: Runtime, params: EnrollCronEventParams): void {
  runtime.validateCallerType(ActorType.storageminer)
  const { eventEpoch } = params
  if (eventEpoch < 0) {
    throw new ActorError(Exit.USR_ILLEGAL_ARGUMENT, `cron event epoch ${eventEpoch} cannot be less than zero`)
  }
  runtime.transaction(powerState, (state) => {
    const events = new CronEvents(runtime, state.cronEventQueue)
    events.add(eventEpoch, { minerAddr: callerAddress(runtime), callbackPayload: params.payload })
    const firstCronEpoch = Math.min(state.firstCronEpoch, eventEpoch)
    return { state: { ...state, firstCronEpoch, cronEventQueue: events.flush() }, result: undefined }
  })
}

function onEpochTickEnd(policy: ActorsPolicy): (runtime: Runtime) => void {
  return (runtime) => {
    runtime.validateCallerIs(CRON_ID)
    const answer = runtime.send(REWARD_ADDRESS, RewardMethod.ThisEpochReward, undefined, 0n)
    if (answer === undefined) throw new ActorError(Exit.USR_ASSERTION_FAILED, 'return expected')
    processDeferredCronEvents(runtime, readBlock(thisEpochRewardReturn, answer), policy)
    const power = runtime.transaction(powerState, (state) => {
      const { raw, qualityAdjusted } = currentTotalPower(state)
      runtime.gas.add('powerEstimate')
      return {
        state: {
          ...state,
          thisEpochPledgeCollateral: state.totalPledgeCollateral,
          thisEpochQualityAdjPower: qualityAdjusted,
          thisEpochRawBytePower: raw,
          thisEpochQaPowerSmoothed: nextEstimate(state.thisEpochQaPowerSmoothed, qualityAdjusted, 1),
        },
        result: raw,
      }
    })
    runtime.send(REWARD_ADDRESS, RewardMethod.UpdateNetworkKPI, cborBlock(powerOrNull, power), 0n)
  }
}

function processDeferredCronEvents(runtime: Runtime, reward: ThisEpochRewardReturn, policy: ActorsPolicy): void {
  const { epoch } = runtime
  const before = runtime.state(powerState)
  const due: CronEvent[] = []
  runtime.transaction(powerState, (state) => {
    const events = new CronEvents(runtime, state.cronEventQueue)
    const claims = loadClaims(runtime, state)
    for (let at = state.firstCronEpoch; at <= epoch; at++) {
      const found = events.at(at)
      if (found.length === 0) continue
      for (const event of found) if (claims.has(event.minerAddr.bytes)) due.push(event)
      events.removeAll(at)
    }
    return { state: { ...state, firstCronEpoch: epoch + 1, cronEventQueue: events.flush() }, result: undefined }
  })
  const failed = due.filter((event) => !callMiner(runtime, event, reward, before.thisEpochQaPowerSmoothed))
  if (failed.length > 0) dropFailedMiners(runtime, failed, policy)
}

/** @returns whether the miner took it */
function callMiner(
  runtime: Runtime,
  event: CronEvent,
  reward: ThisEpochRewardReturn,
  qualityAdjPowerSmoothed: FilterEstimate,
): boolean {
  const params = cborBlock(deferredCronEventParams, {
    eventPayload: event.callbackPayload,
    rewardSmoothed: reward.thisEpochRewardSmoothed,
    qualityAdjPowerSmoothed,
  })
  try {
    runtime.send(event.minerAddr, MinerMethod.OnDeferredCronEvent, params, 0n)
    return true
  } catch (error) {
    if (error instanceof ActorError) return false
    throw error
  }
}

/** A miner whose callback failed loses its power and is called no more. */
function dropFailedMiners(runtime: Runtime, failed: readonly CronEvent[], policy: ActorsPolicy): void {
  runtime.transaction(powerState, (before) => {
    const claims = loadClaims(runtime, before)
    let state = before
    for (const event of failed) {
      try {
        state = deleteClaim(state, claims, event.minerAddr, policy.minimumConsensusPower)
      } catch (error) {
        if (!(error instanceof ActorError)) throw error
        continue
      }
      state = { ...state, minerCount: state.minerCount - 1 }
    }
    return { state: { ...state, claims: claims.flush() }, result: undefined }
  })
}

function updatePledgeTotal(runtime: Runtime, delta: TokenAmount): void {
  runtime.validateCallerType(ActorType.storageminer)
  runtime.transaction(powerState, (state) => {
    if (!loadClaims(runtime, state).has(callerAddress(runtime).bytes)) {
      throw new ActorError(
        Exit.USR_FORBIDDEN,
        `unknown miner f0${runtime.caller} forbidden to interact with power actor`,
      )
    }
    const totalPledgeCollateral = state.totalPledgeCollateral + delta
    if (totalPledgeCollateral < 0n) {
      throw new ActorError(Exit.USR_ILLEGAL_STATE, `negative total pledge collateral ${totalPledgeCollateral}`)
    }
    return { state: { ...state, totalPledgeCollateral }, result: undefined }
  })
}

function totalPower(runtime: Runtime): CurrentTotalPowerReturn {
  const state = readState(runtime)
  return {
    rawBytePower: state.thisEpochRawBytePower,
    qualityAdjPower: state.thisEpochQualityAdjPower,
    pledgeCollateral: state.thisEpochPledgeCollateral,
    qualityAdjPowerSmoothed: state.thisEpochQaPowerSmoothed,
    rampStartEpoch: state.rampStartEpoch,
    rampDurationEpochs: state.rampDurationEpochs,
  }
}

function minerRawPower(policy: ActorsPolicy): (runtime: Runtime, miner: bigint) => MinerRawPowerReturn {
  return (runtime, miner) => {
    const state = readState(runtime)
    const found = loadClaims(runtime, state).get(idAddress(miner).bytes)
    if (found === undefined) throw new ActorError(Exit.USR_ILLEGAL_ARGUMENT, `no claim for actor: ${miner}`)
    const { rawBytePower } = found
    const meetsConsensusMinimum =
      rawBytePower >= policy.minimumConsensusPower ||
      (state.minerAboveMinPowerCount < CONSENSUS_MINER_MIN_MINERS && rawBytePower > 0n)
    return { rawBytePower, meetsConsensusMinimum }
  }
}

function minerPower(runtime: Runtime, miner: bigint): MinerPowerReturn {
  const state = readState(runtime)
  const found = loadClaims(runtime, state).get(idAddress(miner).bytes)
  if (found === undefined) throw new ActorError(Exit.USR_NOT_FOUND, 'miner not found')
  return { rawBytePower: found.rawBytePower, qualityAdjPower: found.qualityAdjPower }
}

/** The power actor's methods. */
export function createPowerActor(policy: ActorsPolicy): NativeActor {
  const create = call(createMinerParams, createMinerReturn, createMiner(policy))
  return nativeActor(
    'storagepower',
    {
      CreateMiner: create,
      CreateMinerExported: create,
      UpdateClaimedPower: command(updateClaimedPowerParams, updateClaimedPower(policy)),
      EnrollCronEvent: command(enrollCronEventParams, enrollCronEvent),
      CronTick: action(onEpochTickEnd(policy)),
      UpdatePledgeTotal: command(tokenAmount, updatePledgeTotal),
      CurrentTotalPower: query(currentTotalPowerReturn, totalPower),
      NetworkRawPowerExported: query(bigInt, (runtime) => readState(runtime).thisEpochRawBytePower),
      MinerRawPowerExported: call(actorId, minerRawPowerReturn, minerRawPower(policy)),
      MinerCountExported: query(int, (runtime) => readState(runtime).minerCount),
      MinerConsensusCountExported: query(int, (runtime) => readState(runtime).minerAboveMinPowerCount),
    },
    {},
    { MinerPower: call(actorId, minerPowerReturn, minerPower) },
  )
}
