/**
 * The syscall boundary: what an actor can ask of the machine, in TypeScript values. Wasm actors reach it through the
 * syscall table (fvm/wasm), native actors call it directly. One capability per interface; a caller names those it needs.
 *
 * Every operation charges its own gas (never `wasm_exec` and `OnSyscall`: the caller does that, with
 * {@link GasOps.chargeGas}) and throws SyscallError, OutOfGas or FatalError. Anything else that escapes is a failure of
 * the host and must pass through the actor untouched.
 *
 * Operations marked "FVM n" exist in those major versions only; the syscall table of a version names what it has.
 * Arguments that are byte views (Wasm memory) are read during the call and copied where they are kept. Returned bytes
 * and CIDs belong to the machine: do not write to them.
 * @see ref-fvm fvm/src/kernel/mod.rs, branches release/v2, release/v3, master
 */
import type { Cid } from '../../codec/cid.ts'
import type { Address } from '../../types/address.ts'
import type { ActorId, ChainEpoch, ExitCode, MethodNum, TokenAmount } from '../../types/scalars.ts'
import type { Errno } from './outcomes.ts'

/** Number of a block in the registry of one invocation. */
export type BlockHandle = number
/** The handle that stands for "no block". */
export const NO_DATA: BlockHandle = 0

/** Codec and length of a block that is held by handle. */
export interface BlockStat {
  readonly codec: number
  /** Bytes. */
  readonly size: number
}

/** What opening a block gives: its handle, codec and length. */
export interface OpenedBlock extends BlockStat {
  readonly handle: BlockHandle
}

/** Blocks: by CID, then by handle. */
export interface IpldOps {
  /** Loads a block. NotFound when it is not reachable (FVM 4). */
  blockOpen(cid: Cid): OpenedBlock
  /** Registers a copy of `data`. LimitExceeded, IllegalCodec, Serialization, NotFound (FVM 4: an unreachable link). */
  blockCreate(codec: number, data: Uint8Array): BlockHandle
  /** Computes the block's CID, stores it and makes it reachable. IllegalCid unless blake2b-256 with 32 bytes. */
  blockLink(handle: BlockHandle, hashCode: number, hashLength: number): Cid
  /**
   * Copies from `offset` into `out`.
   * @returns block size minus (offset + out.length): above 0 that many bytes are left behind, below 0 so many of `out`
   * were not filled
   */
  blockRead(handle: BlockHandle, offset: number, out: Uint8Array): number
  blockStat(handle: BlockHandle): BlockStat
}

/** The calling actor's own state and balance. */
export interface SelfOps {
  /** Root of the actor's state. IllegalOperation when it deleted itself. */
  root(): Cid
  setRoot(root: Cid): void
  currentBalance(): TokenAmount
  /** FVM 4. Deletes the actor; an unspent balance is burnt, or IllegalOperation. */
  selfDestruct(burnUnspent: boolean): void
  /** FVM 2, 3. Deletes the actor; the balance goes to `beneficiary`. */
  selfDestructTo(beneficiary: Address): void
}

/** Addresses, codes and balances of actors, and their creation. */
export interface ActorOps {
  /** NotFound when nothing is there. FVM 2, too. */
  resolveAddress(address: Address): ActorId
  /** FVM 3, 4. The actor's f4 address, if it has one. */
  lookupDelegatedAddress(id: ActorId): Address | null
  getActorCodeCid(id: ActorId): Cid
  /** A new f2 address that is stable across reorganisations. FVM 2: every call gives another one. */
  nextActorAddress(): Address
  /** For the init actor only, Forbidden for others. `delegatedAddress`: FVM 3, 4. */
  createActor(code: Cid, id: ActorId, delegatedAddress: Address | null): void
  /** Number of the built-in actor's type (manifest order, from 1), 0 for other code. */
  getBuiltinActorType(code: Cid): number
  /** IllegalArgument for a number without a type. */
  getCodeCidForType(type: number): Cid
  /** FVM 3, 4. */
  balanceOf(id: ActorId): TokenAmount
}

/** How a call ended, and the handle of what it returned: among the caller's blocks. */
export interface SendResult {
  readonly exitCode: ExitCode
  /** Handle of the returned block, 0 for none. */
  readonly returnHandle: BlockHandle
  readonly returnCodec: number
  readonly returnSize: number
}

/** Send flag: the callee and all below it may change nothing. */
export const SEND_READ_ONLY = 1n

