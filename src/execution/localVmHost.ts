/**
 * The machine in this process.
 * @see lotus chain/stmgr/execute.go, call.go, utils.go ComputeState
 */
import { concatBytes, EMPTY_BYTES } from '../base/bytes.ts'
import { assertNever } from '../base/errors.ts'
import { Lru } from '../base/lru.ts'
import { accountKey } from '../chain/actorLookup.ts'
import type { ChainView } from '../chain/chainView.ts'
import { ChainError } from '../chain/errors.ts'
import { exitCodeName } from '../chain/exitCodeName.ts'
import { readReceipts } from '../chain/receipts.ts'
import { recordedState } from '../chain/recordedState.ts'
import {
  type CallOptions,
  type ComputeCall,
  type ComputeOutput,
  type InvocResult,
  type PrintedOutput,
  type ResultPrinter,
  type TipsetCall,
  type TipsetState,
  type VmCall,
  VmHost,
  type VmResult,
} from '../chain/vm.ts'
import { workerKeyAt } from '../chain/workerKey.ts'
import type { Cid } from '../codec/cid.ts'
import { withCommas } from '../codec/jsonWriter.ts'
import type { Executor } from '../fvm/executor.ts'
import type { RunBounds, Tracing } from '../fvm/machine.ts'
import type { ProofVerifier } from '../fvm/proofVerifier.ts'
import { ReceiptProofs } from '../fvm/receiptProofs.ts'
import { type Blockstore, OverlayBlockstore } from '../ipld/blockstore.ts'
import { upgradeHeight } from '../networks/network.ts'
import { type Address, PROTOCOL_DELEGATED, PROTOCOL_SECP256K1, UNDEF_ADDRESS } from '../types/address.ts'
import { type ChainMessage, chainMessageLength } from '../types/chainMessage.ts'
import { type Message, messageCid } from '../types/message.ts'
import { METHOD_SEND } from '../types/methodNumbers.ts'
import { BLOCK_GAS_LIMIT } from '../types/protocol.ts'
import type { Receipt } from '../types/receipt.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { SIGNATURE_DELEGATED, SIGNATURE_SECP256K1 } from '../types/signature.ts'
import { firstBlock, type Tipset, tipsetKeyText } from '../types/tipset.ts'
import { boundedTraces, CALL_BOUNDS, callCheckpoint, TRACE_BOUNDS } from './callBounds.ts'
import { ChainExterns } from './chainExterns.ts'
import type { CodeLoaders } from './codeLoaders.ts'
import {
  createExecutor,
  type ExecutionDeps,
  executeTipset,
  IMPLICIT_GAS_LIMIT,
  implicitMessage,
  type MessageListener,
} from './executeTipset.ts'
import { invocResult } from './invocResult.ts'
import { migrateState } from './migrations/migrateState.ts'
import { keyOf, longestPrefix, MAX_TRIALS, type TrialState, type Trials } from './trialStates.ts'

/** Signatures of secp256k1 and delegated senders, bytes. */
const SIGNATURE_LENGTH = 65
/** Migrations that rewrite the whole state; the others are small repairs. */
const EXPENSIVE_MIGRATION = /^UpgradeActorsV\d+$/

/** What the host is made of. */
export interface LocalVmHostDeps {
  readonly view: ChainView
  readonly proofs: ProofVerifier
  readonly codeLoaders: CodeLoaders
  /** Called all the time while executing; what it throws ends the execution. */
  readonly checkpoint?: () => void
  /** Writes what {@link VmHost.computeForText} answers. Default: that answers values. */
  readonly print?: ResultPrinter
}

/** A state and where its blocks are. */
interface AppliedState {
  readonly store: OverlayBlockstore
  readonly root: Cid
}

/** Flushes after which a tipset's trials begin anew: what they wrote would never go while the head stays. */
const MAX_TRIAL_FLUSHES = 5000

/** Runs every call in the caller's own thread. */
export class LocalVmHost extends VmHost {
  readonly #view: ChainView
  readonly #deps: LocalVmHostDeps
  #trials: Trials | undefined

  constructor(deps: LocalVmHostDeps) {
    super()
    this.#view = deps.view
    this.#deps = deps
  }

