/**
 * The miner actor, as far as block production touches it: its making, rewards, who controls it. Sectors, proofs and
 * withdrawals are in the actors bundle only.
 * @see builtin-actors v18 actors/miner/src/lib.rs
 */

import { floorDivide } from '../../base/floorDivision.ts'
import { type MinerInfo, type MinerState, minerInfo, minerState } from '../../state/miner.ts'
import { type GetControlAddressesReturn, getControlAddressesReturn } from '../../state/params/miner/control.ts'
import { type ApplyRewardParams, applyRewardParams } from '../../state/params/miner/upkeep.ts'
import { minerConstructorParams } from '../../state/params/power.ts'
import { Exit } from '../../types/exitCodes.ts'
import { METHOD_SEND, PowerMethod } from '../../types/methodNumbers.ts'
import { type ExitCode, type TokenAmount, tokenAmount } from '../../types/scalars.ts'
import { BURNT_FUNDS_ADDRESS, POWER_ADDRESS, REWARD_ID } from '../../types/singletons.ts'
import { cborBlock } from '../blocks.ts'
import { command, type NativeActor, nativeActor, query } from '../dispatch.ts'
import { ActorError } from '../errors.ts'
import type { ActorsPolicy } from '../policy.ts'
import type { Runtime } from '../runtime.ts'
import { minerConstructor } from './constructor.ts'
import { addLockedFunds, REWARD_VESTING_SPEC, unlockVestedAndUnvested } from './vestingFunds.ts'

/** Share of a reward that is locked. */
const LOCKED_REWARD_NUMERATOR = 3n
const LOCKED_REWARD_DENOMINATOR = 4n
/** Pages of memory that the Wasm actor starts with. */
const PAGES = 18
/** @see builtin-actors v18 actors/miner/src/lib.rs ERR_BALANCE_INVARIANTS_BROKEN */
const ERR_BALANCE_INVARIANTS_BROKEN = 1000

function fail(code: ExitCode, message: string): never {
  throw new ActorError(code, message)
}

function unlockedBalance(state: MinerState, balance: TokenAmount): TokenAmount {
  const unlocked = balance - state.lockedFunds - state.preCommitDeposits - state.initialPledge
  if (unlocked < 0n) fail(Exit.USR_ILLEGAL_STATE, `negative unlocked balance ${unlocked}`)
  return unlocked
}

function lock(runtime: Runtime, state: MinerState, amount: TokenAmount): { state: MinerState; vested: TokenAmount } {
  if (amount < 0n) fail(Exit.USR_ILLEGAL_STATE, `negative vesting sum ${amount}`)
  const { funds, vested } = addLockedFunds(
    runtime,
    state.vestingFunds,
    runtime.epoch,
    amount,
    state.provingPeriodStart,
    REWARD_VESTING_SPEC,
  )
  const remaining = state.lockedFunds - vested
  if (remaining < 0n) {
    fail(Exit.USR_ILLEGAL_STATE, `negative locked funds ${remaining} after unlocking ${vested}`)
  }
  return { state: { ...state, vestingFunds: funds, lockedFunds: remaining + amount }, vested }
}

interface Repayment {
  readonly state: MinerState
  readonly toBurn: TokenAmount
  /** Taken out of the vesting table, vested or not. */
  readonly unlocked: TokenAmount
}

function repayPartialDebt(runtime: Runtime, before: MinerState): Repayment {
  const balance = runtime.currentBalance()
  let state = before
  let unlocked = 0n
  if (state.feeDebt !== 0n && state.lockedFunds !== 0n) {
    const { funds, vested, unvested } = unlockVestedAndUnvested(
      runtime,
      state.vestingFunds,
      runtime.epoch,
      state.feeDebt,
    )
    unlocked = vested + unvested
    const lockedFunds = state.lockedFunds - unlocked
    if (lockedFunds < 0n) {
      fail(Exit.USR_ILLEGAL_STATE, `negative locked funds ${lockedFunds} after unlocking ${unlocked}`)
    }
    state = { ...state, vestingFunds: funds, lockedFunds }
  }
  const available = unlockedBalance(state, balance)
  let toBurn = state.feeDebt
  if (available < toBurn) toBurn = available
  return { state: { ...state, feeDebt: state.feeDebt - toBurn }, toBurn, unlocked }
}

function applyRewards(runtime: Runtime, params: ApplyRewardParams): void {
  if (params.reward < 0n) fail(Exit.USR_ILLEGAL_ARGUMENT, 'cannot lock up a negative amount of funds')
  if (params.penalty < 0n) fail(Exit.USR_ILLEGAL_ARGUMENT, 'cannot penalize a negative amount of funds')
  const { pledgeDelta, toBurn } = runtime.transaction(minerState, (before) => {
    runtime.validateCallerIs(REWARD_ID)
    const toLock = floorDivide(params.reward * LOCKED_REWARD_NUMERATOR, LOCKED_REWARD_DENOMINATOR)
    const available = unlockedBalance(before, runtime.currentBalance())
    if (available < toLock) {
      fail(Exit.USR_INSUFFICIENT_FUNDS, `insufficient funds to lock, available: ${available}, requested: ${toLock}`)
    }
    const locked = lock(runtime, before, toLock)
    const repaid = repayPartialDebt(runtime, { ...locked.state, feeDebt: locked.state.feeDebt + params.penalty })
    return {
      state: repaid.state,
      result: { pledgeDelta: toLock - locked.vested - repaid.unlocked, toBurn: repaid.toBurn },
    }
  })
  if (pledgeDelta !== 0n) {
    runtime.send(POWER_ADDRESS, PowerMethod.UpdatePledgeTotal, cborBlock(tokenAmount, pledgeDelta), 0n)
  }
  if (toBurn > 0n) runtime.send(BURNT_FUNDS_ADDRESS, METHOD_SEND, undefined, toBurn)
  const after = runtime.state(minerState)
  checkBalanceInvariants(after, runtime.currentBalance())
}

function checkBalanceInvariants(state: MinerState, balance: TokenAmount): void {
  const parts = [state.preCommitDeposits, state.lockedFunds, state.initialPledge]
  if ([...parts, state.feeDebt].some((part) => part < 0n)) {
    fail(ERR_BALANCE_INVARIANTS_BROKEN, 'a locked amount or the fee debt is negative')
  }
  const minimum = parts.reduce((sum, part) => sum + part, 0n)
  if (balance < minimum) fail(ERR_BALANCE_INVARIANTS_BROKEN, `balance ${balance} below minimum ${minimum}`)
}

function controlAddresses(runtime: Runtime): GetControlAddressesReturn {
  runtime.validateCallerAny()
  const state = runtime.state(minerState)
  const info: MinerInfo = runtime.getCbor(minerInfo, state.info)
  return { owner: info.owner, worker: info.worker, controlAddrs: info.controlAddresses }
}

/** The miner actor's native methods; the others are known by name. */
export function createMinerActor(policy: ActorsPolicy): NativeActor {
  return nativeActor(
    'storageminer',
    {
      Constructor: command(minerConstructorParams, minerConstructor(policy)),
      ControlAddresses: query(getControlAddressesReturn, controlAddresses),
      ApplyRewards: command(applyRewardParams, applyRewards),
    },
    { pages: PAGES },
  )
}
