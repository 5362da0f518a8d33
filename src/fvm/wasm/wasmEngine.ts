import type { Cid } from '../../codec/cid.ts'
import { Exit } from '../../types/exitCodes.ts'
import { VmError } from '../errors.ts'
import type { ActorCode, ActorRun, BlockHandle, CodeLoader, Kernel, Steps } from '../kernel/kernel.ts'
import { ActorExit, Errno, FatalError, OutOfGas, SyscallError } from '../kernel/outcomes.ts'
import { advance } from '../kernel/steps.ts'
import { WasmError } from './errors.ts'
import { BUDGET_EXPORT, GAS_MODULE, HOST_MEMORY, HOST_MODULE, PAGE_BYTES, PAGES_EXPORT } from './instrument.ts'
import { Invocation } from './invocation.ts'
import { MemoryPool } from './memoryPool.ts'
import { type CompiledModule, ModuleCache } from './moduleCache.ts'
import type { ModuleInfo } from './moduleInfo.ts'
import { FVM2_RULES, FVM4_HOST_MEMORY_RULES, FVM4_RULES, type InstrumentationRules } from './rules.ts'
import type { SyscallRow } from './syscalls/row.ts'
import { SYSCALLS } from './syscalls/table.ts'
import { isStackExhausted, trapText } from './traps.ts'
import {
  type WasmGlobal,
  type WasmImports,
  type WasmInstance,
  type WasmInt32Global,
  type WasmMemory,
  wasm,
} from './webAssembly.ts'

/** Bytes that all live instances of a message may have. @see ref-fvm fvm/src/machine/mod.rs `max_memory_bytes` */
const MAX_MESSAGE_BYTES = 2 ** 31

/**
 * Arguments of a call that does nothing: pushing them takes 64 KiB of stack. Made before every nested run, so that a
 * thread whose stack ends fails here and not in the middle of a syscall, where some code might take the engine's error
 * for one of its own. Costs 3 µs (Node 24).
 */
const STACK_PROBE: readonly number[] = Array.from({ length: 8192 }, () => 0)
/** Runs that nest before the stack is probed. */
const PROBED_FROM = 8
const NO_STACK = 'Cannot run message: the engine has no stack left; give its thread more'

/** How an engine runs; nothing of it changes what a message does. */
export interface EngineOptions {
  /**
   * Runs that nest before memory of the host is used: from there on they take turns in a few memories, slower but without
   * end. Default: never. For Chromium, 64: it has room for some 120 memories (8 GiB of its sandbox's 1 TiB each), while
   * Node and Deno have no such bound.
   */
  readonly hostMemoryFrom?: number
}

/**
 * Runs actors' Wasm for one major version of the machine. Not re-entrant across messages: one engine runs one message at
 * a time (calls within it nest).
 * @see ref-fvm fvm/src/engine/mod.rs
 */
export class WasmEngine {
  readonly major: 2 | 3 | 4
  readonly rules: InstrumentationRules
  readonly modules: ModuleCache
  readonly #counter: WasmGlobal
  readonly #imports: WasmImports
  readonly #types: ReadonlyMap<string, string>
  readonly #hostMemoryFrom: number
  readonly #pool = new MemoryPool()
  /** modules whose imports were checked */
  readonly #linked = new WeakSet<ModuleInfo>()
  #current: Invocation | undefined
  /** runs that are under way */
  #nested = 0

