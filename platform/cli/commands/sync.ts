/** `sync …`. @see lotus cli/sync.go */
import type { Command } from 'commander'
import { errorMessage } from '../../../src/base/errors.ts'
import { parseCid } from '../../../src/codec/cid.ts'
import { line } from '../../server/programIo.ts'
import type { JsonActiveSync, JsonCid, JsonTipset } from '../answers.ts'
import { cidTexts } from '../answers.ts'
import type { CliContext } from '../context.ts'
import { CliError } from '../errors.ts'
import { clockDuration, goDuration, goList } from '../goFormat.ts'
import type { RpcClient } from '../rpcClient.ts'

const STAGES = ['idle', 'header sync', 'persisting headers', 'message sync', 'complete', 'error', 'fetching messages']
const STAGE_IDLE = 0
const STAGE_COMPLETE = 4
const STAGE_ERROR = 5
const REDRAW_MS = 250
/** Ticks over which the rate of validated messages is averaged. */
const RATE_TICKS = 8
/** The head counts as synced when it is younger than this. */
const SYNCED_WITHIN_SEC = 30

function stageName(stage: number): string {
  return STAGES[stage] ?? `<unknown: ${stage}>`
}

const isZeroTime = (time: string): boolean => time.startsWith('0001-01-01')

function workerText(sync: JsonActiveSync, nowMs: number): string {
  const key = (tipset: JsonTipset | null): string => goList(tipset === null ? [] : cidTexts(tipset.Cids))
  const diff = sync.Target === null ? 0 : sync.Target.Height - (sync.Base?.Height ?? 0)
  let out = `worker ${sync.WorkerID}:\n\tBase:\t${key(sync.Base)}\n\tTarget:\t${key(sync.Target)} (${sync.Target?.Height ?? 0})\n`
  out += `\tHeight diff:\t${diff}\n\tStage: ${stageName(sync.Stage)}\n\tHeight: ${sync.Height}\n`
  if (!isZeroTime(sync.Start)) {
    const end = isZeroTime(sync.End) ? nowMs : Date.parse(sync.End)
    out += `\tElapsed: ${goDuration(end - Date.parse(sync.Start))}\n`
  }
  if (sync.Stage === STAGE_IDLE && sync.Message !== '') {
    out += `\t${sync.Message.charAt(0).toUpperCase()}${sync.Message.slice(1)} (daemon --sync-peers)\n`
  }
  if (sync.Stage === STAGE_ERROR) out += `\tError: ${sync.Message}\n`
  return out
}

async function status({ io, node, result }: CliContext): Promise<void> {
  const client = await node()
  const state = await client.call('SyncState')
  // Lotus has no such method, and presumes nothing.
  const presumed = await client.call('SyncPresumed').catch(() => '')
  result({ ...state, Presumed: presumed })
  line(io, 'sync status:')
  for (const sync of state.ActiveSyncs ?? []) io.out(workerText(sync, io.now()))
  if (presumed !== '') line(io, presumed)
}

/** The last worker that is neither complete nor idle, else the last one. */
function shownWorker(syncs: readonly JsonActiveSync[]): JsonActiveSync | undefined {
  const busy = syncs.filter((sync) => sync.Stage !== STAGE_COMPLETE && sync.Stage !== STAGE_IDLE)
  return busy.at(-1) ?? syncs.at(-1)
}

/**
 * Waits until the head is recent. Rewrites its lines in place; not on a terminal it prints them again when they change.
 * @param options - `watch`: go on after that
 */
async function syncWait(context: CliContext, options: { watch?: boolean }): Promise<void> {
  const { io } = context
  try {
    await watchSync(context, options.watch === true)
  } catch (error) {
    // Ctrl-C breaks off whatever is under way.
    if (!io.signal.aborted) throw error
    io.out('\nExit by user\n')
  }
}

