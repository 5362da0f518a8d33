/**
 * Has the browser begin another log of its database. Chromium keeps IndexedDB in LevelDB, and writes its log on after a start, also behind
 * a record that was cut off (a killed browser, a disk that was full). What stands behind the cut is held torn at the start after that, and
 * then Chromium deletes the whole database, keys with it. When so much has been written that LevelDB's buffer is full, it writes a table of
 * what is in the log, and deletes that.
 * @see https://github.com/google/leveldb/issues/1287; leveldb db/db_impl.cc DBImpl::RecoverLogFile, MakeRoomForWrite, db/log_reader.cc ReadRecord
 */
import { promisifyRequest } from 'idb-keyval'
import { TRANSACTION_BYTES } from './storeLimits.ts'

/** A larger value becomes a file of its own in Chromium, of which the log has the name alone. */
const VALUE_BYTES = 32 * 1024
/** No name of anything that is kept. */
const KEY = ''

/** Writes so much to a store, and takes it away again. */
export async function fillStore(database: IDBDatabase, name: string, bytes: number): Promise<void> {
  const value = new Uint8Array(VALUE_BYTES)
  const done: Promise<void>[] = []
  for (let left = bytes; left > 0; left -= TRANSACTION_BYTES) {
    const transaction = database.transaction(name, 'readwrite')
    const store = transaction.objectStore(name)
    for (let at = 0; at < TRANSACTION_BYTES; at += VALUE_BYTES) store.put(value, KEY)
    store.delete(KEY)
    done.push(promisifyRequest(transaction))
  }
  await Promise.all(done)
}