/** An actor's code that is to run, with what it runs on. */
export interface ActorRun {
  readonly code: ActorCode
  readonly kernel: Kernel
  readonly params: BlockHandle
}

/**
 * A call in progress: hands out the code to run, takes the handle that it returned, or is thrown what it threw.
 * @see runSteps
 */
export type Steps<T> = Generator<ActorRun, T, BlockHandle>

/** Calls of other actors. */
export interface SendOps {
  /**
   * Calls another actor. An actor's failure is a result with its exit code; a refusal by the machine (InsufficientFunds,
   * NotFound, LimitExceeded, ReadOnly, …) is thrown.
   * @param gasLimit - whole gas; undefined: all that is left (FVM 2: always undefined)
   * @param flags - see {@link SEND_READ_ONLY}; unknown bits are IllegalArgument
   */
  send(
    to: Address,
    method: MethodNum,
    params: BlockHandle,
    value: TokenAmount,
    gasLimit?: bigint,
    flags?: bigint,
  ): SendResult
  /** The same in steps: for callers that run the callee's code themselves. */
  sendSteps(
    to: Address,
    method: MethodNum,
    params: BlockHandle,
    value: TokenAmount,
    gasLimit?: bigint,
    flags?: bigint,
  ): Steps<SendResult>
}

/** What a consensus fault syscall answers; `faultType` 0: no fault. */
export interface ConsensusFault {
  /** 1 double fork mining, 2 parent grinding, 3 time offset mining. */
  readonly faultType: number
  readonly epoch: ChainEpoch
  readonly target: ActorId
}

/** Signatures and hashes. */
export interface CryptoOps {
  /** FVM 2, 3. @param type - 1 secp256k1, 2 BLS, others IllegalArgument */
  verifySignature(type: number, signature: Uint8Array, signer: Address, plaintext: Uint8Array): boolean
  /**
   * FVM 4. One key and one plaintext per signer.
   * @param publicKeys - n times 48 bytes
   * @param plaintexts - all plaintexts one after the other
   */
  verifyBlsAggregate(
    signature: Uint8Array,
    publicKeys: Uint8Array,
    plaintexts: Uint8Array,
    lengths: Uint32Array,
  ): boolean
  /** @returns 65 bytes, uncompressed. IllegalArgument when nothing can be recovered. */
  recoverSecpPublicKey(hash: Uint8Array, signature: Uint8Array): Uint8Array
  /** @param code - multihash code (bigint: any u64). IllegalArgument for an unknown one. */
  hash(code: bigint, data: Uint8Array): Uint8Array
}

/** @see ref-fvm fvm/src/kernel/filecoin.rs `FilecoinKernel` */
export interface ProofOps {
  /** @param pieces - CBOR list of PieceInfo */
  computeUnsealedSectorCid(proofType: bigint, pieces: Uint8Array): Cid
  /** @param info - CBOR of WindowPoStVerifyInfo */
  verifyPost(info: Uint8Array): boolean
  /** FVM 2. @param info - CBOR of SealVerifyInfo */
  verifySeal(info: Uint8Array): boolean
  verifyConsensusFault(header1: Uint8Array, header2: Uint8Array, extra: Uint8Array): ConsensusFault
  /** @param info - CBOR of AggregateSealVerifyProofAndInfos */
  verifyAggregateSeals(info: Uint8Array): boolean
  /** @param info - CBOR of ReplicaUpdateInfo */
  verifyReplicaUpdate(info: Uint8Array): boolean
  /**
   * @param batch - CBOR list of SealVerifyInfo
   * @param checkOutput - called with the number of infos once they are decoded, before any gas is charged: where a
   * binding checks that the results fit
   */
  batchVerifySeals(batch: Uint8Array, checkOutput?: (count: number) => void): boolean[]
}

/** The message that began it all, and the call of this actor. */
export interface MessageContext {
  /** The message's sender. */
  readonly origin: ActorId
  readonly nonce: bigint
  /** The immediate caller. */
  readonly caller: ActorId
  /** This actor. */
  readonly receiver: ActorId
  readonly method: MethodNum
  readonly valueReceived: TokenAmount
  readonly gasPremium: TokenAmount
  readonly readOnly: boolean
}

/** What the actor may know of its call. */
export interface MessageOps {
  messageContext(): MessageContext
}

