/** Where a failure happened, told before its text, as Go's wrapping of errors does. */
import { PetrelError } from '../base/errors.ts'
import { BlockMissing } from '../ipld/errors.ts'
import { RpcError } from './errors.ts'

/**
 * Runs it; what it refuses is told after `context`.
 * @throws RpcError `FAILED`; a missing block as it is: whoever has it runs this again
 */
export function inContext<T>(context: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw told(context, error)
  }
}

/** Like {@link inContext}, for what is under way. */
export async function awaitInContext<T>(context: string, result: Promise<T>): Promise<T> {
  try {
    return await result
  } catch (error) {
    throw told(context, error)
  }
}

function told(context: string, error: unknown): unknown {
  if (!(error instanceof PetrelError) || error instanceof BlockMissing) return error
  return new RpcError('FAILED', `${context}${error.message}`, { cause: error })
}
