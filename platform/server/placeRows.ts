/**
 * Rows of where messages lie (`src/chain/messagePlaces.ts`), in an LMDB environment of their own: nobody misses what is in it, so a full
 * disk or damage there keeps no chain from going on, and what cannot be opened is begun anew.
 */
import { rmSync } from 'node:fs'
import { errorMessage } from '../../src/base/errors.ts'
import type { KeyValueStore, Logger } from '../../src/base/ports.ts'
import { PlatformError } from './errors.ts'
import { LmdbEnvironment } from './lmdbStore.ts'

/** @returns undefined where there cannot be any */
export function openPlaceRows(path: string, log: Logger): KeyValueStore | undefined {
  try {
    return new LmdbEnvironment({ path }).meta
  } catch (error) {
    if (!(error instanceof PlatformError) || error.code === 'STORE_FULL' || error.code === 'STORE_READ_ONLY') {
      log.warn('where messages lie is not noted', { reason: errorMessage(error) })
      return undefined
    }
    log.warn('where messages lie is noted anew', { reason: error.message })
    rmSync(path, { recursive: true, force: true })
    return new LmdbEnvironment({ path }).meta
  }
}