  /** Always asynchronous, so that a failure is a rejection. */
  async run(call: VmCall): Promise<VmResult> {
    const { method, tipset } = call
    switch (method) {
      case 'tipsetState':
        return recordedState(this.#view.store, tipset) ?? this.#executed(call)
      case 'executeTipset':
        return this.#executed(call)
      case 'recheckTipset':
        return new LocalVmHost({ ...this.#deps, view: this.#view.checked }).#executed(call)
      case 'compute':
        return this.#computed(call, call.mayPrint === true ? this.#deps.print : undefined)
      case 'replay':
        return this.#replayed(call, call.message)
      case 'call':
        return this.#called(call.message, tipset)
      case 'callWithGas':
        return this.#calledWithGas(call.message, tipset, call.options)
      default:
        return assertNever(method)
    }
  }

  #executed(call: TipsetCall): TipsetState {
    const presumed = this.#presumed
    const state = this.#execute(call, this.#view.store.blocks, false, undefined)
    if (state === undefined) throw new ChainError('TIPSET_INVALID', 'Cannot execute tipset: it was stopped')
    return this.#presumed > presumed ? { ...state, presumesProofs: true } : state
  }

  /** Proofs so far that nobody could verify and no receipt told of. */
  get #presumed(): number {
    const { proofs } = this.#deps
    return proofs instanceof ReceiptProofs ? proofs.presumed : 0
  }

  #replayed(call: TipsetCall, cid: Cid): InvocResult {
    let found: InvocResult | undefined
    const store = new OverlayBlockstore(this.#view.store.blocks)
    this.#execute(call, store, true, (applied) => {
      if (!applied.cid.equals(cid)) return false
      found = invocResult(applied)
      return true
    })
    if (found === undefined) throw new ChainError('NOT_FOUND', 'given message not found in tipset')
    return found
  }

  #called(message: Message, tipset: Tipset): InvocResult {
    const prepared = this.#prepareCall(message, tipset, this.#priorMessages(tipset, message, 'sameSender'))
    const called = { ...prepared.message, gasLimit: IMPLICIT_GAS_LIMIT }
    const result = prepared.executor.applyMessage(called, 'implicit', 0)
    return invocResult({ cid: messageCid(called), message: called, isImplicit: true, result })
  }

  #calledWithGas(message: Message, tipset: Tipset, options: CallOptions): InvocResult {
    const shared = this.#priorMessages(tipset, message, options.tipsetMessages)
    const prior = [...shared, ...options.priorMessages]
    const prepared = this.#prepareCall(message, tipset, prior, { ...options, shared: shared.length })
    const called = prepared.message
    // One that exists and yet may not send, a contract: only an implicit message asks nothing of its sender.
    const kind = options.skipSenderValidation && !prepared.isNewSender ? 'implicit' : 'explicit'
    const length = kind === 'implicit' ? 0 : this.#signedLength(called, tipset)
    const result = prepared.executor.applyMessage(called, kind, length)
    return invocResult({ cid: messageCid(called), message: called, isImplicit: false, result })
  }

  #execution(tipset: Tipset, store: Blockstore, bounds?: RunBounds): ExecutionDeps {
    const view = this.#view
    const { checkpoint } = this.#deps
    const externs = new ChainExterns(view, tipset, {
      watermelonFix: upgradeHeight(view.network, 'WatermelonFix'),
      workerKey: (miner, height) => workerKeyAt(view, tipset, miner, height),
    })
    return {
      network: view.network,
      genesisTimestamp: firstBlock(view.store.genesis()).timestamp,
      store,
      externs,
      proofs: this.#deps.proofs,
      loadCode: this.#deps.codeLoaders(view.networkVersion(tipset.height)),
      checkpoint: bounds === CALL_BOUNDS ? callCheckpoint(checkpoint) : checkpoint,
      bounds,
    }
  }

  #execute(
    { tipset, receipts }: TipsetCall,
    store: Blockstore,
    tracing: Tracing,
    listener: MessageListener | undefined,
  ): TipsetState | undefined {
    const own = firstBlock(tipset)
    if (tipset.height === 0) return { stateRoot: own.parentStateRoot, receiptsRoot: own.parentMessageReceipts }
    const input = {
      tipset,
      parentEpoch: this.#view.store.parent(tipset).height,
      parentState: own.parentStateRoot,
      messages: tipset.blocks.map((block) => this.#view.blockMessages(block)),
      tracing,
      ...this.#expected(tipset, receipts),
    }
    return executeTipset(this.#execution(tipset, store, TRACE_BOUNDS), input, listener)
  }

  /** What the chain says of the tipset's messages, for proofs that are judged by it. */
  #expected(tipset: Tipset, told: Cid | undefined): { expectedReceipts?: readonly Receipt[] } {
    if (!(this.#deps.proofs instanceof ReceiptProofs)) return {}
    const root = told ?? recordedState(this.#view.store, tipset)?.receiptsRoot
    return root === undefined ? {} : { expectedReceipts: readReceipts(this.#view.store.blocks, root) }
  }

  #computed(call: ComputeCall, print: ResultPrinter | undefined): ComputeOutput | PrintedOutput {
    if (print === undefined) {
      const trace: InvocResult[] = []
      return { root: this.#traced(call, (result) => trace.push(result)), trace }
    }
    const texts: Uint8Array[] = []
    const root = this.#traced(call, (result) => texts.push(print(result)))
    // One piece: of thousands, each would be a write of its own to the client.
    return { root, results: texts.length === 0 ? [] : [concatBytes(...withCommas(texts))] }
  }

  /** @returns the root that is left */
  #traced(call: ComputeCall, take: (result: InvocResult) => void): Cid {
    const { tipset, vmHeight, messages, onto } = call
    const listen = boundedTraces(take)
    const store = new OverlayBlockstore(this.#view.store.blocks)
    let root = onto ?? this.#executedIn(store, call, listen)
    for (let epoch = tipset.height; epoch < vmHeight; epoch++) {
      this.#deps.checkpoint?.()
      root = migrateState(this.#view.network, store, root, epoch)
    }
    if (messages.length === 0) return root
    const { timestamp, parentBaseFee } = firstBlock(tipset)
    const deps = this.#execution(tipset, store, CALL_BOUNDS)
    const executor = createExecutor(deps, root, vmHeight, timestamp, parentBaseFee, true)
    for (const message of messages) {
      const result = executor.applyMessage(message, 'explicit', chainMessageLength({ kind: 'bls', message }))
      listen(invocResult({ cid: messageCid(message), message, isImplicit: false, result }))
    }
    return executor.flush()
  }

  /** Executes a tipset with traces. @returns the state that it leaves, which is in `store` alone */
  #executedIn(store: Blockstore, call: ComputeCall, listen: (result: InvocResult) => void): Cid {
    const state = this.#execute(call, store, call.callsOnly === true ? 'calls' : true, (applied) => {
      listen(invocResult(applied))
      return false
    })
    if (state === undefined) throw new ChainError('TIPSET_INVALID', 'Cannot execute tipset: it was stopped')
    return state.stateRoot
  }

  #priorMessages(tipset: Tipset, message: Message, which: CallOptions['tipsetMessages']): ChainMessage[] {
    if (tipset.height === 0 || which === 'none') return []
    const all = this.#view.tipsetMessages(tipset)
    return which === 'all' ? [...all] : all.filter((sent) => sent.message.from.equals(message.from))
  }

  /**
   * A machine on the tipset's parent state after `prior`, and the message with its sender's nonce there.
   * @throws ChainError `EXPENSIVE_FORK`, `UNDEFINED_ADDRESS`, `SENDER_INVALID`
   */
  #prepareCall(
    message: Message,
    tipset: Tipset,
    prior: readonly ChainMessage[],
    options: Pick<CallOptions, 'skipSenderValidation' | 'tracing' | 'stateRoot'> & { readonly shared: number } = {
      skipSenderValidation: false,
      tracing: true,
      shared: 0,
    },
  ): { executor: Executor; message: Message; isNewSender: boolean } {
    this.#refuseExpensiveFork(tipset, options.stateRoot !== undefined)
    const { timestamp, parentBaseFee } = firstBlock(tipset)
    const { root, store } = this.#stateAfter(tipset, prior, options.shared, options.stateRoot)
    const deps = this.#execution(tipset, new OverlayBlockstore(store), CALL_BOUNDS)
    // Without a fee cap nothing could be paid: such a message is tried at a base fee of zero.
    const baseFee = message.gasFeeCap === 0n ? 0n : parentBaseFee
    const executor = createExecutor(deps, root, tipset.height, timestamp, baseFee, options.tracing)
    const known = senderNonce(executor, message)
    const isNewSender = known === undefined
    if (isNewSender) {
      if (!options.skipSenderValidation) {
        const name = this.#view.addressText(message.from)
        throw new ChainError('SENDER_INVALID', `sender ${name} not found on chain: sender validation failed`)
      }
      createPlaceholder(executor, message.from, tipset.height)
    }
    const gasLimit = message.gasLimit === 0n ? BLOCK_GAS_LIMIT : message.gasLimit
    return { executor, message: { ...message, nonce: known ?? 0n, gasLimit }, isNewSender }
  }

  /**
   * The state after a tipset's migration and `prior`. States are kept: a sender's next estimate has the same messages and
   * one more before it, so a row of sends executes each pending message once, not once per send, also where several
   * senders take turns. The tipset's own messages (the first `shared`) are executed once for all of them.
   */
  #stateAfter(
    tipset: Tipset,
    prior: readonly ChainMessage[],
    shared: number,
    stateRoot: Cid | undefined,
  ): AppliedState {
    const key = `${tipsetKeyText(tipset.key)} ${stateRoot?.key ?? ''}`
    const { parentStateRoot } = firstBlock(tipset)
    const isKept = this.#trials?.key === key && this.#trials.flushes < MAX_TRIAL_FLUSHES
    const trials: Trials =
      isKept && this.#trials !== undefined
        ? this.#trials
        : {
            key,
            store: new OverlayBlockstore(this.#view.store.blocks),
            states: new Lru(MAX_TRIALS),
            flushes: 0,
          }
    const { store } = trials
    // Calls on a tipset's own result come one by one on any tipset: they must not drive out what estimates build on.
    if (stateRoot === undefined || prior.length > 0) this.#trials = trials
    let state = longestPrefix(trials.states, prior)
    if (state === undefined) {
      const root = migrateState(this.#view.network, store, stateRoot ?? parentStateRoot, tipset.height)
      state = { messages: [], root }
    }
    if (state.messages.length < shared) state = this.#applied(trials, tipset, state, prior.slice(0, shared))
    if (state.messages.length < prior.length) {
      const from = state.messages
      state = this.#applied(trials, tipset, state, prior)
      if (from.length > shared) trials.states.delete(keyOf(from.at(-1) as ChainMessage))
    }
    return { store, root: state.root }
  }

  /** `from` with the messages after it applied, kept. */
  #applied(trials: Trials, tipset: Tipset, from: TrialState, messages: readonly ChainMessage[]): TrialState {
    const { timestamp, parentBaseFee } = firstBlock(tipset)
    const deps = this.#execution(tipset, trials.store)
    const executor = createExecutor(deps, from.root, tipset.height, timestamp, parentBaseFee, false)
    for (const sent of messages.slice(from.messages.length)) {
      executor.applyMessage(sent.message, 'explicit', chainMessageLength(sent))
    }
    const state = { messages, root: executor.flush() }
    trials.flushes++
    trials.states.set(keyOf(messages.at(-1) as ChainMessage), state)
    return state
  }

  /** @param isExecuted - the call runs on the tipset's own result: only a migration at its own height is in the way */
  #refuseExpensiveFork(tipset: Tipset, isExecuted: boolean): void {
    if (tipset.height === 0) return
    const from = isExecuted ? tipset.height : this.#view.store.parent(tipset).height
    const fork = this.#view.network.upgrades.find(
      ({ height, migration }) =>
        migration !== null && EXPENSIVE_MIGRATION.test(migration) && height >= from && height <= tipset.height,
    )
    if (fork === undefined) return
    const text = `required historical state unavailable: refusing explicit call due to state fork at epoch ${fork.height}`
    throw new ChainError('EXPENSIVE_FORK', text, { epoch: fork.height })
  }

  /** Bytes that the message would take in a block, with a signature of the sender's kind. */
  #signedLength(message: Message, tipset: Tipset): number {
    const { protocol } = accountKey(this.#view, this.#view.stateBefore(tipset), message.from)
    if (protocol !== PROTOCOL_SECP256K1 && protocol !== PROTOCOL_DELEGATED) {
      return chainMessageLength({ kind: 'bls', message })
    }
    const type = protocol === PROTOCOL_SECP256K1 ? SIGNATURE_SECP256K1 : SIGNATURE_DELEGATED
    const signature = { type, data: new Uint8Array(SIGNATURE_LENGTH) }
    return chainMessageLength({ kind: 'signed', message, signed: { message, signature } })
  }
}

/** undefined: there is no such actor. */
function senderNonce({ machine: { state } }: Executor, { from }: Message): bigint | undefined {
  if (from.equals(UNDEF_ADDRESS)) {
    throw new ChainError('UNDEFINED_ADDRESS', 'getting sender actor: GetActor called on undefined address')
  }
  const id = state.lookupId(from)
  return id === undefined ? undefined : state.getActor(id)?.nonce
}

/** Makes the sender exist as a first transfer to it would: a placeholder with nonce 0 may send. */
function createPlaceholder(executor: Executor, from: Address, epoch: ChainEpoch): void {
  const { receipt, error } = executor.applyMessage(
    implicitMessage(from, METHOD_SEND, epoch, EMPTY_BYTES),
    'implicit',
    0,
  )
  if (receipt.exitCode === 0) return
  const exit = exitCodeName(receipt.exitCode)
  throw new ChainError('SENDER_INVALID', `creating ephemeral sender placeholder (exit ${exit}): ${error}`)
}