  /**
   * @param modules - shared by the engines of all versions
   * @param options - see {@link EngineOptions}
   */
  constructor(major: 2 | 3 | 4, modules: ModuleCache = new ModuleCache(), options: EngineOptions = {}) {
    this.#hostMemoryFrom = major === 2 ? Infinity : (options.hostMemoryFrom ?? Infinity)
    this.major = major
    this.rules = major === 2 ? FVM2_RULES : FVM4_RULES
    this.modules = modules
    this.#counter = new wasm.Global({ value: 'i64', mutable: true }, 0n)
    const rows = SYSCALLS[major]
    const imports: Record<string, Record<string, unknown>> = { [GAS_MODULE]: {} }
    for (const row of rows) {
      imports[row.module] ??= {}
      ;(imports[row.module] as Record<string, unknown>)[row.name] = row.nests ? this.#bindNesting(row) : this.#bind(row)
    }
    ;(imports[GAS_MODULE] as Record<string, unknown>)[this.rules.gasCounter] = this.#counter
    this.#imports = imports
    this.#types = new Map(
      rows.map((row) => [`${row.module}.${row.name}`, `${row.resultSize > 0 ? 'i' : ''}${row.params}:i`]),
    )
  }

  /**
   * The code of an actor. Instruments and compiles when it first runs.
   * @param load - gives the module of that code CID; its bytes must match the CID
   */
  code(code: Cid, load: () => Uint8Array): ActorCode {
    return new WasmActorCode(this, String(code), load)
  }

  /** Compiles ahead of time: for threads that may not compile large modules synchronously. */
  async prepare(code: Cid, load: () => Uint8Array): Promise<void> {
    await this.modules.prepare(String(code), load, this.rules)
  }

  /** @throws FatalError for a module that can't be used */
  compile(code: string, load: () => Uint8Array, rules: InstrumentationRules): CompiledModule {
    try {
      return this.modules.compile(code, load, rules)
    } catch (cause) {
      if (!(cause instanceof WasmError)) throw cause
      throw new FatalError(`Cannot load actor ${code}: ${cause.message}`, { cause })
    }
  }

  /**
   * Starts a run: whoever gets it calls its entry point from a frame of its own and hands what came of that to
   * {@link leave}, whatever it is.
   */
  enter(code: CodeSource, kernel: Kernel): Entered {
    const outer = this.#current
    if (this.#nested >= PROBED_FROM) probeStack()
    const inHostMemory = this.#nested >= this.#hostMemoryFrom && code.compile(this.rules).info.fitsHostMemory
    const compiled = code.compile(inHostMemory ? FVM4_HOST_MEMORY_RULES : this.rules)
    const run = new Invocation(kernel, compiled.info, this.rules, this.#counter)
    this.#current = run
    let pooled = false
    try {
      const instance = this.#instantiate(compiled, run, () => {
        if (!inHostMemory) return this.#imports
        const imports = { ...this.#imports, [HOST_MODULE]: { [HOST_MEMORY]: this.#pool.peek() } }
        const pages = compiled.info.memoryPages ?? 0
        this.#pool.begin(pages, () => run.memory.bytes.length / PAGE_BYTES || pages)
        pooled = true
        return imports
      })
      const { memory } = instance.exports
      if (!(memory instanceof wasm.Memory)) throw new FatalError('actor has no memory export')
      const pages = inHostMemory ? (instance.exports[PAGES_EXPORT] as WasmInt32Global) : undefined
      run.memory.attach(memory as WasmMemory, pages)
      const invoke = entryPoint(instance, compiled.info, this.major)
      run.updateGasAvailable()
      this.#nested++
      return { run, outer, invoke, pooled }
    } catch (error) {
      if (pooled) this.#pool.end()
      this.#current = outer
      throw error
    }
  }

  /**
   * Ends a run.
   * @param thrown - what the entry point threw
   * @returns handle of the returned block
   * @throws ActorExit, OutOfGas, FatalError; a failure of the host as it is
   */
  leave({ run, outer, pooled }: Entered, result: number, thrown: Thrown | undefined): BlockHandle {
    this.#current = run
    try {
      if (thrown !== undefined) throwHostFailure(run, thrown.error)
      // Running out shows here, whatever the module ended with.
      run.chargeForExec()
      if (thrown !== undefined) throw outcomeOf(thrown.error)
      return result >>> 0
    } finally {
      if (pooled) this.#pool.end()
      this.#current = outer
      this.#nested--
    }
  }

  /**
   * Starts an instance and pays for it.
   * @see ref-fvm `Engine::instantiate`, release/v2 `Engine::get_instance`
   */
  #instantiate({ module, info }: CompiledModule, run: Invocation, imports: () => WasmImports): WasmInstance {
    const isV2 = this.major === 2
    run.chargeForInit()
    this.#checkImports(info)
    if (isV2) this.#counter.value = 0n
    else run.updateGasAvailable()
    let instance: WasmInstance | undefined
    let thrown: { readonly error: unknown } | undefined
    if (run.reserve()) {
      try {
        instance = new wasm.Instance(module, imports())
      } catch (error) {
        thrown = { error }
      }
    } else {
      thrown = { error: new wasm.RuntimeError('memory minimum size exceeds memory limits') }
    }
    if (thrown !== undefined) throwHostFailure(run, thrown.error)
    if (!isV2) run.chargeForExec()
    if (instance === undefined) {
      const text = thrown?.error instanceof Error ? thrown.error.message : String(thrown?.error)
      // The reference can't tell traps from other errors here; FVM 2 takes all for its own failure.
      if (isV2) throw new FatalError(`failed to instantiate module: ${text}`)
      throw new ActorExit(Exit.SYS_ILLEGAL_INSTRUCTION, `failed to instantiate module: ${text}`)
    }
    if (info.grows) run.setBudget(instance.exports[BUDGET_EXPORT] as WasmGlobal, MAX_MESSAGE_BYTES)
    return instance
  }

  /** The linker's check. @throws FatalError for an import that is no syscall of this version */
  #checkImports(info: ModuleInfo): void {
    if (this.#linked.has(info)) return
    for (const { module, name, type } of info.imports) {
      if (this.#types.get(`${module}.${name}`) !== type) {
        throw new FatalError(`failed to link actor module: unknown import ${module}::${name} of type ${type}`)
      }
    }
    this.#linked.add(info)
  }

  /**
   * The function that a module calls for one syscall.
   *
   * The order is consensus: execution gas, the syscall's own, room for the result, the call, the result, the counter. When
   * there is no room for the result the reference leaves without refreshing the counter, so what was executed before is
   * charged once more by the next charge.
   * @see ref-fvm fvm/src/syscalls/linker.rs `impl_syscall`
   */
  #bind(row: SyscallRow): SyscallImport {
    const { resultSize, run: handler, write } = row
    // One flat function without arrays: it stands on the stack once per nested call.
    return (a, b, c, d, e, f, g, h, i) => {
      const run = this.#current as Invocation
      const { kernel, memory } = run
      run.chargeForExec()
      run.chargeForSyscall()
      memory.refresh()
      const resultAt = resultSize > 0 ? (a as number) >>> 0 : 0
      if (resultAt + resultSize > memory.bytes.length && resultSize > 0) {
        return fail(kernel, row, Errno.IllegalArgument, 'no space for return value')
      }
      let errno = 0
      try {
        if (resultSize > 0) {
          const value = handler(run, b, c, d, e, f, g, h, i)
          memory.refresh()
          write(memory.view, resultAt, value as never)
        } else {
          handler(run, a, b, c, d, e, f, g, h, i)
        }
        kernel.lastError = undefined
      } catch (error) {
        this.#current = run
        if (!(error instanceof SyscallError)) {
          if (isAbort(error)) run.updateGasAvailable()
          else run.hostFailure = { error }
          throw error
        }
        errno = fail(kernel, row, error.errno, error.message)
      }
      run.updateGasAvailable()
      return errno
    }
  }

  /**
   * The same for a syscall that calls other actors. It drives the call's steps and enters the callee's module itself: per
   * nested call the engine's stack holds this frame and the modules' own, and not the machine's.
   */
  #bindNesting(row: SyscallRow): SyscallImport {
    const { resultSize, run: handler, write } = row
    return (a, b, c, d, e, f, g, h, i) => {
      const run = this.#current as Invocation
      const { kernel, memory } = run
      run.chargeForExec()
      run.chargeForSyscall()
      memory.refresh()
      const resultAt = (a as number) >>> 0
      if (resultAt + resultSize > memory.bytes.length) {
        return fail(kernel, row, Errno.IllegalArgument, 'no space for return value')
      }
      let errno = 0
      try {
        const steps = handler(run, b, c, d, e, f, g, h, i) as Steps<never>
        let step = steps.next()
        while (step.done !== true) {
          const { code } = step.value
          if (!(code instanceof WasmActorCode) || code.engine !== this) {
            step = advance(steps, step.value)
            continue
          }
          let entered: Entered | undefined
          let result = 0
          let thrown: Thrown | undefined
          try {
            entered = code.enter(step.value.kernel)
            result = entered.invoke(step.value.params)
          } catch (error) {
            thrown = { error }
          }
          step = this.#goOn(steps, entered, result, thrown)
        }
        memory.refresh()
        write(memory.view, resultAt, step.value)
        kernel.lastError = undefined
      } catch (error) {
        this.#current = run
        if (!(error instanceof SyscallError)) {
          if (isAbort(error)) run.updateGasAvailable()
          else run.hostFailure = { error }
          throw error
        }
        errno = fail(kernel, row, error.errno, error.message)
      }
      run.updateGasAvailable()
      return errno
    }
  }

  /** Tells a call how the code that it wanted run has ended. */
  #goOn<T>(
    steps: Steps<T>,
    entered: Entered | undefined,
    result: number,
    thrown: Thrown | undefined,
  ): IteratorResult<ActorRun, T> {
    let handle: BlockHandle
    try {
      // Not entered: the instance could not start, and what was thrown says why.
      if (entered === undefined) throw thrown?.error
      handle = this.leave(entered, result, thrown)
    } catch (error) {
      return steps.throw(error)
    }
    return steps.next(handle)
  }
}

