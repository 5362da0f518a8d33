import type { Cid } from '../../codec/cid.ts'
import { Exit } from '../../types/exitCodes.ts'
import type { ActorCode, ActorRun, BlockHandle, CodeLoader, Kernel, Steps } from '../kernel/kernel.ts'
import { ActorExit, Errno, FatalError } from '../kernel/outcomes.ts'
import { advance } from '../kernel/steps.ts'
import { type ActorInstance, InstancePool } from './actorInstance.ts'
import { ENGINE_VERSIONS, type EngineVersion } from './engineVersions.ts'
import { WasmError } from './errors.ts'
import { BUDGET_EXPORT, GAS_MODULE, HOST_MEMORY, HOST_MODULE, PAGE_BYTES } from './interfaceNames.ts'
import { Invocation, NO_ROOM } from './invocation.ts'
import { MemoryPool } from './memoryPool.ts'
import { type CompiledModule, ModuleCache } from './moduleCache.ts'
import type { ModuleInfo } from './moduleInfo.ts'
import type { InstrumentationRules } from './rules.ts'
import { outcomeOf, probeStack, throwHostFailure } from './runEnd.ts'
import type { SyscallRow } from './syscalls/row.ts'
import { type WasmGlobal, type WasmImports, wasm } from './webAssembly.ts'

/** Bytes that all live instances of a message may have. @see ref-fvm fvm/src/machine/mod.rs `max_memory_bytes` */
const MAX_MESSAGE_BYTES = 2 ** 31

