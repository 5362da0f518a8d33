/** `sync status`, `sync wait`. @see lotus cli/sync.go SyncStatusCmd, SyncWait */
import type { Command } from 'commander'
import type { JsonActiveSync, JsonSyncState, JsonTipset } from '../answers.ts'
import { cidTexts } from '../answers.ts'
import type { CliContext } from '../context.ts'
import { CliError } from '../errors.ts'
import { clockDuration, goDuration, goList } from '../goFormat.ts'
import { line } from '../io.ts'
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
  if (sync.Stage === STAGE_ERROR) out += `\tError: ${sync.Message}\n`
  return out
}

async function status({ io, node }: CliContext): Promise<void> {
  const state = await (await node()).call<JsonSyncState>('SyncState')
  line(io, 'sync status:')
  for (const sync of state.ActiveSyncs ?? []) io.out(workerText(sync, io.now()))
}

/** The last worker that is neither complete nor idle, else the last one. */
function shownWorker(syncs: readonly JsonActiveSync[]): JsonActiveSync | undefined {
  const busy = syncs.filter((sync) => sync.Stage !== STAGE_COMPLETE && sync.Stage !== STAGE_IDLE)
  return busy.at(-1) ?? syncs.at(-1)
}

/**
 * Waits until the head is recent. Rewrites its lines in place.
 * @param options - `watch`: go on after that
 */
export async function syncWait(context: CliContext, options: { watch?: boolean }): Promise<void> {
  const { io } = context
  try {
    await watchSync(context, options.watch === true)
  } catch (error) {
    // Ctrl-C breaks off whatever is under way.
    if (!io.signal.aborted) throw error
    io.out('\nExit by user\n')
  }
}

async function watchSync({ io, node }: CliContext, watch: boolean): Promise<void> {
  const client: RpcClient = await node()
  const applied: number[] = []
  let printed = 0
  let firstApplied: number | undefined
  let startHeight: number | undefined
  let startMs = 0
  for (;;) {
    const state = await client.call<JsonSyncState>('SyncState')
    const sync = shownWorker(state.ActiveSyncs ?? [])
    const head = await client.call<JsonTipset>('ChainHead')
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
      io.out('\r\u001b[2K\u001b[A'.repeat(printed))
      for (const text of lines) io.out(`\r\u001b[2K${text}\n`)
      printed = lines.length
    }
    const oldest = Math.min(...head.Blocks.map((block) => block.Timestamp))
    if (!watch && io.now() / 1000 - oldest < SYNCED_WITHIN_SEC) {
      io.out('\nDone!\n')
      return
    }
    await io.sleep(REDRAW_MS)
    if (io.signal.aborted) throw new CliError('FAILED', 'interrupted')
  }
}

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
}
