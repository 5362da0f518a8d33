/**
 * From method numbers to the functions of a native actor.
 * @see builtin-actors v18 runtime/src/dispatch.rs actor_dispatch; runtime/src/builtin/shared.rs restrict_internal_api
 */
import type { Codec } from '../codec/description.ts'
import { VmError } from '../fvm/errors.ts'
import type { ActorCode } from '../fvm/kernel/kernel.ts'
import type { ActorKind } from '../state/actorKind.ts'
import { Exit } from '../types/exitCodes.ts'
import { FIRST_EXPORTED_METHOD } from '../types/methodNumbers.ts'
import type { MethodNum } from '../types/scalars.ts'
import { ActorType } from './actorType.ts'
import { ActorError, type ExitData } from './errors.ts'
import { cborBlock, Runtime, readBlock } from './runtime.ts'
import { INITIAL_PAGES, WasmGas } from './wasmGas.ts'

/** A method: from the parameters' block to the returned one. */
export type Method = (runtime: Runtime, params: ExitData | undefined) => ExitData | undefined

/** A method without parameters and result. */
export function action(run: (runtime: Runtime) => void): Method {
  return (runtime, params) => {
    refuseParams(params)
    run(runtime)
    return undefined
  }
}

/** A method without parameters. */
export function query<R>(result: Codec<R>, run: (runtime: Runtime) => R): Method {
  return (runtime, params) => {
    refuseParams(params)
    return cborBlock(result, run(runtime))
  }
}

/** A method with parameters, without a result. */
export function command<P>(codec: Codec<P>, run: (runtime: Runtime, params: P) => void): Method {
  return (runtime, params) => {
    run(runtime, readBlock(codec, requireParams(params)))
    return undefined
  }
}

/** A method with parameters and a result. */
export function call<P, R>(codec: Codec<P>, result: Codec<R>, run: (runtime: Runtime, params: P) => R): Method {
  return (runtime, params) => cborBlock(result, run(runtime, readBlock(codec, requireParams(params))))
}

function refuseParams(params: ExitData | undefined): void {
  if (params !== undefined) throw new ActorError(Exit.USR_ILLEGAL_ARGUMENT, 'method expects no arguments')
}

function requireParams(params: ExitData | undefined): ExitData {
  if (params === undefined) throw new ActorError(Exit.USR_ILLEGAL_ARGUMENT, 'method expects arguments')
  return params
}

/** A native actor. */
export interface NativeActor {
  readonly kind: ActorKind
  readonly methods: ReadonlyMap<MethodNum, Method>
  /** Takes every number that is not a method: exported numbers succeed and do nothing. Absent: unhandled. */
  readonly acceptsUnknown?: boolean
  /** Methods that exist and are not native, with their names. */
  readonly missing?: ReadonlyMap<MethodNum, string>
  /** Pages of memory that the Wasm actor starts with. */
  readonly pages?: number
  /** How instructions are counted; for calibration. */
  readonly createGas?: (pages: number) => WasmGas
}

/**
 * The error of a method that only the actors bundle has. Not an outcome of the message: it stays undecided.
 */
export function nativeUnsupported(kind: ActorKind, method: MethodNum, name?: string): VmError {
  return new VmError(
    'NATIVE_UNSUPPORTED',
    `not supported: method ${method}${name === undefined ? '' : ` (${name})`} of actor ${kind} is not native; ` +
      'load the actors bundle (petrel actors fetch)',
    { kind, method: method.toString() },
  )
}

/** @throws ActorError USR_FORBIDDEN for a caller that is a contract or no built-in actor */
function restrictInternalApi(runtime: Runtime, method: MethodNum): void {
  if (method >= FIRST_EXPORTED_METHOD) return
  const { caller } = runtime
  const code = runtime.actorCode(caller)
  if (code === undefined) {
    throw new ActorError(Exit.USR_FORBIDDEN, `no code for caller f0${caller} of method ${method}`)
  }
  const type = runtime.builtinType(code)
  if (type === 0 || type === ActorType.evm) {
    throw new ActorError(Exit.USR_FORBIDDEN, `caller f0${caller} of method ${method} must be built-in`)
  }
}

function run(actor: NativeActor, runtime: Runtime, params: ExitData | undefined): ExitData | undefined {
  const { method: number } = runtime.message
  restrictInternalApi(runtime, number)
  const method = actor.methods.get(number)
  if (method !== undefined) return method(runtime, params)
  if (actor.acceptsUnknown === true) {
    runtime.validateCallerAny()
    if (number >= FIRST_EXPORTED_METHOD) return undefined
  }
  throw new ActorError(Exit.USR_UNHANDLED_MESSAGE, `invalid method: ${number}`)
}

/** The actor as code that the machine runs. */
export function createActorCode(actor: NativeActor): ActorCode {
  const pages = actor.pages ?? INITIAL_PAGES
  const createGas = actor.createGas ?? ((count: number) => new WasmGas(count))
  return {
    invoke: (kernel, paramsHandle) => {
      const runtime = new Runtime(kernel, createGas(pages))
      const params = runtime.start(paramsHandle)
      const missing = actor.missing?.get(runtime.message.method)
      if (missing !== undefined) throw nativeUnsupported(actor.kind, runtime.message.method, missing)
      let result: ExitData | undefined
      try {
        result = run(actor, runtime, params)
      } catch (error) {
        if (error instanceof ActorError) return runtime.exit(error.exitCode, error.message, error.data)
        throw error
      }
      return runtime.finish(result)
    },
  }
}
