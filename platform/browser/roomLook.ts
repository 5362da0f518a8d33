/**
 * Whether the disk takes some megabytes more. A browser says only how much a site may have (`navigator.storage.estimate`), so they are written, to
 * a database of a storage bucket of its own, which is another LevelDB in Chromium: what breaks there is nobody's. (A file of the origin's
 * file system would do, but on a full disk Chromium takes its failure for a sign to evict origins, this one first.)
 */
import { promisifyRequest } from 'idb-keyval'
import { storageBuckets } from './buckets.ts'
import { fillStore } from './logTurn.ts'
import { ROOM_BYTES } from './storeLimits.ts'

const BUCKET = 'petrel-room'

/** @returns false: there is less than {@link ROOM_BYTES}; true also where nobody can say, in a browser without LevelDB */
export async function hasRoom(): Promise<boolean> {
  const buckets = storageBuckets()
  if (buckets === undefined) return true
  let database: IDBDatabase | undefined
  try {
    const { indexedDB } = await buckets.open(BUCKET)
    const request = indexedDB.open(BUCKET)
    request.onupgradeneeded = () => void request.result.createObjectStore(BUCKET)
    database = await promisifyRequest(request)
    await fillStore(database, BUCKET, ROOM_BYTES)
    return true
  } catch (error) {
    if (error === null || error instanceof DOMException) return false
    throw error
  } finally {
    database?.close()
    // What is left of it the next look writes over.
    await buckets.delete(BUCKET).catch(() => undefined)
  }
}
