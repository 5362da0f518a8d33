/** Opens any archive of blocks by what its bytes say: CAR version 1 or 2, plain or in zstd, or Forest's form. */
import { type ByteSource, memorySource } from '../codec/byteSource.ts'
import type { NodeCache } from '../ipld/nodeCache.ts'
import { type ArchiveStore, CarStore } from './carStore.ts'
import { ForestCarStore, isForestCar } from './forestCar.ts'
import { decompressZstd, portableZstd, type ZstdDecoder } from './zstd.ts'
import { isZstd } from './zstdFrames.ts'

/** How {@link openArchive} works. */
export interface OpenArchiveOptions {
  /** A faster decoder than the portable one. */
  readonly zstd?: ZstdDecoder
  /** See {@link CarStoreOptions.verify}; default `open`. */
  readonly verify?: 'open' | 'read' | 'always' | 'never'
  /** Largest archive that is decompressed into memory, in bytes. Default 1 GiB. */
  readonly maxMemoryBytes?: number
  readonly nodes?: NodeCache
}

const DEFAULT_MAX_MEMORY = 1 << 30

/**
 * A read-only store over an archive. A `.car.zst` that is not Forest's has no index of its own: it is decompressed into
 * memory, and one above the bound must be decompressed to a file first (see {@link streamZstd}).
 * @throws IpldError `INVALID_CAR`, `CID_MISMATCH`; CodecError `INVALID_ZSTD`, `TOO_LARGE`
 */
export function openArchive(source: ByteSource, options: OpenArchiveOptions = {}): ArchiveStore {
  const decoder = options.zstd ?? portableZstd
  const carOptions = {
    verify: options.verify ?? 'open',
    ...(options.nodes === undefined ? {} : { nodes: options.nodes }),
  }
  if (!isZstd(source)) return new CarStore(source, carOptions)
  if (isForestCar(source)) return new ForestCarStore(source, decoder, options.nodes)
  return new CarStore(
    memorySource(decompressZstd(source, options.maxMemoryBytes ?? DEFAULT_MAX_MEMORY, decoder)),
    carOptions,
  )
}
