import { WasmError } from './errors.ts'
import { instrument } from './instrument.ts'
import { type ModuleInfo, moduleInfo } from './moduleInfo.ts'
import type { InstrumentationRules } from './rules.ts'
import { type WasmModuleHandle, wasm } from './webAssembly.ts'

/** An instrumented module, compiled. */
export interface CompiledModule {
  readonly module: WasmModuleHandle
  readonly info: ModuleInfo
}

/**
 * Where instrumented modules outlive the process. Optional: instrumenting takes a few milliseconds per module.
 * Entries are trusted; a folder that others can write to must not be behind it.
 */
export interface InstrumentedCache {
  get(key: string): Uint8Array | undefined
  put(key: string, instrumented: Uint8Array): void
}

/**
 * Grows whenever the output of {@link instrument} changes for the same input, so that no stale entry is taken from an
 * {@link InstrumentedCache}.
 */
const OUTPUT_VERSION = 3
/** Modules kept; a network version has 16 or 17 kinds of actor. */
const MAX_MODULES = 256

/** Compiled modules by code and rules, the most recently used ones. */
export class ModuleCache {
  readonly #modules = new Map<string, CompiledModule>()
  readonly #disk: InstrumentedCache | undefined

  constructor(disk?: InstrumentedCache) {
    this.#disk = disk
  }

  /**
   * Instruments and compiles, unless that was done before.
   * @param code - the code CID as text: the content's identity
   * @param load - gives the module as it is on the chain
   * @throws WasmError `WASM_MALFORMED`, `WASM_REFUSED`, `WASM_TOO_LARGE`, `NOT_COMPILED`; whatever `load` throws
   */
  compile(code: string, load: () => Uint8Array, rules: InstrumentationRules): CompiledModule {
    const key = cacheKey(code, rules)
    const known = this.#recall(key)
    if (known !== undefined) return known
    return this.#keep(key, compileNow(this.#instrumented(key, load, rules)))
  }

  /** As {@link compile}, off the thread where the engine can: for threads that may not compile synchronously. */
  async prepare(code: string, load: () => Uint8Array, rules: InstrumentationRules): Promise<CompiledModule> {
    const key = cacheKey(code, rules)
    const known = this.#recall(key)
    if (known !== undefined) return known
    return this.#keep(key, await wasm.compile(this.#instrumented(key, load, rules)))
  }

  #recall(key: string): CompiledModule | undefined {
    const known = this.#modules.get(key)
    if (known === undefined) return undefined
    this.#modules.delete(key)
    this.#modules.set(key, known)
    return known
  }

  #keep(key: string, module: WasmModuleHandle): CompiledModule {
    const compiled = { module, info: moduleInfo(module) }
    this.#modules.set(key, compiled)
    for (const oldest of this.#modules.keys()) {
      if (this.#modules.size <= MAX_MODULES) break
      this.#modules.delete(oldest)
    }
    return compiled
  }

  #instrumented(key: string, load: () => Uint8Array, rules: InstrumentationRules): Uint8Array {
    const cached = this.#disk?.get(key)
    if (cached !== undefined) return cached
    const original = load()
    // The rewriter relies on a valid module; what the engine accepts beyond the reference it refuses by itself.
    if (!wasm.validate(original)) throw new WasmError('WASM_MALFORMED', 'failed to validate actor wasm')
    const instrumented = instrument(original, rules)
    this.#disk?.put(key, instrumented)
    return instrumented
  }
}

function cacheKey(code: string, rules: InstrumentationRules): string {
  return `${code}-${rules.name}-${OUTPUT_VERSION}`
}

function compileNow(instrumented: Uint8Array): WasmModuleHandle {
  try {
    return new wasm.Module(instrumented)
  } catch (cause) {
    if (cause instanceof wasm.CompileError) {
      throw new WasmError('WASM_MALFORMED', `Cannot compile actor: ${cause.message}`, {}, { cause })
    }
    // Chromium's main thread, above 8 MiB
    if (cause instanceof RangeError) {
      throw new WasmError('NOT_COMPILED', 'Cannot compile actor here: prepare it first', {}, { cause })
    }
    throw cause
  }
}