async function watchSync({ io, node, result }: CliContext, watch: boolean): Promise<void> {
  const client: RpcClient = await node()
  const applied: number[] = []
  let printed = 0
  let shown = ''
  let firstApplied: number | undefined
  let startHeight: number | undefined
  let startMs = 0
  for (;;) {
    const state = await client.call('SyncState')
    const sync = shownWorker(state.ActiveSyncs ?? [])
    const head = await client.call('ChainHead')
    if (sync !== undefined) {
      applied.push(state.VMApplied)
      if (applied.length > RATE_TICKS + 1) applied.shift()
      const base = sync.Base?.Height ?? 0
      const target = sync.Target?.Height ?? 0
      if (startHeight === undefined) {
        startHeight = sync.Height
        startMs = io.now()
      }
      const todo = target - sync.Height
      const done = sync.Height - startHeight
      const eta = done > 0 ? clockDuration(Math.round((((io.now() - startMs) / done) * todo) / 1000)) : ''
      const lines = [
        `Worker: ${sync.WorkerID}; Base: ${base}; Target: ${target} (diff: ${target - base})`,
        `State: ${stageName(sync.Stage)}; Current Epoch: ${sync.Height}; Todo: ${todo}, ETA: ${eta}`,
      ]
      if (firstApplied === undefined) firstApplied = state.VMApplied
      else {
        const perTick = (state.VMApplied - (applied[0] as number)) / Math.max(1, applied.length - 1)
        lines.push(
          `Validated ${state.VMApplied - firstApplied} messages (${Math.round((perTick * 1000) / REDRAW_MS)} per second)`,
        )
      }
      if (io.isTty) {
        io.out('\r\u001b[2K\u001b[A'.repeat(printed))
        for (const text of lines) io.out(`\r\u001b[2K${text}\n`)
        printed = lines.length
      } else if (lines.slice(0, 2).join() !== shown) {
        shown = lines.slice(0, 2).join()
        for (const text of lines) line(io, text)
      }
    }
    const oldest = Math.min(...head.Blocks.map((block) => block.Timestamp))
    if (!watch && io.now() / 1000 - oldest < SYNCED_WITHIN_SEC) {
      result({ Height: head.Height, Synced: true })
      io.out('\nDone!\n')
      return
    }
    await io.sleep(REDRAW_MS)
    if (io.signal.aborted) throw new CliError('FAILED', 'interrupted')
  }
}

/** A CID argument as JSON; one that is none is refused here, as Lotus does. */
function cidArgument(given: string | undefined, what: string): JsonCid {
  if (given === undefined) throw new CliError('USAGE', `must specify block cid to ${what}`)
  try {
    return { '/': parseCid(given).toString() }
  } catch (error) {
    throw new CliError('FAILED', `failed to decode input as a cid: ${errorMessage(error)}`)
  }
}

async function markBad({ node }: CliContext, given: string | undefined): Promise<void> {
  const cid = cidArgument(given, 'mark')
  await (await node()).call('SyncMarkBad', [cid])
}

async function unmarkBad({ node }: CliContext, given: string | undefined, all: boolean): Promise<void> {
  const client = await node()
  if (all) await client.call('SyncUnmarkAllBad')
  else await client.call('SyncUnmarkBad', [cidArgument(given, 'unmark')])
}

async function checkBad({ io, node, result }: CliContext, given: string | undefined): Promise<void> {
  const cid = cidArgument(given, 'check')
  const reason = await (await node()).call('SyncCheckBad', [cid])
  result({ Bad: reason !== '', Reason: reason })
  line(io, reason === '' ? 'block was not marked as bad' : reason)
}

async function checkpoint({ node }: CliContext, given: readonly string[], epoch: string | undefined): Promise<void> {
  const client = await node()
  if (epoch !== undefined) {
    const height = Number(epoch)
    if (!Number.isSafeInteger(height) || height < 0) {
      throw new CliError('FAILED', `invalid value "${epoch}" for flag -epoch: parse error`)
    }
    const tipset = await client.call('ChainGetTipSetByHeight', [height, []])
    await client.call('SyncCheckpoint', [tipset.Cids])
    return
  }
  if (given.length === 0) {
    throw new CliError('FAILED', 'must pass cids for tipset to set as head, or specify epoch flag')
  }
  await client.call('SyncCheckpoint', [given.map((cid) => cidArgument(cid, 'set'))])
}

/** Adds `sync` and its subcommands. */
export function addSyncCommands(program: Command, context: CliContext): void {
  const sync = program.command('sync').description('Inspect or interact with the chain syncer')
  sync
    .command('status')
    .description('check sync status')
    .action(() => status(context))
  sync
    .command('wait')
    .description('Wait for sync to be complete')
    .option('--watch', "don't exit after node is synced")
    .action((options: { watch?: boolean }) => syncWait(context, options))
  sync
    .command('mark-bad [blockCid]')
    .description('Mark the given block as bad, will prevent syncing to a chain that contains it')
    .action((cid: string | undefined) => markBad(context, cid))
  sync
    .command('unmark-bad [blockCid]')
    .description('Unmark the given block as bad, makes it possible to sync to a chain containing it')
    .option('--all', 'drop the entire bad block cache')
    .action((cid: string | undefined, options: { all?: boolean }) => unmarkBad(context, cid, options.all === true))
  sync
    .command('check-bad [blockCid]')
    .description('check if the given block was marked bad, and for what reason')
    .action((cid: string | undefined) => checkBad(context, cid))
  sync
    .command('checkpoint [tipsetKey...]')
    .description('mark a certain tipset as checkpointed; the node will never fork away from this tipset')
    .option('--epoch <epoch>', 'checkpoint the tipset at the given epoch')
    .action((key: string[], options: { epoch?: string }) => checkpoint(context, key, options.epoch))
}
