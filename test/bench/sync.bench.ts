/**
 * How fast a node with nothing but genesis follows a recorded chain: headers checked per second, tipsets executed per second
 * while syncing, and what the checks of one block cost. No network: the peer answers at once, so this is the processor's share.
 *
 *     node test/bench/sync.bench.ts [chain] [passes]
 */
import process from 'node:process'
import { openVm } from '../../platform/server/openVm.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { ACTORS } from '../support/actors.ts'
import { silentLog } from '../support/recordedView.ts'
import {
  createFollower,
  type FollowerOptions,
  headName,
  openRecorded,
  RecordedSource,
  settled,
  tipsetsOf,
} from '../sync/follower.ts'

const [name = 'nv28', passes = '2'] = process.argv.slice(2)

function report(what: string, value: number, unit: string): void {
  console.log(`${what.padEnd(52)} ${value.toFixed(value < 10 ? 2 : 0).padStart(10)} ${unit}`)
}

await initCrypto()
const recorded = openRecorded(name)
const { view } = recorded
const tipsets = tipsetsOf(view)
const blocks = tipsets.reduce((sum, one) => sum + one.blocks.length, 0)
const head = view.store.head()
const claim = { key: head.key, height: head.height, weight: view.weight(head) }

async function follow(label: string, options: Omit<FollowerOptions, 'source'>): Promise<void> {
  const follower = createFollower(recorded, { ...options, source: new RecordedSource(view) })
  const cpu = process.cpuUsage()
  const start = performance.now()
  follower.syncer.offerHead('recorded', claim)
  await settled(follower.syncer)
  const seconds = (performance.now() - start) / 1000
  const { user, system } = process.cpuUsage(cpu)
  if (headName(follower.store) !== headName(view.store)) {
    console.log(
      `${label}: stopped at ${follower.store.head().height}: ${follower.syncer.state().activeSyncs[0]?.message}`,
    )
    return
  }
  report(`${label}: ${tipsets.length} tipsets, ${blocks} blocks`, seconds, 's')
  report(`${label}: processor`, (user + system) / 1e6, 's')
  const used = (user + system) / 1e6
  report(`${label}: headers`, blocks / seconds, '/s')
  report(`${label}: tipsets`, tipsets.length / seconds, '/s')
  report(`${label}: headers`, blocks / used, '/s of processor time')
  report(`${label}: tipsets`, tipsets.length / used, '/s of processor time')
  await follower.syncer.stop()
}

for (let pass = 1; pass <= Number(passes); pass++) {
  const label = pass === 1 ? 'cold' : `warm ${pass - 1}`
  await follow(`${name}, headers, ${label}`, { mode: 'headers' })
  if (recorded.bundles.length === 0) continue
  await follow(`${name}, execute in this thread, ${label}`, { mode: 'execute' })
  let close = (): void => undefined
  await follow(`${name}, execute in threads, ${label}`, {
    mode: 'execute',
    vm: (_vm, ownView) => {
      const opened = openVm(ownView, { actors: ACTORS, mode: 'wasm' }, silentLog)
      close = () => opened.close()
      return opened.vm
    },
  })
  close()
}
report('memory', process.memoryUsage().rss / 1e6, 'MB')
