/**
 * The init actor: gives actors their numbers and creates those that users may create.
 * @see builtin-actors v18 actors/init/src/lib.rs, state.rs
 */
import type { Cid } from '../codec/cid.ts'
import { u64 } from '../codec/description.ts'
import { CodecError } from '../codec/errors.ts'
import { type InitState, initState } from '../state/init.ts'
import {
  type ConstructorParams,
  constructorParams,
  type Exec4Params,
  type ExecParams,
  type ExecReturn,
  exec4Params,
  execParams,
  execReturn,
} from '../state/params/init.ts'
import { type Address, delegatedAddress, idAddress } from '../types/address.ts'
import { Exit } from '../types/exitCodes.ts'
import { METHOD_CONSTRUCTOR } from '../types/methodNumbers.ts'
import type { ActorId } from '../types/scalars.ts'
import { EAM_ID, FIRST_NON_SINGLETON_ID, SYSTEM_ID } from '../types/singletons.ts'
import { ActorMap } from './actorMap.ts'
import { ActorType } from './actorType.ts'
import { rawBlock } from './blocks.ts'
import { call, command, type NativeActor, nativeActor } from './dispatch.ts'
import { ActorError } from './errors.ts'
import type { Runtime } from './runtime.ts'

function construct(runtime: Runtime, params: ConstructorParams): void {
  runtime.validateCallerIs(SYSTEM_ID)
  runtime.create(initState, {
    addressMap: ActorMap.empty(runtime, u64).flush(),
    nextId: FIRST_NON_SINGLETON_ID,
    networkName: params.networkName,
  })
}

/** Which types an actor may create: anybody multisigs and payment channels, the power actor miners. */
function canExec(runtime: Runtime, caller: Cid, code: Cid): boolean {
  const type = runtime.builtinType(code)
  if (type === ActorType.multisig || type === ActorType.paymentchannel) return true
  return type === ActorType.storageminer && runtime.builtinType(caller) === ActorType.storagepower
}

interface Mapped {
  readonly id: ActorId
  readonly existing: boolean
}

/**
 * Maps the new addresses to a new number, or to the one that the delegated address has.
 * @throws ActorError USR_FORBIDDEN when the robust address is taken
 */
function mapAddresses(runtime: Runtime, robust: Address, delegated: Address | undefined): Mapped {
  return runtime.transaction(initState, (state: InitState) => {
    const map = ActorMap.load(runtime, state.addressMap, u64)
    const known = delegated === undefined ? undefined : map.get(delegated.bytes)
    const id = known ?? state.nextId
    const existing = known !== undefined
    if (delegated !== undefined && !existing) map.set(delegated.bytes, id)
    if (!map.setIfAbsent(robust.bytes, id)) {
      throw new ActorError(
        Exit.USR_FORBIDDEN,
        `robust address ${robust.toString()} is already allocated in the address map`,
      )
    }
    return {
      state: { ...state, addressMap: map.flush(), nextId: existing ? state.nextId : state.nextId + 1n },
      result: { id, existing },
    }
  })
}

function runConstructor(runtime: Runtime, id: ActorId, params: Uint8Array): void {
  runtime.send(idAddress(id), METHOD_CONSTRUCTOR, rawBlock(params), runtime.message.valueReceived)
}

function exec(runtime: Runtime, params: ExecParams): ExecReturn {
  runtime.validateCallerAny()
  const callerCode = runtime.actorCode(runtime.caller)
  if (callerCode === undefined)
    throw new ActorError(Exit.USR_ILLEGAL_STATE, `no code for caller as f0${runtime.caller}`)
  if (!canExec(runtime, callerCode, params.codeCid)) {
    throw new ActorError(
      Exit.USR_FORBIDDEN,
      `called type ${callerCode.toString()} cannot exec actor type ${params.codeCid.toString()}`,
    )
  }
  const robustAddress = runtime.newActorAddress()
  const { id, existing } = mapAddresses(runtime, robustAddress, undefined)
  if (existing) throw new ActorError(Exit.USR_FORBIDDEN, `cannot exec over an existing actor ${id}`)
  runtime.createActor(params.codeCid, id, null)
  runConstructor(runtime, id, params.constructorParams)
  return { idAddress: idAddress(id), robustAddress }
}

function exec4(runtime: Runtime, params: Exec4Params): ExecReturn {
  runtime.validateCallerIs(EAM_ID)
  const delegated = toDelegated(runtime.caller, params.subAddress)
  const robustAddress = runtime.newActorAddress()
  const { id, existing } = mapAddresses(runtime, robustAddress, delegated)
  if (existing) {
    const code = runtime.actorCode(id)
    if (code === undefined) throw new ActorError(Exit.USR_FORBIDDEN, 'cannot redeploy a deleted actor')
    if (!code.equals(runtime.codeForType(ActorType.placeholder))) {
      throw new ActorError(
        Exit.USR_FORBIDDEN,
        `cannot replace an existing non-placeholder actor with code: ${code.toString()}`,
      )
    }
  }
  runtime.createActor(params.codeCid, id, delegated)
  runConstructor(runtime, id, params.constructorParams)
  return { idAddress: idAddress(id), robustAddress }
}

function toDelegated(namespace: ActorId, subaddress: Uint8Array): Address {
  try {
    return delegatedAddress(namespace, subaddress)
  } catch (error) {
    if (error instanceof CodecError) {
      throw new ActorError(Exit.USR_ILLEGAL_ARGUMENT, `invalid delegated address: ${error.message}`)
    }
    throw error
  }
}

/** The init actor's methods. */
export function createInitActor(): NativeActor {
  return nativeActor('init', {
    Constructor: command(constructorParams, construct),
    Exec: call(execParams, execReturn, exec),
    Exec4: call(exec4Params, execReturn, exec4),
  })
}
