/**
 * `node test/crash/tabKills.ts [--rounds n] [--seed s] [--only browser|renderer]`: a local chain in a tab under load whose renderer, or whole browser, is killed
 * with -9 at random moments; a tab that is opened anew is asked for everything that the one before had acknowledged. In the end exactly
 * the money that was sent has arrived. By hand, where there is a Chromium.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BrowserContext, Page } from 'playwright-core'
import { programArgs } from '../../scripts/programArgs.ts'
import { randomOf } from '../fuzz/mutate.ts'
import { PASSPHRASE, serveTab, tabAdmin } from '../runtimes/chromiumHost.ts'
import type { NodeClient } from '../runtimes/nodeHost.ts'
import { launchProfile } from '../support/chromium.ts'
import { chromiumProcesses } from '../support/chromiumProcesses.ts'
import { startLoad } from './load.ts'
import { CrashModel } from './model.ts'

const { values } = programArgs(import.meta.filename, {
  options: { rounds: { type: 'string', default: '20' }, seed: { type: 'string' }, only: { type: 'string' } },
})
const seed = values.seed === undefined ? Date.now() % 0x7fffffff : Number(values.seed)
const rounds = Number(values.rounds)
const random = randomOf(seed)
console.log(`seed ${seed}`)

/** Longest time under load before a kill, and before one during the start, milliseconds. */
const MAX_LOAD_MS = 2500
const MAX_START_MS = 1500
/** One start of so many is killed before it has answered. */
const STARTS_PER_KILL = 5
/** One kill of so many is of the whole browser. */
const KILLS_PER_BROWSER = 3
const SENDERS = 4
const NODE = { kind: 'local', devnet: { blockTimeMs: 200, finalityFrom: 5 } }

const server = await serveTab()
const profile = mkdtempSync(join(tmpdir(), 'petrel-profile-'))
const model = new CrashModel()
let context: BrowserContext | undefined
let senders: string[] = []
let [kills, browsers, faults] = [0, 0, 0]
let log: string[] = []
/** What was killed last. */
let last = ''

function report(found: readonly string[]): void {
  faults += found.length
  for (const fault of found.slice(0, 10)) console.log(`FAULT (seed ${seed}, kill ${kills}, ${last}): ${fault}`)
  if (found.length === 0) return
  if (browsers > 0 && wasThrownAway()) console.log('Chromium made the database anew after a kill')
  console.log([...log.slice(0, 20), '…', ...log.slice(-10)].join('\n'))
  process.exit(1)
}

/** It may have ended by itself. */
function killNow(pid: string): void {
  try {
    process.kill(Number(pid), 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Whether Chromium itself has thrown the database away and made another one: its own log of it says so. */
function wasThrownAway(): boolean {
  const folder = join(profile, 'Default/IndexedDB')
  const logs = readdirSync(folder).map((name) => join(folder, name, 'LOG'))
  return logs.some((path) => existsSync(path) && readFileSync(path, 'utf8').includes('Creating DB'))
}

/** Ends the page's process as nobody should, or everything. */
async function kill(page: Page): Promise<void> {
  kills++
  const isBrowser = values.only === undefined ? random(KILLS_PER_BROWSER) === 0 : values.only === 'browser'
  if (isBrowser) {
    browsers++
    last = 'of the browser'
    const closed = new Promise((resolve) => context?.once('close', resolve))
    for (const pid of chromiumProcesses('browser', profile)) killNow(pid)
    await closed
    context = undefined
    return
  }
  last = 'of a renderer'
  let isCrashed = false
  page.once('crash', () => {
    isCrashed = true
  })
  // One that starts just now is not in the list yet.
  while (!isCrashed) {
    for (const pid of chromiumProcesses('renderer')) killNow(pid)
    await sleep(50)
  }
  await page.close()
}

async function open(): Promise<{ page: Page; started: Promise<unknown> }> {
  context ??= await launchProfile(profile)
  log = []
  const page = await server.openPage(context, log)
  const started = page.evaluate(
    `startTab(${JSON.stringify({ node: NODE, passphrase: PASSPHRASE, maxDiskBytes: 512 * 1024 * 1024 })})`,
  )
  started.catch(() => undefined)
  return { page, started }
}

async function begin(): Promise<{ page: Page; client: NodeClient }> {
  const { page, started } = await open()
  await started
  const { client } = await tabAdmin(page)
  return { page, client }
}

while (kills < rounds) {
  if (random(STARTS_PER_KILL) === 0) {
    const { page } = await open()
    await sleep(random(MAX_START_MS))
    await kill(page)
  }
  const { page, client } = await begin()
  if (senders.length === 0) {
    const accounts: { Address: string }[] = await client.call('DevnetAccounts')
    senders = accounts.slice(0, SENDERS).map(({ Address }) => Address)
    model.to = await client.call('WalletNew', 'bls')
  } else report(await model.check(client))
  const work = startLoad(client, model, senders)
  await sleep(random(MAX_LOAD_MS))
  await kill(page)
  work.stop()
  await work.done
  if (kills % 10 === 0)
    console.log(`${kills} kills, ${model.sends.length} sends, head at ${model.head}, ${faults} faults`)
}
const { client } = await begin()
report([...(await model.check(client)), ...(await model.checkMoney(client))])
const { sends, acknowledged, keys, certificates, head } = model
console.log(
  `${kills} kills (${browsers} of the whole browser), ${sends.length} sends, all ${acknowledged} there once, ${keys.size} keys, ${certificates.size} certificates, head at ${head}; ${faults} faults`,
)
await context?.close()
server.close()
rmSync(profile, { recursive: true, force: true })
if (faults > 0) process.exitCode = 1
