import { describe, expect, it } from 'vitest'
import { VmError } from '../../../src/fvm/errors.ts'
import { WasmEngine } from '../../../src/fvm/wasm/wasmEngine.ts'
import { recurse } from './recursion.ts'

describe('calls that nest', () => {
  it('go as deep as the machine allows, or the message stays undecided', () => {
    const engine = new WasmEngine(4)
    // Twice: a run that ended for want of stack must leave the engine fit for the next one.
    for (let round = 0; round < 2; round++) {
      let outcome: unknown
      try {
        outcome = recurse(engine)
      } catch (error) {
        outcome = error instanceof VmError ? error.code : error
      }
      expect([1024, 'HOST_STACK_EXHAUSTED']).toContain(outcome)
    }
  })
})
