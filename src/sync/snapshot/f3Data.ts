/**
 * The F3 data of a version 2 snapshot: uvarint length ‖ header, then uvarint length ‖ certificate for each instance.
 * They may pass 100 MiB, so that they are taken and given in pieces.
 * @see FRC-0108; go-f3 certstore/snapshot.go SnapshotHeader, ImportSnapshotToDatastore
 */

import type { PieceSink } from '../../archive/carScanner.ts'
import { concatBytes } from '../../base/bytes.ts'
import { CborReader } from '../../codec/cborReader.ts'
import { CborWriter } from '../../codec/cborWriter.ts'
import { type Cid, CODEC_RAW } from '../../codec/cid.ts'
import { varintBytes } from '../../codec/varint.ts'
import { blockCid } from '../../crypto/blockCid.ts'
import { type Blockstore, getBlock } from '../../ipld/blockstore.ts'
import { MAX_F3_ITEM_BYTES } from '../limits.ts'
import { SnapshotError } from './errors.ts'

const MAX_VARINT = 8
const VERSION = 1
const HEADER_FIELDS = 4

/** The header of the data. */
export interface F3DataHeader {
  readonly firstInstance: number
  readonly latestInstance: number
  /** The power table of the first instance, as CBOR. */
  readonly initialPowerTable: Uint8Array
}

/** Takes what the data hold. */
export interface F3DataSink {
  header(header: F3DataHeader): void
  /** A certificate's CBOR, in order of instances. The array is the callee's. */
  certificate(bytes: Uint8Array): void
}

function invalid(message: string, offset: number): SnapshotError {
  return new SnapshotError('INVALID_F3_DATA', `Cannot read F3 data: ${message} at byte ${offset} of the block`, {
    offset,
  })
}

function parseHeader(bytes: Uint8Array): F3DataHeader {
  const reader = new CborReader(bytes)
  const fields = reader.readArray()
  const version = reader.readUintNumber()
  if (fields !== HEADER_FIELDS || version !== VERSION)
    throw invalid(`a header of version ${version}, expected ${VERSION},`, 0)
  const firstInstance = reader.readUintNumber()
  const latestInstance = reader.readUintNumber()
  const initialPowerTable = reader.readRaw()
  reader.end()
  return { firstInstance, latestInstance, initialPowerTable }
}

/** Reads the data out of pieces; holds one item at a time. */
export class F3DataReader implements PieceSink {
  readonly #sink: F3DataSink
  #held: Uint8Array = new Uint8Array(0)
  #position = 0
  #header: F3DataHeader | undefined
  #certificates = 0

  constructor(sink: F3DataSink) {
    this.#sink = sink
  }

  /** @throws SnapshotError `INVALID_F3_DATA`; CodecError; what the sink throws */
  write(piece: Uint8Array): void {
    let bytes = this.#held.length === 0 ? piece : concatBytes(this.#held, piece)
    for (;;) {
      const end = this.#itemEnd(bytes)
      if (end === undefined || end.to > bytes.length) break
      this.#item(bytes.slice(end.from, end.to))
      this.#position += end.to
      bytes = bytes.subarray(end.to)
    }
    this.#held = bytes.slice()
  }

  /** @throws SnapshotError `INVALID_F3_DATA` when the data end too early */
  end(): void {
    if (this.#held.length > 0 || this.#header === undefined) throw invalid('the data end early', this.#position)
    const expected = this.#header.latestInstance - this.#header.firstInstance + 1
    if (this.#certificates !== expected)
      throw invalid(`${this.#certificates} certificates, expected ${expected},`, this.#position)
  }

  #itemEnd(bytes: Uint8Array): { from: number; to: number } | undefined {
    let length = 0
    let scale = 1
    for (let i = 0; i < MAX_VARINT; i++) {
      const byte = bytes[i]
      if (byte === undefined) return undefined
      length += (byte & 0x7f) * scale
      if (byte < 0x80) {
        if (length === 0 || length > MAX_F3_ITEM_BYTES) throw invalid(`an item of ${length} bytes`, this.#position)
        return { from: i + 1, to: i + 1 + length }
      }
      scale *= 128
    }
    throw invalid('a length of more than 8 bytes', this.#position)
  }

  #item(bytes: Uint8Array): void {
    if (this.#header === undefined) {
      this.#header = parseHeader(bytes)
      this.#sink.header(this.#header)
    } else {
      this.#certificates++
      this.#sink.certificate(bytes)
    }
  }
}

/**
 * Gives the F3 data of an opened snapshot to a sink.
 * @throws BlockMissing; SnapshotError `INVALID_F3_DATA`
 */
export function readF3Data(store: Blockstore, f3Data: Cid, sink: F3DataSink): void {
  const reader = new F3DataReader(sink)
  const data = getBlock(store, f3Data)
  // In pieces: what is left of one is copied.
  for (let at = 0; at < data.length; at += 1 << 20) reader.write(data.subarray(at, at + (1 << 20)))
  reader.end()
}

/**
 * The block that holds this header and these certificates, with its CID (raw, BLAKE2b-256).
 * @param header - CBOR of [1, first instance, latest instance, initial power table]
 */
export function f3Block(header: Uint8Array, certificates: Iterable<Uint8Array>): readonly [Cid, Uint8Array] {
  const parts: Uint8Array[] = []
  for (const item of [header, ...certificates]) parts.push(varintBytes(item.length), item)
  let bytes = 0
  for (const part of parts) bytes += part.length
  const data = new Uint8Array(bytes)
  let at = 0
  for (const part of parts) {
    data.set(part, at)
    at += part.length
  }
  return [blockCid(data, CODEC_RAW), data]
}

/** CBOR of a {@link F3DataHeader}. */
export function encodeF3Header({ firstInstance, latestInstance, initialPowerTable }: F3DataHeader): Uint8Array {
  const writer = new CborWriter()
  writer.array(HEADER_FIELDS)
  writer.uint(VERSION)
  writer.uint(firstInstance)
  writer.uint(latestInstance)
  writer.raw(initialPowerTable)
  return writer.finish()
}
