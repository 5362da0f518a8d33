/** Writes the snapshot of a tipset while the node goes on with its work. */
import type { Blockstore } from '../../ipld/blockstore.ts'
import type { Tipset } from '../../types/tipset.ts'
import type { SnapshotWriter } from './snapshotWriter.ts'
import { type SnapshotProgress, type SnapshotSelection, snapshotProgress, walkSnapshot } from './walkSnapshot.ts'

/** Bytes written between two pauses, with {@link BLOCK_COST} for each block: some milliseconds. */
const SLICE_BYTES = 1 << 19
/** What reading and walking a block costs beside its bytes: a megabyte of messages is a long row of them. */
const BLOCK_COST = 4096

/** What {@link exportSnapshot} takes. */
export interface ExportSnapshotOptions {
  readonly blocks: Blockstore
  readonly head: Tipset
  readonly selection: SnapshotSelection
  readonly writer: SnapshotWriter
  /** Whether others have waited long enough. Default: after some hundred kilobytes, which is some milliseconds. */
  readonly isDue?: () => boolean
  /** Called when it is due: lets others run, throws to end the export. */
  readonly pause: (progress: SnapshotProgress) => Promise<void>
}

/**
 * Writes every block and finishes the file.
 * @throws BlockMissing; what `pause` and the writer throw. The writer is closed in any case.
 */
export async function exportSnapshot(options: ExportSnapshotOptions): Promise<SnapshotProgress> {
  const { blocks, head, selection, writer, isDue, pause } = options
  const progress = snapshotProgress(head)
  let bytes = 0
  try {
    for (const [cid, data] of walkSnapshot(blocks, head, selection, progress)) {
      writer.add(cid, data)
      bytes += data.length + BLOCK_COST
      if (isDue === undefined ? bytes < SLICE_BYTES : !isDue()) continue
      bytes = 0
      await pause(progress)
    }
    writer.finish()
  } finally {
    writer.close()
  }
  return progress
}
