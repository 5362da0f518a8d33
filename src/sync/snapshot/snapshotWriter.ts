/**
 * Writes a snapshot from front to back, in one of the forms that Lotus and Forest read: a CAR, the same in zstd frames,
 * or Forest's with an index; version 1, or version 2 with a metadata block and F3 data.
 * @see lotus chain/store/snapshot.go ExportV1, ExportV2
 */

import { carHeaderBytes, carSectionHead } from '../../archive/car.ts'
import { ForestWriter, type ZstdEncoder } from '../../archive/forestWriter.ts'
import { BufferedSink, type ByteSink, type OpenScratch } from '../../archive/scratchFile.ts'
import type { Cid } from '../../codec/cid.ts'
import { blockCid } from '../../crypto/blockCid.ts'
import type { TipsetKey } from '../../types/tipset.ts'
import { encodeMetadata } from './metadata.ts'

/** Form of a file: `car`, `car.zst`, `forest.car.zst`. */
export type SnapshotFormat = 'car' | 'zstd' | 'forest'

/** What a writer needs. */
export interface SnapshotWriterOptions {
  readonly head: TipsetKey
  readonly format: SnapshotFormat
  readonly version: 1 | 2
  readonly compress: ZstdEncoder
  readonly openScratch: OpenScratch
  /** The F3 block of a version 2 snapshot. */
  readonly f3Data?: readonly [Cid, Uint8Array]
}

/** Content of one zstd frame of a `car.zst`, bytes. */
const FRAME_BYTES = 1 << 20

/** Takes the blocks of a snapshot. */
export interface SnapshotWriter {
  /** `data` must not be written to afterwards. */
  add(cid: Cid, data: Uint8Array): void
  finish(): void
  /** Gives scratch files up, finished or not. */
  close(): void
}

/** Gathers what is written into frames. */
class ZstdSink implements ByteSink {
  readonly #sink: ByteSink
  readonly #compress: ZstdEncoder
  #parts: Uint8Array[] = []
  #bytes = 0

  constructor(sink: ByteSink, compress: ZstdEncoder) {
    this.#sink = sink
    this.#compress = compress
  }

  write(data: Uint8Array): void {
    this.#parts.push(data)
    this.#bytes += data.length
    if (this.#bytes >= FRAME_BYTES) this.flush()
  }

  flush(): void {
    if (this.#bytes === 0) return
    this.#sink.write(this.#compress(concatParts(this.#parts, this.#bytes)))
    this.#parts = []
    this.#bytes = 0
  }
}

function concatParts(parts: readonly Uint8Array[], bytes: number): Uint8Array {
  const out = new Uint8Array(bytes)
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}

class CarWriter implements SnapshotWriter {
  readonly #sink: ByteSink & { flush(): void }

  constructor(sink: ByteSink & { flush(): void }, roots: readonly Cid[]) {
    this.#sink = sink
    this.#sink.write(carHeaderBytes(roots))
  }

  add(cid: Cid, data: Uint8Array): void {
    this.#sink.write(carSectionHead(cid, data.length))
    this.#sink.write(data)
  }

  finish(): void {
    this.#sink.flush()
  }

  close(): void {}
}

/** Starts a snapshot; its blocks follow in the order of {@link walkSnapshot}. */
export function createSnapshotWriter(sink: ByteSink, options: SnapshotWriterOptions): SnapshotWriter {
  const { head, version, format, compress, f3Data } = options
  const metadata = version === 1 ? undefined : encodeMetadata({ f3Data: f3Data?.[0], headTipsetKey: head })
  const metadataCid = metadata === undefined ? undefined : blockCid(metadata)
  const roots = metadataCid === undefined ? head : [metadataCid]
  let writer: SnapshotWriter
  if (format === 'forest') writer = new ForestWriter(sink, roots, options)
  else writer = new CarWriter(format === 'zstd' ? new ZstdSink(sink, compress) : new BufferedSink(sink), roots)
  if (metadata !== undefined && metadataCid !== undefined) {
    writer.add(metadataCid, metadata)
    if (f3Data !== undefined) writer.add(...f3Data)
  }
  return writer
}
