/**
 * What messages run on: a state, the rules and prices of a network version, and the node's answers.
 * @see ref-fvm fvm/src/machine/mod.rs, default.rs
 */
import type { Cid } from '../codec/cid.ts'
import { type Blockstore, getCbor, OverlayBlockstore } from '../ipld/blockstore.ts'
import { systemState } from '../state/system.ts'
import type { ChainEpoch, TokenAmount } from '../types/scalars.ts'
import { SYSTEM_ID } from '../types/singletons.ts'
import { EMPTY_ARRAY, EMPTY_ARRAY_CID } from './emptyArray.ts'
import { VmError } from './errors.ts'
import type { Externs } from './externs.ts'
import type { PriceList } from './gas/priceList.ts'
import { priceListAt } from './gas/priceListAt.ts'
import type { ActorCode, CodeLoader } from './kernel/kernel.ts'
import { MachineState } from './machineState.ts'
import { type BuiltinActors, loadBuiltinActors } from './manifest.ts'
import type { ProofVerifier } from './proofVerifier.ts'
import { type VmRules, vmRulesAt } from './rules.ts'

/** Whether to record execution traces; `calls`: who called whom with what value and how it ended, and nothing else. */
export type Tracing = boolean | 'calls'

/** What runs may make the host hold, bytes. What is above ends the message undecided: for those that nobody has to decide. */
export interface RunBounds {
  /** Parameters and results in a message's trace. Default: no bound. */
  readonly traceBytes?: number
  /** Blocks that the running calls of a message hold. Default: no bound. */
  readonly heldBytes?: number
}

/** The tipset that messages are of: its epoch, state, network version, and amounts in attoFIL. */
export interface MachineContext {
  /** 16 to 29. */
  readonly networkVersion: number
  readonly epoch: ChainEpoch
  /** Of the tipset, seconds since 1970. */
  readonly timestamp: number
  readonly baseFee: TokenAmount
  readonly circulatingSupply: TokenAmount
  /** EIP-155 chain ID. */
  readonly chainId: bigint
  /** State to start from. */
  readonly stateRoot: Cid
  readonly tracing: Tracing
  /** Whether actors may log, which changes their gas; off on public networks. */
  readonly actorDebugging: boolean
}

/** What a machine is made of. */
export interface MachineDeps {
  /** Read from, and written to by {@link Machine.flush}. */
  readonly store: Blockstore
  readonly externs: Externs
  readonly proofs: ProofVerifier
  readonly loadCode: CodeLoader
  /** Called at each charge of gas; what it throws, no outcome of an actor, ends the execution. */
  readonly checkpoint?: (() => void) | undefined
  /** Default: none. */
  readonly bounds?: RunBounds | undefined
  /** Where the events of explicit messages are written. Default: nowhere; receipts have their roots nevertheless. */
  readonly events?: Pick<Blockstore, 'put'> | undefined
}

/** A state at one epoch, with what executing messages on it takes. */
export class Machine {
  readonly context: MachineContext
  readonly rules: VmRules
  readonly prices: PriceList
  readonly externs: Externs
  readonly proofs: ProofVerifier
  /** Buffers what actors write until {@link Machine.flush}. */
  readonly store: OverlayBlockstore
  readonly state: MachineState
  readonly actors: BuiltinActors
  readonly checkpoint: (() => void) | undefined
  readonly bounds: RunBounds
  readonly #loadCode: CodeLoader
  readonly #codes = new Map<string, ActorCode>()

  /** @throws VmError `UNSUPPORTED_NETWORK_VERSION`, `INVALID_STATE`; BlockMissing */
  constructor(context: MachineContext, deps: MachineDeps) {
    this.context = context
    this.rules = vmRulesAt(context.networkVersion)
    this.prices = priceListAt(context.networkVersion)
    this.externs = deps.externs
    this.proofs = deps.proofs
    this.checkpoint = deps.checkpoint
    this.bounds = deps.bounds ?? {}
    this.#loadCode = deps.loadCode
    this.store = new OverlayBlockstore(deps.store)
    this.state = new MachineState(this.store, context.stateRoot)
    const system = this.state.getActor(SYSTEM_ID)
    if (system === undefined) throw new VmError('INVALID_STATE', 'Cannot run: there is no system actor')
    this.actors = loadBuiltinActors(this.store, getCbor(this.store, systemState, system.head).builtinActors)
    this.store.put(EMPTY_ARRAY_CID, EMPTY_ARRAY)
  }

  /** The code of an actor, undefined when nobody has it. */
  loadCode(code: Cid): ActorCode | undefined {
    let found = this.#codes.get(code.key)
    if (found === undefined) {
      found = this.#loadCode(code)
      if (found !== undefined) this.#codes.set(code.key, found)
    }
    return found
  }

  /**
   * Writes the state, and of the blocks that actors wrote those that it reaches.
   * @returns the state root
   */
  flush(): Cid {
    const root = this.state.flush()
    this.store.flush(root, EMPTY_ARRAY_CID)
    return root
  }
}