/** Runs that nest before the stack is probed. */
const PROBED_FROM = 8

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
  readonly modules: ModuleCache
  readonly #version: EngineVersion
  readonly #counter: WasmGlobal
  readonly #imports: WasmImports
  readonly #types: ReadonlyMap<string, string>
  readonly #hostMemoryFrom: number
  readonly #memories = new MemoryPool()
  readonly #instances = new InstancePool()
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
    const version = ENGINE_VERSIONS[major]
    this.#hostMemoryFrom = version.hostMemory === undefined ? Infinity : (options.hostMemoryFrom ?? Infinity)
    this.major = major
    this.#version = version
    this.modules = modules
    this.#counter = new wasm.Global({ value: 'i64', mutable: true }, 0n)
    const rows = version.syscalls
    const imports: Record<string, Record<string, unknown>> = { [GAS_MODULE]: {} }
    for (const row of rows) {
      imports[row.module] ??= {}
      ;(imports[row.module] as Record<string, unknown>)[row.name] = row.nests ? this.#bindNesting(row) : this.#bind(row)
    }
    ;(imports[GAS_MODULE] as Record<string, unknown>)[version.instrumentation.gasCounter] = this.#counter
    this.#imports = imports
    this.#types = new Map(
      rows.map((row) => [`${row.module}.${row.name}`, `${row.resultSize > 0 ? 'i' : ''}${row.params}:i`]),
    )
  }

  /** By which modules are instrumented, unless they run in memory of the host. */
  get rules(): InstrumentationRules {
    return this.#version.instrumentation
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
    const own = code.compile(this.rules)
    const { hostMemory } = this.#version
    const inHostMemory = hostMemory !== undefined && this.#nested >= this.#hostMemoryFrom && own.info.fitsHostMemory
    const compiled = inHostMemory ? code.compile(hostMemory) : own
    const run = new Invocation(kernel, compiled.info, this.rules, this.#counter)
    this.#current = run
    let pooled = false
    try {
      const instance = this.#instantiate(compiled, run, () => {
        if (!inHostMemory) return this.#imports
        const imports = { ...this.#imports, [HOST_MODULE]: { [HOST_MEMORY]: this.#memories.peek() } }
        const pages = compiled.info.memoryPages ?? 0
        this.#memories.begin(pages, () => run.memory.bytes.length / PAGE_BYTES || pages)
        pooled = true
        return imports
      })
      run.memory.attach(instance.memory, instance.pages)
      const invoke = entryPoint(instance, compiled.info, this.#version.missingEntryExits)
      run.updateGasAvailable()
      this.#nested++
      return { run, outer, instance, invoke, pooled }
    } catch (error) {
      if (pooled) this.#memories.end()
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
  leave({ run, outer, instance, pooled }: Entered, result: number, thrown: Thrown | undefined): BlockHandle {
    this.#current = run
    try {
      if (thrown !== undefined) throwHostFailure(run, thrown.error)
      // Running out shows here, whatever the module ended with.
      run.chargeForExec()
      // The actor's own exit leaves an instance that can run again; one that trapped goes.
      if (thrown === undefined || thrown.error instanceof ActorExit) this.#instances.give(instance)
      if (thrown !== undefined) throw outcomeOf(thrown.error)
      return result >>> 0
    } finally {
      if (pooled) this.#memories.end()
      this.#current = outer
      this.#nested--
    }
  }

  /**
   * Starts an instance and pays for it.
   * @see ref-fvm `Engine::instantiate`, release/v2 `Engine::get_instance`
   */
  #instantiate({ module, info }: CompiledModule, run: Invocation, imports: () => WasmImports): ActorInstance {
    const { chargesStart, failedStartExits } = this.#version
    run.chargeForInit()
    this.#checkImports(info)
    if (chargesStart) run.updateGasAvailable()
    else this.#counter.value = 0n
    let instance: ActorInstance | undefined
    let thrown: { readonly error: unknown } | undefined
    if (run.reserve()) {
      try {
        instance = this.#instances.take(info) ?? this.#instances.describe(info, new wasm.Instance(module, imports()))
      } catch (error) {
        thrown = { error }
      }
    } else {
      thrown = { error: new wasm.RuntimeError('memory minimum size exceeds memory limits') }
    }
    if (thrown !== undefined) throwHostFailure(run, thrown.error)
    if (chargesStart) run.chargeForExec()
    if (instance === undefined) {
      const text = thrown?.error instanceof Error ? thrown.error.message : String(thrown?.error)
      // The reference can't tell traps from other errors here; FVM 2 takes all for its own failure.
      if (!failedStartExits) throw new FatalError(`failed to instantiate module: ${text}`)
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
   * The function that a module calls for one syscall. One flat function without arrays: it stands on the stack once per
   * nested call.
   */
  #bind(row: SyscallRow): SyscallImport {
    const { resultSize, run: handler } = row
    return (a, b, c, d, e, f, g, h, i) => {
      const run = this.#current as Invocation
      const resultAt = run.beginSyscall(row, a)
      if (resultAt === NO_ROOM) return Errno.IllegalArgument
      let errno = 0
      try {
        const value = resultSize > 0 ? handler(run, b, c, d, e, f, g, h, i) : handler(run, a, b, c, d, e, f, g, h, i)
        run.endSyscall(row, resultAt, value)
      } catch (error) {
        this.#current = run
        errno = run.failSyscall(row, error)
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
    const { run: handler } = row
    return (a, b, c, d, e, f, g, h, i) => {
      const run = this.#current as Invocation
      const resultAt = run.beginSyscall(row, a)
      if (resultAt === NO_ROOM) return Errno.IllegalArgument
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
        run.endSyscall(row, resultAt, step.value)
      } catch (error) {
        this.#current = run
        errno = run.failSyscall(row, error)
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
  readonly instance: ActorInstance
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

function entryPoint(instance: ActorInstance, info: ModuleInfo, missingEntryExits: boolean): (params: number) => number {
  if (info.invoke === 'fits') return instance.exports.invoke as (params: number) => number
  if (info.invoke === 'absent' && missingEntryExits) {
    throw new ActorExit(Exit.SYS_INVALID_RECEIVER, 'cannot upgrade to an actor without the entry point')
  }
  throw new FatalError('failed to find function `invoke` of the expected type')
}

/**
 * Finds actors' code in a store. What was found once is not read again, nor kept: some 400 KB for each actor that a tipset runs,
 * and every tipset runs its cron's.
 * @param load - the module of a code CID, undefined where it isn't known
 */
export function wasmCodeLoader(engine: WasmEngine, load: (code: Cid) => Uint8Array | undefined): CodeLoader {
  const found = new Map<string, ActorCode>()
  return (code) => {
    const known = found.get(code.key)
    if (known !== undefined) return known
    if (load(code) === undefined) return undefined
    const actor = engine.code(code, () => {
      // Read once more, where it was not instrumented before: to keep it until it is known whether that was done keeps it for good.
      const module = load(code)
      if (module === undefined) throw new FatalError(`Cannot load actor ${code}: its module is gone`)
      return module
    })
    found.set(code.key, actor)
    return actor
  }
}
