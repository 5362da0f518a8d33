/**
 * What built-in actors are written against, over the kernel: the same system calls in the same order and number as the
 * Wasm actors make, so that traces and fees of a native actor look like theirs.
 * @see builtin-actors v18 runtime/src/runtime/fvm.rs FvmRuntime; ref-fvm sdk/src
 */
import type { Cid } from '../codec/cid.ts'
import { type Codec, decode, encode } from '../codec/description.ts'
import { CodecError } from '../codec/errors.ts'
import { EMPTY_ARRAY_CID } from '../fvm/emptyArray.ts'
import type { Kernel, MessageContext, NetworkContext } from '../fvm/kernel/kernel.ts'
import { ActorExit, Errno as Errors, SyscallError } from '../fvm/kernel/outcomes.ts'
import type { Blockstore } from '../ipld/blockstore.ts'
import { type Address, addressToId, isIdAddress } from '../types/address.ts'
import { Exit } from '../types/exitCodes.ts'
import type { ActorId, ChainEpoch, ExitCode, MethodNum, TokenAmount } from '../types/scalars.ts'
import type { ActorType } from './actorType.ts'
import { ActorError, checkedExitCode, type ExitData } from './errors.ts'
import { panic, SystemCalls, sendError } from './systemCalls.ts'
import type { WasmGas } from './wasmGas.ts'

/** Multihash codes of the hashes that actors use. */
const HASH_SHA2_256_CODE = 0x12n
const HASH_BLAKE2B_256_CODE = 0xb220n

/** What a call returned: its exit code and its data. */
export interface SendResponse {
  readonly exitCode: ExitCode
  readonly data: ExitData | undefined
}

/** One invocation of a native actor. */
export class Runtime {
  readonly #calls: SystemCalls
  /** The estimate of Wasm instructions since the last system call. */
  readonly gas: WasmGas
  #callerValidated = false
  #inTransaction = false
  #message: MessageContext | undefined
  #network: NetworkContext | undefined
  /** Blocks of the actor's state, through `ipld` system calls. */
  readonly store: Blockstore

  constructor(kernel: Kernel, gas: WasmGas) {
    this.#calls = new SystemCalls(kernel, gas)
    this.gas = gas
    this.store = {
      get: (cid) => this.#calls.getBlock(cid, 'node'),
      has: (cid) => this.#calls.getBlock(cid, 'node').length >= 0,
      put: (_cid, data) => {
        this.#calls.putBlock(data, 'nodeWritten')
      },
    }
  }

  /** What every actor does before its method: logging, message, parameters. */
  start(paramsHandle: number): ExitData | undefined {
    this.#calls.start()
    this.gas.add('debug')
    this.#calls.syscall('debug', 'enabled', (kernel) => kernel.debugEnabled())
    this.gas.add('context')
    this.#message = this.#calls.syscall('vm', 'message_context', (kernel) => kernel.messageContext())
    if (paramsHandle === 0) {
      this.gas.allocate()
      return undefined
    }
    this.gas.add('stat')
    const { codec, size } = this.#calls.syscall('ipld', 'block_stat', (kernel) => kernel.blockStat(paramsHandle))
    this.gas.allocate()
    this.gas.add('parameters')
    const bytes = this.#calls.readBlock(paramsHandle, size)
    this.#calls.worked('receivedBlock', size)
    return { codec, bytes }
  }

  /** The end of a method that succeeded. @returns the handle of what it returns */
  finish(result: ExitData | undefined): number {
    if (!this.#callerValidated) return this.exit(Exit.USR_ASSERTION_FAILED, 'failed to validate caller', undefined)
    let handle = 0
    if (result !== undefined) {
      this.#calls.worked('sentBlock', result.bytes.length)
      handle = this.#calls.orPanic(() => this.#calls.createBlock(result))
    }
    this.gas.add('end')
    this.#calls.charge()
    return handle
  }

  /** Ends with an exit code. */
  exit(exitCode: ExitCode, message: string, data: ExitData | undefined): never {
    const handle = data === undefined ? 0 : this.#calls.createBlock(data)
    this.#calls.syscall('vm', 'exit', () => undefined)
    this.#calls.charge()
    throw new ActorExit(exitCode, message, handle)
  }

  // Message and network

  get message(): MessageContext {
    return this.#message as MessageContext
  }

  get caller(): ActorId {
    return this.message.caller
  }

  #networkContext(): NetworkContext {
    this.#network ??= this.#calls.syscall('network', 'context', (kernel) => kernel.networkContext())
    return this.#network
  }

  get epoch(): ChainEpoch {
    return this.#networkContext().epoch
  }

  // Callers

  #validateOnce(): void {
    if (this.#callerValidated) throw panic('Method must validate caller identity exactly once')
  }

  validateCallerAny(): void {
    this.#validateOnce()
    this.#callerValidated = true
  }