/** What is the same for all messages of a tipset. */
export interface NetworkContext {
  readonly epoch: ChainEpoch
  /** Seconds since 1970; the tipset's. */
  readonly timestamp: bigint
  readonly baseFee: TokenAmount
  readonly chainId: bigint
  readonly networkVersion: number
}

/** The network, its base fee and supply in attoFIL, tipsets by epoch. */
export interface NetworkOps {
  networkContext(): NetworkContext
  /** FVM 2's own syscall (no charge of its own there). */
  baseFee(): TokenAmount
  totalFilCircSupply(): TokenAmount
  /** FVM 3, 4. @param epoch - bigint: any i64 */
  tipsetCid(epoch: bigint): Cid
}

/** The chain's randomness, 32 bytes each. */
export interface RandomnessOps {
  /** FVM 4. blake2b-256 of the ticket base at `epoch`. */
  chainRandomness(epoch: bigint): Uint8Array
  /** FVM 4. The same of the beacon. */
  beaconRandomness(epoch: bigint): Uint8Array
  /** FVM 2, 3. 32 bytes, drawn with tag and entropy. */
  chainRandomnessTagged(tag: bigint, epoch: bigint, entropy: Uint8Array): Uint8Array
  beaconRandomnessTagged(tag: bigint, epoch: bigint, entropy: Uint8Array): Uint8Array
}

/** Header of one entry of an event; its key and value follow those of the entries before it. */
export interface EventEntryHeader {
  /** 1 key indexed, 2 value indexed; other bits are IllegalArgument. bigint: any u64. */
  readonly flags: bigint
  readonly codec: bigint
  readonly keyLength: number
  readonly valueLength: number
}

/** Events that go into the message's receipt, unless the call fails. */
export interface EventOps {
  /** FVM 4 (FIP-0072). */
  emitEvent(entries: readonly EventEntryHeader[], keys: Uint8Array, values: Uint8Array): void
  /** FVM 3. @param event - CBOR of the entries */
  emitEventCbor(event: Uint8Array): void
}

/** The running message's gas. */
export interface GasOps {
  /**
   * Charges compute gas, as the wrapper around a syscall and the `gas.charge` syscall do.
   * @param name - as it shows in traces
   * @param milligas - thousandths of gas, an integer; above 2^53 it is simply more than there is
   */
  chargeGas(name: string, milligas: number): void
  /**
   * Milligas left, for the counter that a Wasm module sees. Capped at 2^52 for implicit messages, whose limit is 2^63-1:
   * the difference between two reads is exact, the value itself is for actors only through {@link gasAvailable}.
   */
  milligasAvailable(): number
  /** Whole gas left, rounded down: what the `gas.available` syscall answers. */
  gasAvailable(): bigint
}

/** Logs and artefacts, for networks that let actors debug. */
export interface DebugOps {
  /** Whether actors may log; false on public networks. */
  debugEnabled(): boolean
  log(message: string): void
  storeArtifact(name: string, data: Uint8Array): void
}

/** Memory of all live instances of one message. FVM 3, 4. */
export interface LimiterOps {
  /** Bytes that the instances on the call stack hold. */
  memoryUsed(): number
  /** Whether `delta` more bytes are allowed (2 GiB a message); counts them when so. A finished call gives its bytes back. */
  growMemory(delta: number): boolean
}

/** The syscall that failed last in this invocation: the cause in a backtrace. */
export interface BacktraceCause {
  readonly module: string
  readonly function: string
  readonly errno: Errno
  readonly message: string
}

/** Everything that an actor can ask, for one invocation. */
export interface Kernel
  extends IpldOps,
    SelfOps,
    ActorOps,
    SendOps,
    CryptoOps,
    ProofOps,
    MessageOps,
    NetworkOps,
    RandomnessOps,
    EventOps,
    GasOps,
    DebugOps,
    LimiterOps {
  /** Set by the syscall wrapper when a syscall fails, cleared when one succeeds. */
  lastError: BacktraceCause | undefined
}

/** The code of an actor, ready to run: an instrumented Wasm module or a native actor. */
export interface ActorCode {
  /**
   * Runs the method that {@link MessageOps.messageContext} names. Charges for starting the instance as well.
   * @param params - handle of the parameters, 0 for none
   * @returns handle of the returned block, 0 for none
   * @throws ActorExit, OutOfGas, FatalError
   */
  invoke(kernel: Kernel, params: BlockHandle): BlockHandle
}

/** Finds the code of an actor by its code CID; undefined when there is none at hand. */
export type CodeLoader = (code: Cid) => ActorCode | undefined
