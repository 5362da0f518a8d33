/** What an export of a snapshot is told, and what it takes of the chain then. */
import type { SnapshotFormat } from '../../../src/sync/snapshot/snapshotWriter.ts'
import type { SnapshotSelection } from '../../../src/sync/snapshot/walkSnapshot.ts'
import { wholeNumber } from '../context.ts'
import { CliError } from '../errors.ts'

/** Epochs of state in a minimal snapshot. @see Forest src/cli_shared/snapshot.rs, lotus policy.ChainFinality (900) */
export const MINIMAL_STATE_ROOTS = 2000

/** Lotus' own bound: a snapshot with less cannot be validated. */
export const MIN_STATE_ROOTS = 900

/** The options of `snapshot export` and `chain export`, as they were typed. */
export interface ExportFlags {
  readonly tipset?: string
  readonly minimal?: boolean
  readonly full?: boolean
  readonly recentStateroots?: string
  readonly skipOldMsgs?: boolean
  readonly format: SnapshotFormat
  readonly snapshotVersion: string
  readonly from?: string
}

/** What the flags select of a chain of this height. */
export function selectionOf(flags: ExportFlags, height: number): SnapshotSelection {
  const chosen = [flags.minimal, flags.full, flags.recentStateroots].filter(
    (flag) => flag !== undefined && flag !== false,
  )
  if (chosen.length > 1) throw new CliError('USAGE', 'give one of --minimal, --full and --recent-stateroots')
  if (flags.full === true) return { recentStateRoots: height + 1, skipOldMessages: false }
  if (flags.recentStateroots === undefined) return { recentStateRoots: MINIMAL_STATE_ROOTS, skipOldMessages: true }
  const recentStateRoots = wholeNumber(flags.recentStateroots, 'recent-stateroots')
  if (recentStateRoots < MIN_STATE_ROOTS && recentStateRoots !== 0)
    throw new CliError('USAGE', `"recent-stateroots" has to be greater than ${MIN_STATE_ROOTS}`)
  return { recentStateRoots, skipOldMessages: flags.skipOldMsgs === true }
}
