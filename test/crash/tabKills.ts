/**
 * `node test/crash/tabKills.ts [--rounds n] [--seed s] [--only browser|renderer] [--follow]`: a local chain in a tab under load whose renderer, or whole browser, is killed
 * with -9 at random moments; a tab that is opened anew is asked for everything that the one before had acknowledged. In the end exactly
 * the money that was sent has arrived. With `--follow` the tab follows a producer in Node, and after one kill of some its database is
 * deleted, as the browser does to one that looks damaged. By hand, where there is a Chromium.
 */
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BrowserContext, Page } from 'playwright-core'
import { programArgs } from '../../scripts/programArgs.ts'
import { errorMessage } from '../../src/base/errors.ts'
import { randomOf } from '../fuzz/mutate.ts'
import { PASSPHRASE, serveTab, tabAdmin, throwAway } from '../runtimes/chromiumHost.ts'
import type { NodeClient } from '../runtimes/nodeHost.ts'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { launchProfile } from '../support/chromium.ts'
import { chromiumProcesses } from '../support/chromiumProcesses.ts'
import { RpcClient } from '../support/rpcClient.ts'
import { startLoad } from './load.ts'
import { CrashModel } from './model.ts'

const { values } = programArgs(import.meta.filename, {
  options: {
    rounds: { type: 'string', default: '20' },
    seed: { type: 'string' },
    only: { type: 'string' },
    follow: { type: 'boolean', default: false },
  },
})
const seed = values.seed === undefined ? Date.now() % 0x7fffffff : Number(values.seed)
const rounds = Number(values.rounds)
const random = randomOf(seed)
console.log(`seed ${seed}`)

/** Of the tab's node. */
const NAME = 'killed'
/** Longest time under load before a kill, and before one during the start, milliseconds. */
const MAX_LOAD_MS = 2500
const MAX_START_MS = 1500
/** One start of so many is killed before it has answered. */
const STARTS_PER_KILL = 5
/** One kill of so many is of the whole browser. */
const KILLS_PER_BROWSER = 3
const SENDERS = 4
/** One start of so many of a tab that follows finds no database. */
const STARTS_PER_LOSS = 3
/** What a sender of a tab that follows has, attoFIL. */
const ENDOWMENT = 1000n * 10n ** 18n
/** Longest time until a tab is level with its producer, ms. */
const FOLLOW_MS = 120_000

const server = await serveTab()
const producer = values.follow ? await startProducer() : undefined
const node = producer?.kind ?? { kind: 'local', devnet: { blockTimeMs: 200, finalityFrom: 5 } }
const profile = mkdtempSync(join(tmpdir(), 'petrel-profile-'))
const model = new CrashModel()
let context: BrowserContext | undefined
let senders: string[] = []
let [kills, browsers, losses, faults] = [0, 0, 0, 0]
let log: string[] = []
/** What was killed last. */
let last = ''

function report(found: readonly string[]): void {
  faults += found.length
  for (const fault of found.slice(0, 10)) console.log(`FAULT (seed ${seed}, kill ${kills}, ${last}): ${fault}`)
  if (found.length === 0) return
  if (browsers > 0 && wasThrownAway()) console.log('Chromium made the database anew after a kill')
  console.log([...log.slice(0, 20), '…', ...log.slice(-10)].join('\n'))
  void producer?.process.kill()
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
  if (producer !== undefined && senders.length > 0 && random(STARTS_PER_LOSS) === 0) {
    losses++
    last = `${last}, and the database deleted`
    await throwAway(page, NAME)
  }
  const started = page.evaluate(
    `startTab(${JSON.stringify({ name: NAME, node, passphrase: PASSPHRASE, maxDiskBytes: 512 * 1024 * 1024 })})`,
  )
  started.catch(() => undefined)
  return { page, started }
}

async function begin(): Promise<{ page: Page; client: NodeClient }> {
  const { page, started } = await open()
  await started
  const { client } = await tabAdmin(page)
  if (producer !== undefined) await level(client)
  return { page, client }
}

/** Waits until a tab that follows has all that was seen before, and peers that give it the state that a send is priced with. */
async function level(client: NodeClient): Promise<void> {
  const end = Date.now() + FOLLOW_MS
  for (;;) {
    const { Height: height } = await client.call('ChainHead')
    const trouble =
      height < model.head ? `the head is at ${height}, ${model.head} was seen` : await pricingTrouble(client)
    if (trouble === undefined) return
    if (Date.now() > end) return report([trouble])
    await sleep(100)
  }
}

async function pricingTrouble(client: NodeClient): Promise<string | undefined> {
  const [from] = senders
  if (from === undefined) return undefined
  return await client
    .call('GasEstimateMessageGas', { From: from, To: model.to, Value: '1' }, null, null)
    .then(() => undefined, errorMessage)
}

/** A producer in Node, and what a tab is told of it. */
async function startProducer(): Promise<{
  readonly process: NodeProcess
  readonly home: string
  readonly kind: object
}> {
  const home = mkdtempSync(join(tmpdir(), 'petrel-producer-'))
  const process = await startNode('node', home, [
    ...['devnet', '--api', '0', '--block-time', '0.5', '--actors', 'native', '--f3', '5'],
    ...['--listen', '/ip4/127.0.0.1/tcp/0/ws'],
  ])
  const address = /other nodes on (\S+)/
  while (!address.test(process.output())) await sleep(20)
  copyFileSync(join(home, 'genesis.car'), join(server.folder, 'genesis.car'))
  const network = readFileSync(join(home, 'network.json'), 'utf8')
  const bootstrap = [address.exec(process.output())?.[1]]
  return { process, home, kind: { kind: 'follow', network, genesis: '/genesis.car', mode: 'headers', bootstrap } }
}

/** The accounts that send: those of the local chain, or new ones of the tab with money of its producer's. */
async function openAccounts(client: NodeClient): Promise<string[]> {
  if (producer === undefined) {
    const accounts: { Address: string }[] = await client.call('DevnetAccounts')
    return accounts.slice(0, SENDERS).map(({ Address }) => Address)
  }
  const { process } = producer
  const bank = new RpcClient(process.url, process.token)
  const [from]: { Address: string }[] = await bank.call('DevnetAccounts')
  const made: string[] = []
  for (let i = 0; i < SENDERS; i++) {
    const to: string = await client.call('WalletNew', 'secp256k1')
    await bank.call('MpoolPushMessage', { From: from?.Address, To: to, Value: String(ENDOWMENT) }, null)
    made.push(to)
  }
  for (const one of made) while (BigInt(await client.call('WalletBalance', one)) === 0n) await sleep(100)
  return made
}

while (kills < rounds) {
  if (random(STARTS_PER_KILL) === 0) {
    const { page } = await open()
    await sleep(random(MAX_START_MS))
    await kill(page)
  }
  const { page, client } = await begin()
  if (senders.length === 0) {
    senders = await openAccounts(client)
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
  `${kills} kills (${browsers} of the whole browser), ${losses} databases deleted, ${sends.length} sends, all ${acknowledged} there once, ${keys.size} keys, ${certificates.size} certificates, head at ${head}; ${faults} faults`,
)
await context?.close()
server.close()
if (producer !== undefined) {
  await producer.process.stop()
  rmSync(producer.home, { recursive: true, force: true })
}
rmSync(profile, { recursive: true, force: true })
if (faults > 0) process.exitCode = 1