/** A run that has been started. */
export interface Entered {
  readonly run: Invocation
  readonly outer: Invocation | undefined
  readonly invoke: (params: number) => number
  /** whether it takes a turn in the pool's memory */
  readonly pooled: boolean
}

/** Something that compiles an actor's module by any rules. */
export interface CodeSource {
  compile(rules: InstrumentationRules): CompiledModule
}

interface Thrown {
  readonly error: unknown
}

/** An actor's module, compiled when it first runs. */
class WasmActorCode implements ActorCode, CodeSource {
  readonly engine: WasmEngine
  readonly #name: string
  readonly #load: () => Uint8Array
  /** by the engine's own rules */
  #compiled: CompiledModule | undefined

  constructor(engine: WasmEngine, name: string, load: () => Uint8Array) {
    this.engine = engine
    this.#name = name
    this.#load = load
  }

  compile(rules: InstrumentationRules): CompiledModule {
    if (rules !== this.engine.rules) return this.engine.compile(this.#name, this.#load, rules)
    this.#compiled ??= this.engine.compile(this.#name, this.#load, rules)
    return this.#compiled
  }

  enter(kernel: Kernel): Entered {
    return this.engine.enter(this, kernel)
  }

  invoke(kernel: Kernel, params: BlockHandle): BlockHandle {
    const entered = this.enter(kernel)
    let result = 0
    let thrown: Thrown | undefined
    try {
      result = entered.invoke(params)
    } catch (error) {
      thrown = { error }
    }
    return this.engine.leave(entered, result, thrown)
  }
}

/** A function as a module calls it: i32 are signed numbers, i64 signed bigints. */
type SyscallImport = (
  a?: unknown,
  b?: unknown,
  c?: unknown,
  d?: unknown,
  e?: unknown,
  f?: unknown,
  g?: unknown,
  h?: unknown,
  i?: unknown,
) => number

/** Notes why a syscall failed; returns what the module gets. */
function fail(kernel: Kernel, { module, name }: SyscallRow, errno: Errno, message: string): number {
  kernel.lastError = { module, function: name, errno, message }
  return errno
}

/**
 * Finds actors' code in a store.
 * @param load - the module of a code CID, undefined where it isn't known
 */
export function wasmCodeLoader(engine: WasmEngine, load: (code: Cid) => Uint8Array | undefined): CodeLoader {
  return (code) => {
    const module = load(code)
    return module === undefined ? undefined : engine.code(code, () => module)
  }
}

function entryPoint(instance: WasmInstance, info: ModuleInfo, major: number): (params: number) => number {
  if (info.invoke === 'fits') return instance.exports.invoke as (params: number) => number
  if (info.invoke === 'absent' && major === 4) {
    throw new ActorExit(Exit.SYS_INVALID_RECEIVER, 'cannot upgrade to an actor without the entry point')
  }
  throw new FatalError('failed to find function `invoke` of the expected type')
}

/** @throws VmError `HOST_STACK_EXHAUSTED` */
function probeStack(): void {
  try {
    Reflect.apply(doNothing, undefined, STACK_PROBE)
  } catch (cause) {
    throw new VmError('HOST_STACK_EXHAUSTED', NO_STACK, {}, { cause })
  }
}

function doNothing(): void {}

function isAbort(error: unknown): boolean {
  return error instanceof ActorExit || error instanceof OutOfGas || error instanceof FatalError
}

/** Throws if the run ended for a reason that is not the actor's. */
function throwHostFailure(run: Invocation, error: unknown): void {
  if (run.hostFailure !== undefined) throw stackFailure(run.hostFailure.error) ?? run.hostFailure.error
  if (run.hostOutOfMemory) throw outOfMemory(error)
  if (isAbort(error) || error instanceof wasm.RuntimeError) return
  const failure = stackFailure(error)
  if (failure !== undefined) throw failure
  if (error instanceof RangeError) throw outOfMemory(error)
  throw error
}

function stackFailure(cause: unknown): VmError | undefined {
  if (!isStackExhausted(cause)) return undefined
  return new VmError('HOST_STACK_EXHAUSTED', NO_STACK, {}, { cause })
}

function outOfMemory(cause: unknown): VmError {
  return new VmError('HOST_MEMORY_EXHAUSTED', 'Cannot run message: the host has no memory left', {}, { cause })
}

/** What the actor's end means: its own exit or the machine's verdict as they are, a trap as exit code 4. */
function outcomeOf(error: unknown): unknown {
  if (!(error instanceof wasm.RuntimeError)) return error
  return new ActorExit(Exit.SYS_ILLEGAL_INSTRUCTION, trapText(error.message))
}
