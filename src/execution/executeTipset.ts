/**
 * Executes a tipset: null rounds, migrations, messages, rewards, cron, receipts.
 * @see lotus chain/consensus/compute_state.go ApplyBlocks, ExecuteTipSet
 */
import type { BlockMessages } from '../chain/blockMessages.ts'
import { ChainError } from '../chain/errors.ts'
import { selectMessages } from '../chain/tipsetMessages.ts'
import type { Cid } from '../codec/cid.ts'
import { encode } from '../codec/description.ts'
import { type ApplyResult, Executor } from '../fvm/executor.ts'
import type { Externs } from '../fvm/externs.ts'
import type { CodeLoader } from '../fvm/kernel/kernel.ts'
import type { MachineContext, MachineDeps, RunBounds, Tracing } from '../fvm/machine.ts'
import { MachineState } from '../fvm/machineState.ts'
import type { ProofVerifier } from '../fvm/proofVerifier.ts'
import { ReceiptProofs } from '../fvm/receiptProofs.ts'
import { amtOf } from '../ipld/amt.ts'
import type { Blockstore } from '../ipld/blockstore.ts'
import { type Network, networkVersionAt, upgradeHeight } from '../networks/network.ts'
import { awardBlockRewardParams } from '../state/params/reward.ts'
import { type Address, idAddress, isIdAddress } from '../types/address.ts'
import { type ChainMessage, chainMessageCid, chainMessageLength } from '../types/chainMessage.ts'
import { type Message, messageCid } from '../types/message.ts'
import { CronMethod, RewardMethod } from '../types/methodNumbers.ts'
import { type Receipt, receiptV0, receiptV1 } from '../types/receipt.ts'
import type { ChainEpoch, TokenAmount } from '../types/scalars.ts'
import { CRON_ADDRESS, REWARD_ADDRESS, SYSTEM_ADDRESS } from '../types/singletons.ts'
import { firstBlock, repeatedMiner, type Tipset } from '../types/tipset.ts'
import { circulatingSupply } from './circulatingSupply.ts'
import { migrateState } from './migrations/migrateState.ts'

/** Gas limit of every implicit message. @see lotus chain/vm/fvm.go ApplyImplicitMessage */
export const IMPLICIT_GAS_LIMIT: bigint = (1n << 62n) - 1n
/** Receipts have an events root from here on. */
const EVENTS_VERSION = 18
const RECEIPTS_LIST = { v0: true }

/** What execution needs besides the tipset. Everything is synchronous; a missing block throws `BlockMissing`. */
export interface ExecutionDeps {
  readonly network: Network
  /** Unix time of genesis, seconds. */
  readonly genesisTimestamp: number
  /** Read from and written to; with the actors' manifests in it where a migration needs them. */
  readonly store: Blockstore
  readonly externs: Externs
  readonly proofs: ProofVerifier
  readonly loadCode: CodeLoader
  /** See {@link MachineDeps.checkpoint}. */
  readonly checkpoint?: (() => void) | undefined
  /** Default: none. */
  readonly bounds?: RunBounds | undefined
}

/** The tipset to execute, and what it stands on. */
export interface TipsetInput {
  readonly tipset: Tipset
  readonly parentEpoch: ChainEpoch
  /** State that the parent tipset left: the headers' ParentStateRoot. */
  readonly parentState: Cid
  /** Of each block in tipset order, nothing left out. */
  readonly messages: readonly BlockMessages[]
  readonly tracing: Tracing
  /** What the chain says of the messages, in order; proofs are judged by it where they cannot be verified. */
  readonly expectedReceipts?: readonly Receipt[]
}

/** A message that was applied. */
export interface AppliedMessage {
  /** CID in the block: of the signed message unless BLS. */
  readonly cid: Cid
  readonly message: Message
  readonly isImplicit: boolean
  readonly result: ApplyResult
}

