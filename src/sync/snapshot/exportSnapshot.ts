/** Writes the snapshot of a tipset while the node goes on with its work. */
import type { Blockstore } from '../../ipld/blockstore.ts'
import type { Tipset } from '../../types/tipset.ts'
import type { SnapshotWriter } from './snapshotWriter.ts'
import { type SnapshotProgress, type SnapshotSelection, snapshotProgress, walkSnapshot } from './walkSnapshot.ts'

/** Bytes written between two pauses. */
const SLICE_BYTES = 1 << 20

/** What {@link exportSnapshot} takes. */
export interface ExportSnapshotOptions {
  readonly blocks: Blockstore
  readonly head: Tipset
  readonly selection: SnapshotSelection
  readonly writer: SnapshotWriter
  /** Called after every MiB: lets others run, throws to end the export. */
  readonly pause: (progress: SnapshotProgress) => Promise<void>
}

/**
 * Writes every block and finishes the file.
 * @throws BlockMissing; what `pause` and the writer throw. The writer is closed in any case.
 */
export async function exportSnapshot(options: ExportSnapshotOptions): Promise<SnapshotProgress> {
  const { blocks, head, selection, writer, pause } = options
  const progress = snapshotProgress(head)
  let bytes = 0
  try {
    for (const [cid, data] of walkSnapshot(blocks, head, selection, progress)) {
      writer.add(cid, data)
      bytes += data.length
      if (bytes < SLICE_BYTES) continue
      bytes = 0
      await pause(progress)
    }
    writer.finish()
  } finally {
    writer.close()
  }
  return progress
}
