/** Storage buckets: each has databases of its own, in Chromium a LevelDB beside that of the page. @see https://wicg.github.io/storage-buckets/ */

/** Of Chromium alone. */
interface StorageBuckets {
  open(name: string, options?: { readonly durability?: 'strict' | 'relaxed' }): Promise<StorageBucket>
  delete(name: string): Promise<void>
}

interface StorageBucket {
  readonly indexedDB: IDBFactory
}

/** undefined: this browser has none. */
export function storageBuckets(): StorageBuckets | undefined {
  return (navigator as Navigator & { readonly storageBuckets?: StorageBuckets }).storageBuckets
}
