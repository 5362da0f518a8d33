/**
 * The first block of a version 2 snapshot: where the head is, and the F3 data.
 * @see FRC-0108; lotus chain/store/snapshot.go SnapshotMetadata; Forest src/chain/snapshot_format.rs
 */
import { CborReader } from '../../codec/cborReader.ts'
import { CborWriter } from '../../codec/cborWriter.ts'
import { type Cid, CODEC_DAG_CBOR } from '../../codec/cid.ts'
import { type Blockstore, tryGetBlock } from '../../ipld/blockstore.ts'
import { SnapshotError } from './errors.ts'

/** CBOR major type of a map. */
const MAJOR_MAP = 5
const VERSION = 2

/** What the block says. */
export interface SnapshotMetadata {
  /** The block with the F3 data, where there are any. */
  readonly f3Data: Cid | undefined
  readonly version: number
  readonly headTipsetKey: readonly Cid[]
}

/** The block's bytes. */
export function encodeMetadata({ f3Data, headTipsetKey }: Omit<SnapshotMetadata, 'version'>): Uint8Array {
  const writer = new CborWriter()
  writer.map(3)
  writer.text('F3Data')
  if (f3Data === undefined) writer.null()
  else writer.cid(f3Data)
  writer.text('Version')
  writer.uint(VERSION)
  writer.text('HeadTipsetKey')
  writer.array(headTipsetKey.length)
  for (const cid of headTipsetKey) writer.cid(cid)
  return writer.finish()
}

/**
 * Reads the block.
 * @returns undefined when it is something else (the root of a version 1 snapshot is a block header)
 * @throws SnapshotError `INVALID_SNAPSHOT`; CodecError
 */
export function decodeMetadata(data: Uint8Array): SnapshotMetadata | undefined {
  const reader = new CborReader(data)
  if (reader.peekMajor() !== MAJOR_MAP) return undefined
  let f3Data: Cid | undefined
  let version = 0
  let headTipsetKey: Cid[] | undefined
  for (let left = reader.readMap(); left > 0; left--) {
    const name = reader.readText()
    if (name === 'F3Data') {
      if (reader.peekNull()) reader.readNull()
      else f3Data = reader.readCid()
    } else if (name === 'Version') version = reader.readUintNumber()
    else if (name === 'HeadTipsetKey') {
      headTipsetKey = []
      for (let cids = reader.readArray(); cids > 0; cids--) headTipsetKey.push(reader.readCid())
    } else reader.skip()
  }
  reader.end()
  if (version !== VERSION || headTipsetKey === undefined || headTipsetKey.length === 0) {
    throw new SnapshotError(
      'INVALID_SNAPSHOT',
      `Cannot read snapshot: metadata of version ${version}, expected ${VERSION}`,
    )
  }
  return { f3Data, version, headTipsetKey }
}

/**
 * The metadata of an archive with these roots; undefined for a version 1 snapshot or no snapshot at all.
 * @throws SnapshotError `INVALID_SNAPSHOT`; CodecError
 */
export function readMetadata(store: Blockstore, roots: readonly Cid[]): SnapshotMetadata | undefined {
  const root = roots[0]
  if (roots.length !== 1 || root === undefined || root.codec !== CODEC_DAG_CBOR) return undefined
  const data = tryGetBlock(store, root)
  return data === undefined ? undefined : decodeMetadata(data)
}
