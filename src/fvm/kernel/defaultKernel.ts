/**
 * The kernel of one invocation: everything that its actor asks goes through here, is charged here, and is answered out of
 * the call manager's message and machine.
 * @see ref-fvm fvm/src/kernel/default.rs, fvm/src/kernel/filecoin.rs, branches release/v2, release/v3, master
 */
import { type Cid, HASH_BLAKE2B_256 } from '../../codec/cid.ts'
import { blockCid } from '../../crypto/blockCid.ts'
import { drawRandomnessFromDigest } from '../../crypto/drawRandomness.ts'
import { recover } from '../../crypto/secp256k1.ts'
import { tryGetBlock } from '../../ipld/blockstore.ts'
import { BlockMissing } from '../../ipld/errors.ts'
import type { ActorState } from '../../types/actor.ts'
import type { Address } from '../../types/address.ts'
import { CHAIN_FINALITY } from '../../types/protocol.ts'
import type { ActorId, MethodNum, TokenAmount } from '../../types/scalars.ts'
import { BURNT_FUNDS_ID, INIT_ID } from '../../types/singletons.ts'
import { ExternFailure } from '../externs.ts'
import { type GasCharge, gasCharge } from '../gas/charge.ts'
import type { ProofOutcome } from '../proofVerifier.ts'
import { accountKey } from './accountKey.ts'
import { type Block, type BlockRegistry, NO_LINKS } from './blockRegistry.ts'
import type { CallContext, InvocationResult } from './callContext.ts'
import { blsAggregateHolds, hashData, signatureHolds } from './cryptoChecks.ts'
import { decodeEvent, parseEvent } from './eventForms.ts'
import {
  type BacktraceCause,
  type BlockHandle,
  type BlockStat,
  type ConsensusFault,
  type EventEntryHeader,
  type Kernel,
  type MessageContext,
  type NetworkContext,
  NO_DATA,
  type OpenedBlock,
  SEND_READ_ONLY,
  type SendResult,
  type Steps,
} from './kernel.ts'
import { scanReachableLinks } from './linkScan.ts'
import { Errno, FatalError, SyscallError } from './outcomes.ts'
import { readAggregateInfo, readPoStSectorCount, readSealInfos } from './proofInfos.ts'
import { runSteps } from './steps.ts'
import { computeUnsealedCid } from './unsealedCid.ts'

const MAX_I32 = 2 ** 31 - 1
const MAX_U128 = (1n << 128n) - 1n
const BLS_KEY = 48
const MAX_EVENT_BYTES = 2 ** 20
const MAX_ARTIFACT_NAME = 256
/** A lookback that no gas pays for: the reference turns a negative one into a huge unsigned number. */
const ENDLESS = 2 ** 64

const ON_MESSAGE_CONTEXT = gasCharge('OnMessageContext', 0)
const ON_NETWORK_CONTEXT = gasCharge('OnNetworkContext', 0)
const ON_BLOCK_STAT = gasCharge('OnBlockStat', 0)
const ON_SELF_BALANCE = gasCharge('OnSelfBalance', 0)
const ON_BALANCE_OF = gasCharge('OnBalanceOf', 0)
const ON_RESOLVE_ADDRESS = gasCharge('OnResolveAddress', 0)
const ON_LOOKUP_ADDRESS = gasCharge('OnLookupAddress', 0)
const ON_GET_CODE_CID = gasCharge('OnGetActorCodeCid', 0)
const ON_GET_TYPE = gasCharge('OnGetBuiltinActorType', 0)
const ON_GET_CODE_FOR_TYPE = gasCharge('OnGetCodeCidForType', 0)

export class DefaultKernel implements Kernel {
  readonly actorId: ActorId
  readonly method: MethodNum
  readonly blocks: BlockRegistry
  lastError: BacktraceCause | undefined
  readonly #calls: CallContext
  readonly #caller: ActorId
  readonly #value: TokenAmount
  readonly #readOnly: boolean
  readonly #major: 2 | 3 | 4

  /** @param blocks - holds the parameters already */
  constructor(
    calls: CallContext,
    blocks: BlockRegistry,
    caller: ActorId,
    actorId: ActorId,
    method: MethodNum,
    value: TokenAmount,
    readOnly: boolean,
  ) {
    this.#calls = calls
    this.blocks = blocks
    this.#caller = caller
    this.actorId = actorId
    this.method = method
    this.#value = value
    this.#readOnly = readOnly
    this.#major = calls.rules.major
  }

