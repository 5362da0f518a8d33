/** What may be run for callers and traced for anybody: messages that nobody has to decide, or whose traces nobody has to have. */
import { MAX_CALL_BYTES, MAX_CALL_CHARGES, MAX_TRACE_BYTES } from '../chain/limits.ts'
import type { InvocResult } from '../chain/vm.ts'
import { VmError } from '../fvm/errors.ts'
import type { RunBounds } from '../fvm/machine.ts'
import { traceBytes } from '../fvm/trace.ts'

/** Of the chain's own messages. */
export const TRACE_BOUNDS: RunBounds = { traceBytes: MAX_TRACE_BYTES }
/** Of messages that callers have run: gas does not bound them. */
export const CALL_BOUNDS: RunBounds = { ...TRACE_BOUNDS, heldBytes: MAX_CALL_BYTES }

/** To be called at each charge of gas of such a message: each may stand in its trace. @throws VmError `HOST_MEMORY_EXHAUSTED` */
export function callCheckpoint(checkpoint: (() => void) | undefined): () => void {
  let charges = 0
  return () => {
    checkpoint?.()
    if (++charges <= MAX_CALL_CHARGES) return
    const text = `Cannot run message here: it has more than ${MAX_CALL_CHARGES} charges of gas`
    throw new VmError('HOST_MEMORY_EXHAUSTED', text)
  }
}

/** Hands results on, as long as all of their traces together are no larger than one may be. @throws VmError `TRACE_TOO_LARGE` */
export function boundedTraces(take: (result: InvocResult) => void): (result: InvocResult) => void {
  let bytes = 0
  return (result) => {
    bytes += traceBytes(result.executionTrace)
    if (bytes > MAX_TRACE_BYTES) {
      const text = `Cannot trace: the calls of its messages carry more than ${MAX_TRACE_BYTES} bytes of data`
      throw new VmError('TRACE_TOO_LARGE', text)
    }
    take(result)
  }
}