/** What the tipset's children must name: the roots of its state and of its receipts. */
export interface TipsetResult {
  readonly stateRoot: Cid
  readonly receiptsRoot: Cid
  /** Of explicit messages, in order. */
  readonly receipts: readonly Receipt[]
}

/** Hears of every message in order, implicit ones included; true ends the execution there. */
export type MessageListener = (applied: AppliedMessage) => boolean | undefined

/** An implicit message from the system actor. */
export function implicitMessage(to: Address, method: bigint, epoch: ChainEpoch, params: Uint8Array): Message {
  return {
    version: 0,
    to,
    from: SYSTEM_ADDRESS,
    nonce: BigInt(epoch),
    value: 0n,
    gasLimit: IMPLICIT_GAS_LIMIT,
    gasFeeCap: 0n,
    gasPremium: 0n,
    method,
    params,
  }
}

/**
 * A machine for one epoch.
 * @param state - root to start from
 */
export function createExecutor(
  deps: ExecutionDeps & Pick<MachineDeps, 'events'>,
  state: Cid,
  epoch: ChainEpoch,
  timestamp: number,
  baseFee: TokenAmount,
  tracing: Tracing,
): Executor {
  const tree = new MachineState(deps.store, state)
  const supply = circulatingSupply(deps.network, epoch, { store: deps.store, getActor: (id) => tree.getActor(id) })
  const context: MachineContext = {
    networkVersion: networkVersionAt(deps.network, epoch),
    epoch,
    timestamp,
    baseFee,
    circulatingSupply: supply.filCirculating,
    chainId: BigInt(deps.network.chainId),
    stateRoot: state,
    tracing,
    actorDebugging: deps.network.actorDebugging,
  }
  return new Executor(context, deps)
}

/** Thrown inside to end an execution early. */
class Stopped extends ChainError {}

class TipsetExecution {
  readonly #deps: ExecutionDeps
  readonly #listener: MessageListener | undefined

  constructor(deps: ExecutionDeps, listener: MessageListener | undefined) {
    this.#deps = deps
    this.#listener = listener
  }

  applyImplicit(executor: Executor, message: Message, what: string): void {
    const result = executor.applyMessage(message, 'implicit', 0)
    this.#tell({ cid: messageCid(message), message, isImplicit: true, result })
    if (result.receipt.exitCode !== 0) {
      throw new ChainError(
        'IMPLICIT_MESSAGE_FAILED',
        `${what} failed with exit code ${result.receipt.exitCode}: ${result.error}`,
      )
    }
  }

  applyExplicit(executor: Executor, entry: ChainMessage, expected: Receipt | undefined): ApplyResult {
    const { message } = entry
    const { proofs } = this.#deps
    const length = chainMessageLength(entry)
    const result =
      proofs instanceof ReceiptProofs
        ? proofs.apply(executor, message, 'explicit', length, expected)
        : executor.applyMessage(message, 'explicit', length)
    this.#tell({ cid: chainMessageCid(entry), message, isImplicit: false, result })
    return result
  }

  #tell(applied: AppliedMessage): void {
    if (this.#listener?.(applied) === true) throw new Stopped('NOT_FOUND', 'execution was stopped')
  }

  runCron(executor: Executor, epoch: ChainEpoch): void {
    this.applyImplicit(executor, implicitMessage(CRON_ADDRESS, CronMethod.EpochTick, epoch, new Uint8Array(0)), 'cron')
  }

