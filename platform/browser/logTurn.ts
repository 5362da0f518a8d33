/**
 * Has the browser begin another log of its database. Chromium keeps IndexedDB in LevelDB, and writes its log on after a start, also behind
 * a record that was cut off (a killed browser, a disk that was full). What stands behind the cut is held torn at the start after that, and
 * then Chromium deletes the whole database, keys with it. When so much has been written that LevelDB's buffer is full, it writes a table of
 * what is in the log, and deletes that.
 * @see https://github.com/google/leveldb/issues/1287; leveldb db/db_impl.cc DBImpl::RecoverLogFile, MakeRoomForWrite, db/log_reader.cc ReadRecord
 */
import { LOG_TURN_BYTES } from './storeLimits.ts'

/** A larger value becomes a file of its own in Chromium, of which the log has the name alone. */
const VALUE_BYTES = 32 * 1024

/** Writes so much under one key, in a transaction that is open; in the end there is nothing. */
export function fillStore(store: IDBObjectStore, key: string, most: number): void {
  const value = new Uint8Array(VALUE_BYTES)
  for (let bytes = 0; bytes < most; bytes += VALUE_BYTES) store.put(value, key)
  store.delete(key)
}

/** Fills LevelDB's buffer by a store. */
export function turnLog(store: IDBObjectStore, key: string): void {
  fillStore(store, key, LOG_TURN_BYTES)
}
