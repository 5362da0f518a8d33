/**
 * A follower at the head of a generated chain: a tipset comes every three seconds, ten times as often as on mainnet, its messages are
 * fetched from the node that tells of it, and a client asks for the head meanwhile. What `following` measures is a node that has far to go.
 */
import { CHAIN_FILE, SNAPSHOT_FILES } from '../../scripts/generate/mainnetSize/files.ts'
import type { NodeProcess } from '../runtimes/nodeProcess.ts'
import { statusMb } from '../soak/sample.ts'
import { processorMs } from '../support/processorTime.ts'
import {
  Asker,
  addressOf,
  type Head,
  KEEP,
  LISTEN,
  metric,
  metrics,
  quantile,
  type Report,
  type Start,
} from './mainnetFollowing.ts'

/** Between two tipsets. */
const EPOCH_MS = 3000
const ASK_MS = 25
/** Tipsets before the first that counts: by then code is compiled. */
const WARM = 15
const MEASURED = 60
/** No pause is to be longer. */
const PAUSE_MS = 100

interface Messages {
  readonly BlsMessages: readonly unknown[]
  readonly Cids: readonly unknown[]
}

interface Submitted {
  readonly Height: number
  readonly blocks: readonly unknown[]
}

/** The blocks of a tipset as they come by gossip: their headers, and the CIDs of their messages. */
async function blocksOf(source: Asker, { Cids, Height }: Head): Promise<Submitted> {
  const blocks: unknown[] = []
  for (const cid of Cids) {
    const Header = await source.call('ChainGetBlock', cid)
    const { BlsMessages, Cids } = await source.call<Messages>('ChainGetBlockMessages', cid)
    const count = (BlsMessages ?? []).length
    blocks.push({ Header, BlsMessages: Cids.slice(0, count), SecpkMessages: Cids.slice(count) })
  }
  return { Height, blocks }
}

/** Asks for the head until it is told to stop. */
async function askOn(node: NodeProcess, signal: AbortSignal): Promise<number[]> {
  const asker = new Asker(node)
  const waits: number[] = []
  while (!signal.aborted) {
    const before = performance.now()
    await asker.call('ChainHead')
    waits.push(performance.now() - before)
    await new Promise((resolve) => setTimeout(resolve, ASK_MS))
  }
  asker.close()
  return waits
}

async function measureOne(
  mode: string,
  { source, address, tipsets }: { source: Asker; address: string; tipsets: readonly Submitted[] },
  start: Start,
  report: Report,
): Promise<void> {
  const args = ['--bootstrap', address, '--validate', mode, ...LISTEN, ...KEEP]
  const node = await start(SNAPSHOT_FILES.forest, `paced-${mode}`, args)
  const asker = new Asker(node)
  const asking = new AbortController()
  try {
    let waits: Promise<number[]> | undefined
    let before = 0
    const own: number[] = []
    const late: number[] = []
    for (const [i, { Height, blocks }] of tipsets.entries()) {
      if (i === WARM) {
        // What is asked for once begins anew.
        await metrics(node)
        before = processorMs(node.pid)
        waits = askOn(node, asking.signal)
      }
      const next = performance.now() + EPOCH_MS
      for (const block of blocks) await source.call('SyncSubmitBlock', block)
      while ((await asker.call<Head>('ChainHead')).Height < Height) {
        await new Promise((resolve) => setTimeout(resolve, ASK_MS))
      }
      if (i >= WARM) own.push(statusMb(node.pid, 'RssAnon'))
      if (performance.now() > next) late.push(Height)
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, next - performance.now())))
    }
    asking.abort()
    const took = (await waits) ?? []
    const atEnd = await metrics(node)
    report(`${mode}: tipsets that came, one in ${EPOCH_MS} ms`, own.length, '')
    report('  that were not the head when the next one came', late.length, '')
    report('  of the processor, each', (processorMs(node.pid) - before) / own.length, 'ms')
    report('  memory of its own, in the middle', quantile(own, 0.5), 'MB')
    report('  memory of its own, highest', Math.max(...own), 'MB')
    report('  ChainHead meanwhile, median', quantile(took, 0.5), 'ms')
    report('  99th percentile', quantile(took, 0.99), 'ms')
    report('  longest', Math.max(...took), 'ms')
    report(`  longer than ${PAUSE_MS} ms, of ${took.length}`, took.filter((ms) => ms > PAUSE_MS).length, '')
    for (const part of ['0.5', '0.99', '1']) {
      const lag = metric(atEnd, `nodejs_eventloop_lag_seconds{quantile="${part}"}`)
      report(`  event loop late, quantile ${part}`, lag * 1000, 'ms')
    }
  } catch (error) {
    console.error(node.output())
    throw error
  } finally {
    asking.abort()
    asker.close()
    await node.kill()
  }
}

async function measureMode(mode: string, start: Start, report: Report): Promise<void> {
  // One for each: nobody passes on again what gossip has passed on a moment ago.
  const source = await start(CHAIN_FILE, `source-${mode}`, [...LISTEN, '--validate', 'headers', '--keep-state', 'all'])
  const asker = new Asker(source)
  try {
    const tipsets: Submitted[] = []
    for (let epoch = 1; tipsets.length < WARM + MEASURED; epoch++) {
      const tipset = await asker.call<Head>('ChainGetTipSetByHeight', epoch, [])
      if (tipset.Height === epoch) tipsets.push(await blocksOf(asker, tipset))
    }
    // Else the follower hears of all of them at once.
    const { Cids } = await asker.call<Head>('ChainGetTipSetByHeight', 0, [])
    await asker.call('ChainSetHead', Cids)
    await measureOne(mode, { source: asker, address: await addressOf(source), tipsets }, start, report)
  } finally {
    asker.close()
    await source.kill()
  }
}

/** A follower that executes, and one that checks headers. */
export async function measurePaced(start: Start, report: Report): Promise<void> {
  for (const mode of ['execute', 'headers']) await measureMode(mode, start, report)
}
