/**
 * From method numbers to the functions of a native actor.
 * @see builtin-actors v18 runtime/src/dispatch.rs actor_dispatch; runtime/src/builtin/shared.rs restrict_internal_api
 */
import type { Codec } from '../codec/description.ts'
import { VmError } from '../fvm/errors.ts'
import type { ActorCode } from '../fvm/kernel/kernel.ts'
import type { ActorKind } from '../state/actorKind.ts'
import { actorMethods } from '../state/actorMethods.ts'
import { Exit } from '../types/exitCodes.ts'
import { FIRST_EXPORTED_METHOD } from '../types/methodNumbers.ts'
import type { MethodNum } from '../types/scalars.ts'
import { ActorType } from './actorType.ts'
import { cborBlock, readBlock } from './blocks.ts'
import { ActorError, type ExitData } from './errors.ts'
import { methodNumber } from './frc42.ts'
import { Runtime } from './runtime.ts'
import { INITIAL_PAGES, WasmGas } from './wasmGas.ts'

/** The version that native actors follow. */
const NATIVE_ACTORS_VERSION = 18

/** What runs a method, with the forms of its parameters and result; null: it has none. */
export interface NativeMethod {
  readonly params: Codec<unknown> | null
  readonly returns: Codec<unknown> | null
  /** From the parameters' block to the returned one. */
  readonly run: (runtime: Runtime, params: ExitData | undefined) => ExitData | undefined
}

/** A method without parameters and result. */
export function action(run: (runtime: Runtime) => void): NativeMethod {
  return {
    params: null,
    returns: null,
    run: (runtime, params) => {
      refuseParams(params)
      run(runtime)
      return undefined
    },
  }
}

/** A method without parameters. */
export function query<R>(returns: Codec<R>, run: (runtime: Runtime) => R): NativeMethod {
  return {
    params: null,
    returns: returns as Codec<unknown>,
    run: (runtime, params) => {
      refuseParams(params)
      return cborBlock(returns, run(runtime))
    },
  }
}

/** A method with parameters, without a result. */
export function command<P>(form: Codec<P>, run: (runtime: Runtime, params: P) => void): NativeMethod {
  return {
    params: form as Codec<unknown>,
    returns: null,
    run: (runtime, params) => {
      run(runtime, readBlock(form, requireParams(params)))
      return undefined
    },
  }
}

/** A method with parameters and a result. */
export function call<P, R>(form: Codec<P>, returns: Codec<R>, run: (runtime: Runtime, params: P) => R): NativeMethod {
  return {
    params: form as Codec<unknown>,
    returns: returns as Codec<unknown>,
    run: (runtime, params) => cborBlock(returns, run(runtime, readBlock(form, requireParams(params)))),
  }
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
  readonly methods: ReadonlyMap<MethodNum, NativeMethod>
  /** Methods that exist and are not native, with their names. */
  readonly missing: ReadonlyMap<MethodNum, string>
  /** Takes every number that is not a method: exported numbers succeed and do nothing. Absent: unhandled. */
  readonly acceptsUnknown?: boolean
  /** Pages of memory that the Wasm actor starts with. */
  readonly pages?: number
  /** How instructions are counted; for calibration. */
  readonly createGas?: (pages: number) => WasmGas
}

/**
 * A native actor out of the rows of its method table: which of them are native, and how.
 * @param native - by the row's name
 * @param unlisted - exported methods that the table does not have, by name
 */
export function nativeActor(
  kind: ActorKind,
  native: Readonly<Record<string, NativeMethod>>,
  options: Pick<NativeActor, 'acceptsUnknown' | 'pages'> = {},
  unlisted: Readonly<Record<string, NativeMethod>> = {},
): NativeActor {
  const methods = new Map<MethodNum, NativeMethod>()
  const missing = new Map<MethodNum, string>()
  for (const { number, name, retired } of actorMethods(kind, NATIVE_ACTORS_VERSION)) {
    const method = native[name]
    if (method !== undefined) methods.set(number, method)
    else if (!retired) missing.set(number, name)
  }
  for (const [name, method] of Object.entries(unlisted)) methods.set(methodNumber(name), method)
  return { kind, methods, missing, ...options }
}

/**
 * The error of a method that only the actors bundle has. Not an outcome of the message: it stays undecided.
 */
export function nativeUnsupported(kind: ActorKind, method: MethodNum, name?: string): VmError {
  return new VmError(
    'NATIVE_UNSUPPORTED',
    `not supported: method ${method}${name === undefined ? '' : ` (${name})`} of actor ${kind} is not native: ` +
      'the local chain needs --actors wasm (petrel actors fetch devnet gets the bundle)',
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
  if (method !== undefined) return method.run(runtime, params)
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
      const missing = actor.missing.get(runtime.message.method)
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
