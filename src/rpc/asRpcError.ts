/** What failures look like on the wire. */
import { errorMessage, PetrelError } from '../base/errors.ts'
import type { Logger } from '../base/ports.ts'
import { ChainError } from '../chain/errors.ts'
import { RpcError } from './errors.ts'
import type { MethodRow } from './method.ts'

/** What a handler's failure looks like on the wire. */
export function asRpcError(error: unknown, method: string, { perm }: MethodRow, log: Logger): RpcError {
  if (isBusy(error)) return new RpcError('LIMIT_EXCEEDED', error.message, { cause: error })
  if (error instanceof RpcError) return error
  if (error instanceof PetrelError) {
    // Who put a key in the wrong place reads it in the answer; nobody reads it in the log.
    const message = perm === 'read' ? { message: error.message } : {}
    log.debug(`method ${method} failed`, { code: error.code, ...message })
    return new RpcError('FAILED', error.message, { cause: error })
  }
  return panic(error, method, log)
}

/** Whether it failed as too much waits for the machine, or because of such a failure. */
function isBusy(error: unknown): error is Error {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof ChainError && cause.code === 'VM_BUSY') return true
  return false
}

/** Of what nobody throws on purpose: a bug, which the log tells whole. @see go-jsonrpc handler.go doCall */
export function panic(error: unknown, method: string, log: Logger): RpcError {
  const [message, stack] = [errorMessage(error), error instanceof Error ? error.stack : '']
  log.error(`bug in method ${method}`, { message, stack })
  return new RpcError('PANIC', `fatal error calling '${method}': panic in rpc method '${method}': ${message}`)
}
