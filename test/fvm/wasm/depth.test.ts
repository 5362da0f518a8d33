import { describe, expect, it } from 'vitest'
import { VmError } from '../../../src/fvm/errors.ts'
import type { Kernel } from '../../../src/fvm/kernel/kernel.ts'
import type { CompiledModule } from '../../../src/fvm/wasm/moduleCache.ts'
import { type Entered, WasmEngine } from '../../../src/fvm/wasm/wasmEngine.ts'
import { recurse } from './recursion.ts'

class CountingEngine extends WasmEngine {
  entered = 0

  override enter(compiled: CompiledModule, kernel: Kernel): Entered {
    const entered = super.enter(compiled, kernel)
    this.entered++
    return entered
  }
}

describe('calls that nest', () => {
  it('go as deep as the machine allows, or the message stays undecided', () => {
    const engine = new CountingEngine(4)
    // Twice: a run that ended for want of stack or memory must leave the engine fit for the next one.
    for (let round = 0; round < 2; round++) {
      engine.entered = 0
      let outcome: unknown
      try {
        outcome = recurse(engine)
      } catch (error) {
        outcome = error instanceof VmError ? error.code : error
      }
      expect([1024, 'HOST_STACK_EXHAUSTED', 'HOST_MEMORY_EXHAUSTED']).toContain(outcome)
      // Stacks of 1 MB hold some 690. Chromium has room for 120 memories: each reserves 8 GiB of its sandbox's 1 TiB.
      expect(engine.entered).toBeGreaterThan(100)
    }
  })
})