  /** Null rounds and migrations between the parent and the tipset. @returns the state that the messages start from */
  prepare(input: TipsetInput): Cid {
    const { network, store, genesisTimestamp } = this.#deps
    const { tipset, parentEpoch } = input
    const baseFee = firstBlock(tipset).parentBaseFee
    let state = input.parentState
    for (let epoch = parentEpoch; epoch < tipset.height; epoch++) {
      if (epoch > parentEpoch) {
        const timestamp = genesisTimestamp + network.blockDelaySecs * epoch
        const executor = createExecutor(this.#deps, state, epoch, timestamp, baseFee, input.tracing)
        this.runCron(executor, epoch)
        state = executor.flush()
      }
      state = migrateState(network, store, state, epoch)
    }
    return state
  }

  /** The tipset's own messages, rewards and cron. */
  run(input: TipsetInput, executor: Executor): Receipt[] {
    const { tipset } = input
    const { network } = this.#deps
    const hyperdrive = upgradeHeight(network, 'Hyperdrive') ?? 0
    const resolve = (from: Address): Address => resolveSender(executor, from)
    const selected = selectMessages(tipset, input.messages, resolve, hyperdrive)
    const receipts: Receipt[] = []
    const applied = new Set<string>()
    for (let i = 0; i < tipset.blocks.length; i++) {
      let penalty = 0n
      let gasReward = 0n
      const block = selected[i]
      if (block === undefined) throw new ChainError('TIPSET_INVALID', `Cannot execute: no messages given of block ${i}`)
      for (const entry of [...block.bls, ...block.signed]) {
        const key = messageCid(entry.message).key
        if (applied.has(key)) continue
        const expected = input.expectedReceipts?.[receipts.length]
        const { receipt, gas } = this.applyExplicit(executor, entry, expected)
        receipts.push(receipt)
        gasReward += gas.minerTip
        penalty += gas.minerPenalty
        applied.add(key)
      }
      const header = tipset.blocks[i]
      if (header === undefined) continue
      const winCount = BigInt(header.electionProof?.winCount ?? 0)
      const params = encode(awardBlockRewardParams, { miner: header.miner, penalty, gasReward, winCount })
      const award = implicitMessage(REWARD_ADDRESS, RewardMethod.AwardBlockReward, tipset.height, params)
      this.applyImplicit(executor, award, 'reward application')
    }
    this.runCron(executor, tipset.height)
    return receipts
  }
}

/** The ID address of a sender in the state before the messages. */
function resolveSender(executor: Executor, from: Address): Address {
  if (isIdAddress(from)) return from
  const id = executor.machine.state.lookupId(from)
  if (id === undefined) throw new ChainError('ACTOR_NOT_FOUND', `Cannot execute: sender ${from} does not exist`)
  return idAddress(id)
}

/**
 * Executes a tipset and writes its state, receipts and events.
 * @param listener - hears every message; when it returns true nothing more is executed or written. Who listens wants no events written
 * @returns undefined when the listener ended it
 * @throws BlockMissing; VmError; ChainError `TIPSET_INVALID` for two blocks of one miner, `IMPLICIT_MESSAGE_FAILED`,
 *   `MIGRATION_NOT_SUPPORTED`
 */
export function executeTipset(
  deps: ExecutionDeps,
  input: TipsetInput,
  listener?: MessageListener,
): TipsetResult | undefined {
  const execution = new TipsetExecution(deps, listener)
  const { tipset } = input
  const repeated = repeatedMiner(tipset)
  if (repeated !== undefined) {
    throw new ChainError('TIPSET_INVALID', `Cannot execute: duplicate miner in a tipset (${repeated})`)
  }
  const block = firstBlock(tipset)
  try {
    const state = execution.prepare(input)
    const own = listener === undefined ? { ...deps, events: deps.store } : deps
    const executor = createExecutor(own, state, tipset.height, block.timestamp, block.parentBaseFee, input.tracing)
    const receipts = execution.run(input, executor)
    const form = networkVersionAt(deps.network, tipset.height) >= EVENTS_VERSION ? receiptV1 : receiptV0
    const receiptsRoot = amtOf(deps.store, form, receipts, RECEIPTS_LIST)
    return { stateRoot: executor.flush(), receiptsRoot, receipts }
  } catch (error) {
    if (error instanceof Stopped) return undefined
    throw error
  }
}
