/**
 * A tab among Sybils: it dials and is not dialled, so they are where it looks for peers, in its list of those to begin with beside one
 * honest node, and with that node's other peers. They greet with heads that nobody has, join the topics and pass nothing on, and answer
 * with nothing, late, or with lies. It is loaded anew in the middle. By hand, where there is a Chromium:
 *
 *     node test/attack/tab.ts [--sybils 60] [--seconds 60] [--validate headers|execute]
 */
import assert from 'node:assert/strict'
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import { evaluate, openChromium } from '../runtimes/chromiumHost.ts'
import { RawPeer } from './rawPeer.ts'
import { type Attacker, lagBehind, startAttacker, type Target, withTarget } from './target.ts'
import { pretend, useless } from './uselessPeer.ts'

const { values } = parseArgs({
  options: {
    sybils: { type: 'string', default: '60' },
    seconds: { type: 'string', default: '60' },
    validate: { type: 'string', default: 'light' },
    child: { type: 'boolean', default: false },
    target: { type: 'string', default: '' },
    network: { type: 'string', default: '' },
    genesis: { type: 'string', default: '' },
    height: { type: 'string', default: '0' },
  },
})
const FIRST_PORT = 43_600
const LEAST_LAG = 1
const MOST_LAG = 2
const MOST_UNPROVEN = 4
/** A tab that was opened has a chain after so long at most, ms. */
const OPEN_MS = 30_000
/** Longer than the tab is looked at. */
const FOREVER_MS = 3_600_000
/** After a connection that was refused, ms. */
const REFUSED_MS = 200
const counts = { tabs: 0, hellos: 0, asked: 0, refused: 0 }

/** Sybils that wait for a tab. Says where they are, then each second what they have done. */
async function child(): Promise<void> {
  const { network, genesis, height } = values
  const pretence = { network, genesis, height: Number(height) }
  const addresses: string[] = []
  for (let port = FIRST_PORT; addresses.length < Number(values.sybils); port++) {
    const onTab = (tab: RawPeer): void => {
      counts.tabs++
      void pretend(tab, pretence).catch(() => undefined)
    }
    const speaks = useless(addresses.length, performance.now() + FOREVER_MS, counts)
    try {
      const sybil = await RawPeer.connect(values.target, speaks, { port, onTab })
      addresses.push(`/ip4/127.0.0.1/tcp/${port}/ws/p2p/${sybil.id}`)
    } catch {
      // The honest node takes only so many from one machine at once.
      counts.refused++
      await sleep(REFUSED_MS)
    }
  }
  console.log(JSON.stringify({ addresses }))
  for (;;) {
    await sleep(1000)
    console.log(JSON.stringify({ counts }))
  }
}

/** The newest of the attacker's lines with a field; undefined: none yet. */
function lastOf<T>(attacker: Attacker, field: string): T | undefined {
  const lines = attacker.output().split('\n')
  const line = lines.findLast((text) => text.startsWith(`{"${field}"`) && text.endsWith('}'))
  return line === undefined ? undefined : JSON.parse(line)[field]
}

async function main({ producer, networkName, folder }: Target): Promise<void> {
  const { Height: height } = await producer.rpc.call('ChainHead')
  const genesis = (await producer.rpc.call('ChainGetGenesis')).Cids[0]['/']
  const listens: string[] = (await producer.rpc.call('NetAddrsListen')).Addrs
  const where = listens.find((one) => one.includes('/127.0.0.1/') && one.endsWith('/ws')) as string
  const sybils = startAttacker(import.meta.filename, [
    ...['--target', producer.address, '--network', networkName, '--genesis', genesis],
    ...['--height', String(height), '--sybils', values.sybils],
  ])
  const chromium = await openChromium()
  try {
    let addresses: string[] | undefined
    const end = performance.now() + OPEN_MS + Number(values.sybils) * REFUSED_MS
    while (addresses === undefined) {
      assert.ok(sybils.isRunning() && performance.now() < end, 'there are no Sybils')
      await sleep(100)
      addresses = lastOf(sybils, 'addresses')
    }
    copyFileSync(join(folder, 'producer/genesis.car'), join(chromium.folder, 'genesis.car'))
    const network = readFileSync(join(folder, 'producer/network.json'), 'utf8')
    // The honest one in the middle.
    const half = addresses.length / 2
    const bootstrap = [...addresses.slice(0, half), `${where}/p2p/${producer.id}`, ...addresses.slice(half)]
    const node = { kind: 'follow', network, genesis: '/genesis.car', mode: values.validate, bootstrap }
    const context = await chromium.browser.newContext()
    for (const what of ['a tab', 'loaded anew']) {
      const log: string[] = []
      const page = await chromium.openPage(context, log)
      await page.evaluate(`startTab(${JSON.stringify({ node, log: 'info' })})`)
      await watch(page, producer, what).catch((error: unknown) => {
        console.log(log.slice(-30).join('\n'))
        throw error
      })
      await page.close()
    }
    const seen = lastOf<typeof counts>(sybils, 'counts')
    console.log(`  attacker: ${JSON.stringify(seen)}`)
    assert.ok((seen?.tabs ?? 0) > 0 && (seen?.asked ?? 0) > 0, 'the tab met no Sybil')
    console.log('the tab stayed with the honest one')
  } finally {
    sybils.stop()
    await chromium.close()
  }
}

/** Looks at the tab's head, and at what it knows to be final, beside the producer's. */
async function watch(page: Page, producer: Target['producer'], what: string): Promise<void> {
  const started = performance.now()
  const request = (method: string) => evaluate(page, `tab.request('${method}')`)
  const lag = async (): Promise<number> => lagBehind(producer.rpc, (await request('ChainHead')).Height)
  const isLight = values.validate === 'light'
  const unproven = async (): Promise<number> => {
    const made = (await producer.rpc.call('F3GetLatestCertificate')).ECChain.at(-1).Epoch
    return made - ((await request('F3GetLatestCertificate'))?.ECChain.at(-1).Epoch ?? 0)
  }
  // At its best: the newest block's parents are the head of a light node.
  while ((await lag()) > LEAST_LAG) {
    assert.ok(performance.now() - started < OPEN_MS, `${await lag()} tipsets behind after ${OPEN_MS} ms`)
    await sleep(100)
  }
  const followsMs = performance.now() - started
  let [mostLag, mostUnproven, mostPeers] = [0, 0, 0]
  const end = performance.now() + (1000 * Number(values.seconds)) / 2
  while (performance.now() < end) {
    await sleep(300)
    mostLag = Math.max(mostLag, await lag())
    if (isLight) mostUnproven = Math.max(mostUnproven, await unproven())
    mostPeers = Math.max(mostPeers, (await request('NetPeers')).length)
  }
  console.log(
    `${what}: follows after ${Math.round(followsMs)} ms; lag ${mostLag}, ${mostUnproven} final epochs unproven, ${mostPeers} peers at most`,
  )
  assert.ok(mostLag <= MOST_LAG, `${mostLag} tipsets behind`)
  assert.ok(mostUnproven <= MOST_UNPROVEN, `${mostUnproven} final epochs unproven`)
}

await (values.child
  ? child()
  : withTarget(0, main, {
      votes: values.validate === 'light',
      producing: ['--listen', '/ip4/127.0.0.1/tcp/0/ws'],
      validate: 'headers',
    }))
