/** Errors of the Node and Deno platform. */
import { errorMessage, PetrelError } from '../../src/base/errors.ts'

/** What went wrong at the edge to the operating system. */
export type PlatformErrorCode =
  | 'HOME_IN_USE'
  | 'HOME_UNREADABLE'
  | 'CONFIG_INVALID'
  | 'STORE_CLOSED'
  | 'STORE_FAILED'
  | 'STORE_FULL'
  | 'STORE_READ_ONLY'
  | 'STORE_DAMAGED'
  | 'ADDRESS_IN_USE'
  | 'LISTEN_FAILED'
  | 'DOWNLOAD_FAILED'
  | 'CHECKSUM_WRONG'
  | 'NAME_INVALID'
  | 'BACKUP_REFUSED'
  | 'BUNDLE_INVALID'

/** An error of the platform layer. */
export class PlatformError extends PetrelError<PlatformErrorCode> {}

/** The operating system's own code (`ENOENT`, `EADDRINUSE`, …) of something thrown; empty when it has none. */
export function systemCode(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return ''
  return typeof error.code === 'string' ? error.code : ''
}

/** Why a request did not come through: `fetch` says no more than that it failed, and keeps the reason as its cause. */
export function fetchReason(error: unknown): string {
  const cause = error instanceof TypeError ? error.cause : undefined
  return errorMessage(cause instanceof Error && cause.message !== '' ? cause : error)
}