  validateCallerIs(id: ActorId): void {
    this.#validateOnce()
    if (this.caller !== id) {
      throw new ActorError(Exit.USR_FORBIDDEN, `caller f0${this.caller} is not one of supported`)
    }
    this.#callerValidated = true
  }

  validateCallerType(type: ActorType): void {
    this.#validateOnce()
    const code = this.actorCode(this.caller)
    if (code === undefined) throw panic('failed to lookup caller code')
    if (this.builtinType(code) !== type) {
      throw new ActorError(Exit.USR_FORBIDDEN, `caller cid type ${code.toString()} not one of supported`)
    }
    this.#callerValidated = true
  }

  // Actors

  currentBalance(): TokenAmount {
    return this.#calls.syscall('self', 'current_balance', (kernel) => kernel.currentBalance())
  }

  resolveAddress(address: Address): ActorId | undefined {
    if (isIdAddress(address)) return addressToId(address)
    this.gas.add('resolve')
    return this.#calls.orMissing(() =>
      this.#calls.syscall('actor', 'resolve_address', (kernel) => kernel.resolveAddress(address)),
    )
  }

  delegatedAddress(id: ActorId): Address | undefined {
    return (
      this.#calls.orMissing(() =>
        this.#calls.syscall('actor', 'lookup_delegated_address', (kernel) => kernel.lookupDelegatedAddress(id)),
      ) ?? undefined
    )
  }

  actorCode(id: ActorId): Cid | undefined {
    return this.#calls.orMissing(() =>
      this.#calls.syscall('actor', 'get_actor_code_cid', (kernel) => kernel.getActorCodeCid(id)),
    )
  }

  /** Number of a built-in actor's type, 0 for other code. */
  builtinType(code: Cid): number {
    this.gas.add('type')
    return this.#calls.orPanic(() =>
      this.#calls.syscall('actor', 'get_builtin_actor_type', (kernel) => kernel.getBuiltinActorType(code)),
    )
  }

  codeForType(type: ActorType): Cid {
    return this.#calls.orPanic(() =>
      this.#calls.syscall('actor', 'get_code_cid_for_type', (kernel) => kernel.getCodeCidForType(type)),
    )
  }

  newActorAddress(): Address {
    return this.#calls.orPanic(() =>
      this.#calls.syscall('actor', 'next_actor_address', (kernel) => kernel.nextActorAddress()),
    )
  }

  createActor(code: Cid, id: ActorId, delegated: Address | null): void {
    if (this.#inTransaction) throw panic('create_actor is not allowed during transaction')
    try {
      this.#calls.syscall('actor', 'create_actor', (kernel) => kernel.createActor(code, id, delegated))
    } catch (error) {
      if (!(error instanceof SyscallError)) throw error
      if (error.errno === Errors.IllegalArgument) {
        throw new ActorError(Exit.USR_ILLEGAL_ARGUMENT, 'failed to create actor')
      }
      if (error.errno === Errors.Forbidden) throw new ActorError(Exit.USR_FORBIDDEN, 'actor already exists')
      throw panic(`create failed with unknown error: ${error.message}`)
    }
  }

  totalFilCircSupply(): TokenAmount {
    return this.#calls.orPanic(() =>
      this.#calls.syscall('network', 'total_fil_circ_supply', (kernel) => kernel.totalFilCircSupply()),
    )
  }

  // State

  /** A typed block of the state. @throws ActorError USR_ILLEGAL_STATE when it cannot be had or is of another type */
  getCbor<T>(codec: Codec<T>, cid: Cid): T {
    return this.#decodeState(codec, this.#calls.getBlock(cid, 'state'))
  }

  putCbor<T>(codec: Codec<T>, value: T): Cid {
    return this.#calls.putBlock(encode(codec, value), 'stateWritten')
  }

  #decodeState<T>(codec: Codec<T>, bytes: Uint8Array): T {
    try {
      return decode(codec, bytes)
    } catch (error) {
      if (error instanceof CodecError) throw new ActorError(Exit.USR_ILLEGAL_STATE, error.message)
      throw error
    }
  }

  #root(): Cid {
    return this.#calls.syscall('self', 'root', (kernel) => kernel.root())
  }

  #setRoot(root: Cid): void {
    this.gas.add('setRoot')
    try {
      this.#calls.syscall('self', 'set_root', (kernel) => kernel.setRoot(root))
    } catch (error) {
      if (!(error instanceof SyscallError)) throw error
      if (error.errno === Errors.ReadOnly) {
        throw new ActorError(Exit.USR_READ_ONLY, 'attempted to mutate state while in readonly mode')
      }
      if (error.errno === Errors.IllegalOperation) {
        throw new ActorError(Exit.USR_ILLEGAL_STATE, 'actor deleted')
      }
      throw panic(`unexpected error from \`self::set_root\` syscall: ${error.message}`)
    }
  }

  /** The actor's state, read only. */
  state<T>(codec: Codec<T>): T {
    const root = this.#stateRoot(Exit.USR_ILLEGAL_STATE)
    this.gas.add('open')
    return this.#illegalArgument(() => this.getCbor(codec, root))
  }

  #stateRoot(code: ExitCode): Cid {
    try {
      return this.#root()
    } catch (error) {
      if (error instanceof SyscallError) throw new ActorError(code, 'failed to get actor root state CID')
      throw error
    }
  }

  /** First state of a new actor. */
  create<T>(codec: Codec<T>, state: T): void {
    const root = this.#stateRoot(Exit.USR_ILLEGAL_STATE)
    if (!root.equals(EMPTY_ARRAY_CID)) {
      throw new ActorError(
        Exit.USR_ILLEGAL_STATE,
        `failed to create state; expected empty array CID, got: ${root.toString()}`,
      )
    }
    this.#setRoot(this.#illegalArgument(() => this.putCbor(codec, state)))
  }

  /**
   * Loads the state, lets `run` give the next one, saves that. `run` may not send.
   * @param run - returns the new state and a result
   */
  transaction<T, R>(codec: Codec<T>, run: (state: T) => { readonly state: T; readonly result: R }): R {
    const root = this.#stateRoot(Exit.USR_ILLEGAL_ARGUMENT)
    this.gas.add('open')
    const before = this.#illegalArgument(() => this.getCbor(codec, root))
    this.#inTransaction = true
    let outcome: { readonly state: T; readonly result: R }
    try {
      outcome = run(before)
    } finally {
      this.#inTransaction = false
    }
    const newRoot = this.#illegalArgument(() => this.putCbor(codec, outcome.state))
    this.#setRoot(newRoot)
    return outcome.result
  }

  /** Failures to load and save in a transaction have this code, whatever the reason. */
  #illegalArgument<T>(run: () => T): T {
    try {
      return run()
    } catch (error) {
      if (error instanceof ActorError) throw new ActorError(Exit.USR_ILLEGAL_ARGUMENT, error.message)
      throw error
    }
  }

  // Calls

  /**
   * Calls another actor and fails when that fails.
   * @returns what it returned
   * @throws ActorError with the callee's exit code (the machine's own are translated) and data
   * @see builtin-actors v18 runtime/src/builtin/shared.rs extract_send_result
   */
  send(to: Address, method: MethodNum, params: ExitData | undefined, value: TokenAmount): ExitData | undefined {
    let response: SendResponse
    try {
      response = this.#send(to, method, params, value)
    } catch (error) {
      if (error instanceof SyscallError) throw sendError(error.errno)
      throw error
    }
    if (response.exitCode === Exit.OK) return response.data
    throw new ActorError(
      checkedExitCode(response.exitCode),
      `send aborted with code ${response.exitCode}`,
      response.data,
    )
  }

  #send(to: Address, method: MethodNum, params: ExitData | undefined, value: TokenAmount): SendResponse {
    if (this.#inTransaction) throw new SyscallError(Errors.IllegalOperation, 'send in a transaction')
    if (value < 0n || value >= 1n << 128n) throw new SyscallError(Errors.InsufficientFunds, 'value out of range')
    let handle = 0
    if (params !== undefined) {
      this.#calls.worked('sentBlock', params.bytes.length)
      handle = this.#calls.createBlock(params)
    }
    this.gas.add('send')
    const result = this.#calls.syscall('send', 'send', (kernel) => kernel.send(to, method, handle, value))
    this.gas.add('sent')
    if (result.returnHandle === 0) return { exitCode: result.exitCode, data: undefined }
    const bytes = this.#calls.readBlock(result.returnHandle, result.returnSize)
    this.#calls.worked('receivedBlock', bytes.length)
    return { exitCode: result.exitCode, data: { codec: result.returnCodec, bytes } }
  }

  // Cryptography

  hashBlake2b(data: Uint8Array): Uint8Array {
    return this.#calls.hash(HASH_BLAKE2B_256_CODE, data)
  }

  /** Hash of HAMT keys: actors ask the machine for it. */
  readonly hashKey = (key: Uint8Array): Uint8Array => {
    this.gas.add('hashKey')
    return this.#calls.hash(HASH_SHA2_256_CODE, key)
  }

  /**
   * Whether a key address signed `plaintext`; malformed signatures did not.
   * @param type - 1 secp256k1, 2 BLS
   */
  isSigned(type: number, signature: Uint8Array, signer: Address, plaintext: Uint8Array): boolean {
    try {
      return this.#calls.syscall('crypto', 'verify_signature', (kernel) =>
        kernel.verifySignature(type, signature, signer, plaintext),
      )
    } catch (error) {
      if (error instanceof SyscallError) return false
      throw error
    }
  }
}