  #apply(charge: GasCharge | undefined): void {
    if (charge !== undefined) this.#calls.gas.apply(charge)
  }

  /** Calls that FVM 2 does for nothing and without a trace. */
  #applySince3(charge: GasCharge): void {
    if (this.#major > 2) this.#calls.gas.apply(charge)
  }

  // --- gas ---

  chargeGas(name: string, milligas: number): void {
    this.#calls.gas.charge(name, milligas)
  }

  milligasAvailable(): number {
    return this.#calls.gas.available
  }

  gasAvailable(): bigint {
    return this.#calls.gas.availableGas
  }

  // --- memory ---

  memoryUsed(): number {
    return this.#calls.memoryUsed
  }

  growMemory(delta: number): boolean {
    return this.#calls.growMemory(delta)
  }

  // --- blocks ---

  blockOpen(cid: Cid): OpenedBlock {
    const calls = this.#calls
    const { prices } = calls
    calls.gas.apply(prices.onBlockOpenBase())
    const tracks = calls.rules.tracksReachability
    if (tracks && !this.blocks.isReachable(cid)) {
      throw new SyscallError(Errno.NotFound, `block not reachable: ${cid}`)
    }
    const data = tryGetBlock(calls.machine.store, cid)
    // In the reference this is fatal. Here it is the host that has to find the block and begin again.
    if (data === undefined) throw new BlockMissing([cid])
    calls.traceIpld('Get', cid, data.length)
    const links = tracks ? scanReachableLinks(cid.codec, data, prices, calls.gas) : NO_LINKS
    calls.gas.apply(prices.onBlockOpen(data.length, links.length))
    const handle = this.#put({ codec: cid.codec, data, links }, false)
    return { handle, codec: cid.codec, size: data.length }
  }

  blockCreate(codec: number, data: Uint8Array): BlockHandle {
    const { rules, prices, gas } = this.#calls
    if (rules.maxBlockSize !== undefined && data.length > rules.maxBlockSize) {
      throw new SyscallError(Errno.LimitExceeded, 'blocks may not be larger than 1MiB')
    }
    if (this.#major === 4 && !rules.blockCodecs.includes(codec)) {
      throw new SyscallError(Errno.IllegalCodec, `codec ${codec} not allowed`)
    }
    const links = rules.tracksReachability ? scanReachableLinks(codec, data, prices, gas) : NO_LINKS
    gas.apply(prices.onBlockCreate(data.length, links.length))
    return this.#put({ codec, data: data.slice(), links }, true)
  }

  #put(block: Block, isNew: boolean): BlockHandle {
    const { rules } = this.#calls
    if (!rules.tracksReachability && !rules.blockCodecs.includes(block.codec)) {
      throw new SyscallError(Errno.IllegalCodec, 'invalid or forbidden ipld codec')
    }
    return isNew ? this.blocks.putChecked(block) : this.blocks.putReachable(block)
  }

  blockLink(handle: BlockHandle, hashCode: number, hashLength: number): Cid {
    if (hashCode !== HASH_BLAKE2B_256 || hashLength !== 32) {
      throw new SyscallError(Errno.IllegalCid, 'cids must be 32-byte blake2b')
    }
    const calls = this.#calls
    const { codec, data } = this.blocks.get(handle)
    calls.gas.apply(calls.prices.onBlockLink(data.length))
    const cid = blockCid(data, codec)
    calls.machine.store.put(cid, data)
    this.blocks.markReachable(cid)
    calls.traceIpld('Put', cid, data.length)
    return cid
  }

  blockRead(handle: BlockHandle, offset: number, out: Uint8Array): number {
    const end = offset + out.length
    if (end > MAX_I32) {
      throw new SyscallError(Errno.IllegalArgument, 'offset plus buffer length did not fit into an i32')
    }
    const { data } = this.blocks.get(handle)
    const count = Math.min(Math.max(0, data.length - offset), out.length)
    this.#calls.gas.apply(this.#calls.prices.onBlockRead(count))
    if (count > 0) out.set(offset === 0 && count === data.length ? data : data.subarray(offset, offset + count))
    return data.length - end
  }

  blockStat(handle: BlockHandle): BlockStat {
    this.#apply(ON_BLOCK_STAT)
    const { codec, data } = this.blocks.get(handle)
    return { codec, size: data.length }
  }

  // --- the actor itself ---

  root(): Cid {
    this.#apply(this.#calls.prices.onGetRoot())
    const actor = this.#calls.getActor(this.actorId)
    if (actor === undefined) {
      throw new SyscallError(Errno.IllegalOperation, 'state root requested after actor deletion')
    }
    this.blocks.markReachable(actor.head)
    return actor.head
  }

  setRoot(root: Cid): void {
    this.#refuseReadOnly('cannot update the state-root while read-only')
    this.#apply(this.#calls.prices.onSetRoot())
    if (this.#calls.rules.tracksReachability && !this.blocks.isReachable(root)) {
      throw new SyscallError(Errno.NotFound, `new root cid not reachable: ${root}`)
    }
    const actor = this.#calls.getActor(this.actorId)
    if (actor === undefined) throw new SyscallError(Errno.IllegalOperation, 'actor deleted')
    this.#calls.setActor(this.actorId, { ...actor, head: root })
  }

  currentBalance(): TokenAmount {
    this.#applySince3(ON_SELF_BALANCE)
    return this.#calls.getActor(this.actorId)?.balance ?? 0n
  }

  selfDestruct(burnUnspent: boolean): void {
    this.#refuseReadOnly('cannot self-destruct when read-only')
    this.#apply(this.#calls.prices.onDeleteActor())
    const balance = this.currentBalance()
    if (balance !== 0n) {
      if (!burnUnspent) throw new SyscallError(Errno.IllegalOperation, 'self-destruct with unspent funds')
      try {
        this.#calls.transfer(this.actorId, BURNT_FUNDS_ID, balance)
      } catch (error) {
        if (error instanceof SyscallError) throw new FatalError(error.message, { cause: error })
        throw error
      }
    }
    this.#calls.deleteActor(this.actorId)
  }

  selfDestructTo(beneficiary: Address): void {
    this.#refuseReadOnly('cannot self-destruct when read-only')
    this.#apply(this.#calls.prices.onDeleteActor())
    const balance = this.currentBalance()
    if (balance !== 0n) {
      const id = this.resolveAddress(beneficiary)
      if (id === this.actorId) throw new SyscallError(Errno.Forbidden, 'benefactor cannot be beneficiary')
      this.#calls.transfer(this.actorId, id, balance)
    }
    this.#calls.deleteActor(this.actorId)
  }

  #refuseReadOnly(message: string): void {
    if (this.#readOnly) throw new SyscallError(Errno.ReadOnly, message)
  }

  // --- other actors ---

  resolveAddress(address: Address): ActorId {
    this.#applySince3(ON_RESOLVE_ADDRESS)
    const id = this.#calls.resolveAddress(address)
    if (id === undefined) throw new SyscallError(Errno.NotFound, 'actor not found')
    return id
  }

  #actor(id: ActorId, what = 'actor not found'): ActorState {
    const actor = this.#calls.getActor(id)
    if (actor === undefined) throw new SyscallError(Errno.NotFound, what)
    return actor
  }

  lookupDelegatedAddress(id: ActorId): Address | null {
    this.#apply(ON_LOOKUP_ADDRESS)
    return this.#actor(id).delegatedAddress
  }

  getActorCodeCid(id: ActorId): Cid {
    this.#applySince3(ON_GET_CODE_CID)
    return this.#actor(id, this.#major === 2 ? 'target actor not found' : 'actor not found').code
  }

  nextActorAddress(): Address {
    const { origin, machine } = this.#calls
    if (this.#major > 2) return this.#calls.nextActorAddress(origin.senderAddress)
    const key = accountKey(machine, origin.senderAddress)
    if (key instanceof SyscallError) throw new FatalError(key.message, { cause: key })
    return this.#calls.nextActorAddress(key)
  }

  createActor(code: Cid, id: ActorId, delegatedAddress: Address | null): void {
    if (this.#major === 2) {
      this.#createActorV2(code, id)
      return
    }
    if (this.actorId !== INIT_ID) {
      throw new SyscallError(Errno.Forbidden, `create_actor is restricted to InitActor. Called by ${this.actorId}`)
    }
    this.#refuseReadOnly('create_actor cannot be called while read-only')
    this.#calls.createActor(code, id, delegatedAddress)
  }

  #createActorV2(code: Cid, id: ActorId): void {
    const { actors } = this.#calls.machine
    if (actors.typeOf(code) === 0) throw new SyscallError(Errno.Forbidden, 'can only create built-in actors')
    if (actors.isSingleton(code)) {
      throw new SyscallError(Errno.Forbidden, 'can only have one instance of singleton actors')
    }
    this.#calls.createActor(code, id, null)
  }

  getBuiltinActorType(code: Cid): number {
    this.#applySince3(ON_GET_TYPE)
    return this.#calls.machine.actors.typeOf(code)
  }

  getCodeCidForType(type: number): Cid {
    this.#applySince3(ON_GET_CODE_FOR_TYPE)
    const code = this.#calls.machine.actors.codeOfType(type)
    if (code === undefined) {
      throw new SyscallError(Errno.IllegalArgument, 'tried to resolve CID of unrecognized actor type')
    }
    return code
  }

  balanceOf(id: ActorId): TokenAmount {
    this.#apply(ON_BALANCE_OF)
    return this.#actor(id).balance
  }

  // --- send ---

  send(
    to: Address,
    method: MethodNum,
    params: BlockHandle,
    value: TokenAmount,
    gasLimit?: bigint,
    flags = 0n,
  ): SendResult {
    return runSteps(this.sendSteps(to, method, params, value, gasLimit, flags))
  }

  *sendSteps(
    to: Address,
    method: MethodNum,
    params: BlockHandle,
    value: TokenAmount,
    gasLimit?: bigint,
    flags = 0n,
  ): Steps<SendResult> {
    if ((flags & ~SEND_READ_ONLY) !== 0n) throw new SyscallError(Errno.IllegalArgument, `invalid send flags: ${flags}`)
    const readOnly = this.#readOnly || flags === SEND_READ_ONLY
    if (readOnly && value !== 0n) {
      throw new SyscallError(Errno.ReadOnly, 'cannot transfer value when read-only')
    }
    const block = params === NO_DATA ? undefined : this.blocks.get(params)
    if (this.blocks.isFull) throw new SyscallError(Errno.LimitExceeded, 'cannot store return block')
    const calls = this.#calls
    const result: InvocationResult = yield* calls.transactionSteps(() =>
      calls.callSteps({ from: this.actorId, to, method, params: block, value, gasLimit, readOnly }),
    )
    const returned = result.block
    if (returned === undefined) {
      return { exitCode: result.exitCode, returnHandle: NO_DATA, returnCodec: 0, returnSize: 0 }
    }
    return {
      exitCode: result.exitCode,
      returnHandle: this.blocks.putReachable(returned),
      returnCodec: returned.codec,
      returnSize: returned.data.length,
    }
  }

  // --- message and network ---

  messageContext(): MessageContext {
    this.#applySince3(ON_MESSAGE_CONTEXT)
    const { origin } = this.#calls
    if (this.#value < 0n || this.#value > MAX_U128) throw new FatalError('invalid token amount')
    if (origin.gasPremium < 0n || origin.gasPremium > MAX_U128) throw new FatalError('invalid gas premium')
    return {
      origin: origin.sender,
      nonce: origin.nonce,
      caller: this.#caller,
      receiver: this.actorId,
      method: this.method,
      valueReceived: this.#value,
      gasPremium: origin.gasPremium,
      readOnly: this.#readOnly,
    }
  }

  networkContext(): NetworkContext {
    this.#applySince3(ON_NETWORK_CONTEXT)
    const { context } = this.#calls.machine
    return {
      epoch: context.epoch,
      timestamp: BigInt(context.timestamp),
      baseFee: context.baseFee,
      chainId: context.chainId,
      networkVersion: context.networkVersion,
    }
  }

  baseFee(): TokenAmount {
    return this.#calls.machine.context.baseFee
  }

  totalFilCircSupply(): TokenAmount {
    return this.#calls.machine.context.circulatingSupply
  }

  tipsetCid(epoch: bigint): Cid {
    if (epoch < 0n) throw new SyscallError(Errno.IllegalArgument, 'epoch is negative')
    const { machine, gas, prices } = this.#calls
    const offset = BigInt(machine.context.epoch) - epoch
    if (offset < 0n) throw new SyscallError(Errno.IllegalArgument, `epoch ${epoch} is in the future`)
    if (offset === 0n) {
      throw new SyscallError(Errno.IllegalArgument, 'cannot lookup the tipset cid for the current epoch')
    }
    if (this.#major === 3 && offset >= CHAIN_FINALITY) {
      throw new SyscallError(Errno.IllegalArgument, `epoch ${epoch} is too far in the past`)
    }
    gas.apply(prices.onTipsetCid(Number(offset)))
    try {
      return machine.externs.tipsetCid(Number(epoch))
    } catch (error) {
      if (error instanceof ExternFailure) throw new FatalError(error.message, { cause: error })
      throw error
    }
  }

  // --- randomness ---

  chainRandomness(epoch: bigint): Uint8Array {
    this.#chargeRandomness(epoch)
    return this.#extern(() => this.#calls.machine.externs.chainRandomness(Number(epoch)))
  }

  beaconRandomness(epoch: bigint): Uint8Array {
    this.#chargeRandomness(epoch)
    return this.#extern(() => this.#calls.machine.externs.beaconRandomness(Number(epoch)))
  }

  #chargeRandomness(epoch: bigint): void {
    const lookback = BigInt(this.#calls.machine.context.epoch) - epoch
    if (lookback >= 1n << 63n) {
      throw new SyscallError(Errno.IllegalArgument, `randomness epoch ${epoch} is in the future`)
    }
    this.#calls.gas.apply(this.#calls.prices.onRandomness(0, lookback < 0n ? ENDLESS : Number(lookback)))
  }

  chainRandomnessTagged(tag: bigint, epoch: bigint, entropy: Uint8Array): Uint8Array {
    this.#apply(this.#calls.prices.onRandomness(entropy.length, 0))
    const digest = this.#extern(() => this.#calls.machine.externs.chainRandomness(Number(epoch)))
    return drawRandomnessFromDigest(digest, Number(tag), Number(epoch), entropy)
  }

  beaconRandomnessTagged(tag: bigint, epoch: bigint, entropy: Uint8Array): Uint8Array {
    this.#apply(this.#calls.prices.onRandomness(entropy.length, 0))
    const digest = this.#extern(() => this.#calls.machine.externs.beaconRandomness(Number(epoch)))
    return drawRandomnessFromDigest(digest, Number(tag), Number(epoch), entropy)
  }

  /** What the node refuses is the actor's illegal argument. */
  #extern<T>(ask: () => T): T {
    try {
      return ask()
    } catch (error) {
      if (error instanceof ExternFailure) throw new SyscallError(Errno.IllegalArgument, error.message)
      throw error
    }
  }

  // --- crypto ---

  verifySignature(type: number, signature: Uint8Array, signer: Address, plaintext: Uint8Array): boolean {
    const { gas, prices, machine } = this.#calls
    if (type !== 1 && type !== 2) throw new SyscallError(Errno.IllegalArgument, `unknown signature type ${type}`)
    gas.apply(prices.onVerifySignature(type, plaintext.length))
    if (signer.protocol === 1 || signer.protocol === 3) return signatureHolds(type, signature, signer, plaintext)
    if (this.#major > 2) {
      throw new SyscallError(Errno.IllegalArgument, `address protocol ${signer.protocol} not supported`)
    }
    const key = accountKey(machine, signer, (size) => {
      gas.apply(size === undefined ? prices.onBlockOpenBase() : prices.onBlockOpen(size, 0))
    })
    if (key instanceof SyscallError) throw key
    return signatureHolds(type, signature, key, plaintext)
  }

  verifyBlsAggregate(
    signature: Uint8Array,
    publicKeys: Uint8Array,
    plaintexts: Uint8Array,
    lengths: Uint32Array,
  ): boolean {
    const signers = publicKeys.length / BLS_KEY
    if (signers !== lengths.length) {
      throw new SyscallError(Errno.IllegalArgument, 'unequal numbers of bls public keys and plaintexts')
    }
    this.#calls.gas.apply(this.#calls.prices.onVerifyBlsAggregate(signers, plaintexts.length))
    return blsAggregateHolds(signature, publicKeys, plaintexts, lengths)
  }

  recoverSecpPublicKey(hash: Uint8Array, signature: Uint8Array): Uint8Array {
    this.#calls.gas.apply(this.#calls.prices.onRecoverSecp())
    const key = recover(hash, signature)
    if (key === undefined) throw new SyscallError(Errno.IllegalArgument, 'public key recovery failed')
    return key
  }

  hash(code: bigint, data: Uint8Array): Uint8Array {
    const { gas, prices } = this.#calls
    if (this.#major === 2) gas.apply(prices.onHashing(0, data.length))
    const digest = hashData(code)
    if (digest === undefined) throw new SyscallError(Errno.IllegalArgument, `unsupported hash code ${code}`)
    if (this.#major > 2) gas.apply(prices.onHashing(Number(code), data.length))
    return digest(data)
  }

  computeUnsealedSectorCid(proofType: bigint, pieces: Uint8Array): Cid {
    return computeUnsealedCid(proofType, pieces, () => this.#apply(this.#calls.prices.onComputeUnsealedSectorCid()))
  }

  // --- proofs ---

  #outcome(outcome: ProofOutcome): boolean {
    if (outcome === 'error') throw new SyscallError(Errno.IllegalArgument, 'malformed proof')
    return outcome
  }

  verifyPost(info: Uint8Array): boolean {
    this.#calls.gas.apply(this.#calls.prices.onVerifyPost(readPoStSectorCount(info)))
    return this.#outcome(this.#calls.machine.proofs.verifyWindowPoSt(info.slice()))
  }

  verifySeal(info: Uint8Array): boolean {
    this.#calls.gas.apply(this.#calls.prices.onVerifySeal())
    return this.#outcome(this.#calls.machine.proofs.verifySeal(info.slice()))
  }

  verifyAggregateSeals(info: Uint8Array): boolean {
    const { sealProof, count } = readAggregateInfo(info)
    this.#calls.gas.apply(this.#calls.prices.onVerifyAggregateSeals(sealProof, count))
    if (count === 0) throw new SyscallError(Errno.IllegalArgument, 'no seal verify infos')
    return this.#outcome(this.#calls.machine.proofs.verifyAggregateSeals(info.slice()))
  }

  verifyReplicaUpdate(info: Uint8Array): boolean {
    this.#calls.gas.apply(this.#calls.prices.onVerifyReplicaUpdate())
    return this.#outcome(this.#calls.machine.proofs.verifyReplicaUpdate(info.slice()))
  }

  batchVerifySeals(batch: Uint8Array, checkOutput?: (count: number) => void): boolean[] {
    const infos = readSealInfos(batch)
    checkOutput?.(infos.length)
    if (this.#major > 2) for (let i = 0; i < infos.length; i++) this.#calls.gas.apply(this.#calls.prices.onVerifySeal())
    return infos.map((info) => this.#calls.machine.proofs.verifySeal(info) === true)
  }

  verifyConsensusFault(header1: Uint8Array, header2: Uint8Array, extra: Uint8Array): ConsensusFault {
    this.#calls.gas.apply(this.#calls.prices.onVerifyConsensusFault())
    const { externs } = this.#calls.machine
    const fault = this.#extern(() => externs.verifyConsensusFault(header1.slice(), header2.slice(), extra.slice()))
    return fault ?? { faultType: 0, epoch: 0, target: 0n }
  }

  // --- events ---

  emitEvent(entries: readonly EventEntryHeader[], keys: Uint8Array, values: Uint8Array): void {
    this.#refuseReadOnly('cannot emit events while read-only')
    this.#calls.gas.apply(this.#calls.prices.onEvent(entries.length, keys.length, values.length))
    this.#calls.eventLog.append({ emitter: this.actorId, entries: parseEvent(entries, keys, values) })
  }

  emitEventCbor(event: Uint8Array): void {
    this.#refuseReadOnly('cannot emit events while read-only')
    this.#calls.gas.apply(this.#calls.prices.onEventValidate(event.length))
    if (event.length > MAX_EVENT_BYTES) throw new SyscallError(Errno.IllegalArgument, 'event WAY too large')
    const entries = decodeEvent(event.slice())
    this.#calls.gas.apply(this.#calls.prices.onEventAccept(event.length))
    this.#calls.eventLog.append({ emitter: this.actorId, entries })
  }

  // --- debugging ---

  debugEnabled(): boolean {
    return this.#calls.machine.context.actorDebugging
  }

  log(message: string): void {
    this.#calls.traceLog(message)
  }

  /** Checks the name as the reference does; there is nowhere to store to. */
  storeArtifact(name: string, _data: Uint8Array): void {
    if (name.length > MAX_ARTIFACT_NAME) {
      throw new SyscallError(Errno.IllegalArgument, 'debug artifact name should not exceed 256 bytes')
    }
    if (name.includes('/')) {
      throw new SyscallError(Errno.IllegalArgument, 'debug artifact name should not include any path separators')
    }
    if (name === '') {
      throw new SyscallError(Errno.IllegalArgument, 'debug artifact name should be at least one character')
    }
    if (name.startsWith('.')) {
      throw new SyscallError(Errno.IllegalArgument, "debug artifact name should not start with a decimal '.'")
    }
  }
}
