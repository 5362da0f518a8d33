/** Failures of executions and searches that clients tell apart by number. */
import { PetrelError } from '../base/errors.ts'
import type { Json } from '../codec/jsonText.ts'
import { RpcError, type RpcErrorCode } from './errors.ts'

/** By the code of the layer below; the wire's data out of its info. */
const TYPED: Readonly<Record<string, { code: RpcErrorCode; data?: (info: PetrelError['info']) => Json }>> = {
  OUT_OF_GAS: { code: 'OUT_OF_GAS' },
  EXECUTION_REVERTED: {
    code: 'EXECUTION_REVERTED',
    data: ({ data }) => (typeof data === 'string' ? data : '0x'),
  },
  EXPENSIVE_FORK: { code: 'EXPENSIVE_FORK', data: ({ epoch }) => Number(epoch) },
  NULL_ROUND: { code: 'NULL_ROUND', data: ({ epoch }) => Number(epoch) },
  BLOCK_RANGE_EXCEEDED: { code: 'BLOCK_RANGE_EXCEEDED' },
}

/** The failure with its number on the wire; any other as it is. */
export function typedFailure(error: unknown): unknown {
  if (!(error instanceof PetrelError) || error instanceof RpcError) return error
  const { code } = error as PetrelError
  const typed = Object.hasOwn(TYPED, code) ? TYPED[code] : undefined
  if (typed === undefined) return error
  const data = typed.data?.(error.info)
  return new RpcError(typed.code, error.message, { ...(data === undefined ? {} : { data }), cause: error })
}

/** Runs it; what it throws gets its number. */
export async function withNumbers<T>(run: () => Promise<T> | T): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw typedFailure(error)
  }
}
