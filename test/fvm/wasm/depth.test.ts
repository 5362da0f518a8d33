import { describe, expect, it } from 'vitest'
import { VmError } from '../../../src/fvm/errors.ts'
import type { Kernel } from '../../../src/fvm/kernel/kernel.ts'
import { type CodeSource, type Entered, WasmEngine } from '../../../src/fvm/wasm/wasmEngine.ts'
import { recurse } from './recursion.ts'

class CountingEngine extends WasmEngine {
  entered = 0

  override enter(code: CodeSource, kernel: Kernel): Entered {
    const entered = super.enter(code, kernel)
    this.entered++
    return entered
  }
}

function deepest(engine: CountingEngine): unknown {
  engine.entered = 0
  try {
    return recurse(engine)
  } catch (error) {
    return error instanceof VmError ? error.code : error
  }
}

const UNDECIDED = ['HOST_STACK_EXHAUSTED', 'HOST_MEMORY_EXHAUSTED']

describe('calls that nest', () => {
  it('go as deep as the machine allows, or the message stays undecided', () => {
    const engine = new CountingEngine(4)
    // Twice: a run that ended for want of stack or memory must leave the engine fit for the next one.
    for (let round = 0; round < 2; round++) {
      expect([1024, ...UNDECIDED]).toContain(deepest(engine))
      // Stacks of 1 MB hold some 690. Chromium has room for 120 memories: each reserves 8 GiB of its sandbox's 1 TiB.
      expect(engine.entered).toBeGreaterThan(100)
    }
  })

  it('go beyond 300 in every runtime when they take turns in memory of the host', () => {
    const engine = new CountingEngine(4, undefined, { hostMemoryFrom: 64 })
    for (let round = 0; round < 2; round++) {
      expect([1024, ...UNDECIDED]).toContain(deepest(engine))
      expect(engine.entered).toBeGreaterThan(300)
    }
  })
})
