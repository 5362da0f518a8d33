/** Errors of the browser platform. */
import { PetrelError } from '../../src/base/errors.ts'

/** What went wrong at the edge to the browser. */
export type BrowserErrorCode =
  | 'NOT_SUPPORTED'
  | 'STORE_CLOSED'
  | 'STORE_FAILED'
  | 'STORE_FULL'
  | 'FILE_UNREADABLE'
  | 'RANGE_REFUSED'
  | 'BUNDLE_INVALID'
  | 'OPTIONS_INVALID'
  | 'START_FAILED'
  | 'STOPPED'
  | 'NODE_CHANGED'
  | 'ACCESS_REFUSED'

/** An error of the browser platform. */
export class BrowserError extends PetrelError<BrowserErrorCode> {}

/** The name of a DOMException (`QuotaExceededError`, …), or of any other error; empty when it has none. */
export function domName(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('name' in error)) return ''
  return typeof error.name === 'string' ? error.name : ''
}
