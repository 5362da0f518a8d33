/** What is run for callers, and traced for anybody: each at its bound and one above. */
import { expect, it } from 'vitest'
import { MAX_CALL_BYTES, MAX_CALL_CHARGES, MAX_TRACE_BYTES } from '../../src/chain/limits.ts'
import type { InvocResult } from '../../src/chain/vm.ts'
import { boundedTraces, CALL_BOUNDS, callCheckpoint, TRACE_BOUNDS } from '../../src/execution/callBounds.ts'

/** Of a message with a call below it. */
function traced(params: number, returned: number): InvocResult {
  const data = (length: number) => ({ length }) as Uint8Array
  const call = (params: number, returned: number, subcalls: unknown[]) => {
    return { msg: { params: data(params) }, msgRct: { return: data(returned) }, subcalls }
  }
  return { executionTrace: call(1, 2, [call(params, returned, [])]) } as unknown as InvocResult
}

it('traces of all messages together have so much data', () => {
  for (const [more, fits] of [
    [0, true],
    [1, false],
  ] as const) {
    const taken: InvocResult[] = []
    const take = boundedTraces((result) => taken.push(result))
    take(traced(1000, 2000))
    const last = traced(MAX_TRACE_BYTES - 3006, more)
    if (fits) take(last)
    else expect(() => take(last)).toThrow(expect.objectContaining({ code: 'TRACE_TOO_LARGE' }) as Error)
    expect(taken).toHaveLength(fits ? 2 : 1)
  }
})

it('one message of the chain has no more data in its trace; one that a caller has run holds so much besides', () => {
  expect(TRACE_BOUNDS).toEqual({ traceBytes: MAX_TRACE_BYTES })
  expect(CALL_BOUNDS).toEqual({ traceBytes: MAX_TRACE_BYTES, heldBytes: MAX_CALL_BYTES })
})

it('a message that a caller has run is charged so often, and given up all the while', () => {
  let asked = 0
  const checkpoint = callCheckpoint(() => void asked++)
  for (let i = 0; i < MAX_CALL_CHARGES; i++) checkpoint()
  expect(checkpoint).toThrow(expect.objectContaining({ code: 'HOST_MEMORY_EXHAUSTED' }) as Error)
  expect(asked).toBe(MAX_CALL_CHARGES + 1)
})
