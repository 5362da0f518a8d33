/**
 * `npm run test:crash -- [--rounds n] [--seed s]`: a real node under load is killed with -9 at random moments (of writes,
 * collections, certificates of finality, new keys, its own start), and asked afterwards for everything that it had acknowledged. Its store is looked through
 * after each kill. In the end exactly the money that was sent has arrived.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkHome } from '../../platform/server/checkHome.ts'
import { Home } from '../../platform/server/home.ts'
import { programArgs } from '../../scripts/programArgs.ts'
import { randomOf } from '../fuzz/mutate.ts'
import { startNode } from '../runtimes/nodeProcess.ts'
import { RpcClient } from '../support/rpcClient.ts'
import { startLoad } from './load.ts'
import { CrashModel } from './model.ts'

const { values } = programArgs(import.meta.filename, {
  options: { rounds: { type: 'string', default: '20' }, seed: { type: 'string' } },
})
const seed = values.seed === undefined ? Date.now() % 0x7fffffff : Number(values.seed)
const rounds = Number(values.rounds)
const random = randomOf(seed)
console.log(`seed ${seed}`)

/** Longest time under load before a kill, and before one during the start, milliseconds. */
const MAX_LOAD_MS = 1500
const MAX_START_MS = 1500
/** One start of so many is killed before it serves. */
const STARTS_PER_KILL = 5
/** A chain of so many sends is long enough: a new one begins, and with it a first start. */
const MAX_SENDS = 400
const SENDERS = 4
const ARGS = ['devnet', '--api', '0', '--no-net', '--block-time', '0.2', '--actors', 'native', '--f3', '5']

let faults = 0
let kills = 0
let sends = 0
let acknowledged = 0

function report(found: readonly string[], output = ''): void {
  faults += found.length
  for (const fault of found) console.log(`FAULT (seed ${seed}, kill ${kills}): ${fault}`)
  if (found.length > 0 && output !== '') console.log(output.slice(-4000))
}

/** Starts the node and kills it before it serves, or shortly after. */
async function killStart(home: string): Promise<void> {
  await startNode('node', home, ARGS, random(MAX_START_MS)).then(
    (node) => node.kill(),
    () => undefined,
  )
  kills++
}

/** What a server does beside. */
const besides = (client: RpcClient): (() => Promise<unknown>)[] => [
  async () => {
    await client.call('ChainPrune', { MovingGC: false, RetainState: 20 })
    await sleep(200)
  },
  () => client.call('AuthNew', ['read']),
]

async function checkStoreOf(home: string): Promise<void> {
  try {
    report((await checkHome(new Home(home)))?.faults ?? [])
  } catch (error) {
    report([`the store cannot be looked through: ${error instanceof Error ? error.message : String(error)}`])
  }
}

/** One chain, from its first start on. */
async function runChain(home: string): Promise<void> {
  const model = new CrashModel()
  let senders: string[] = []
  while (kills < rounds && model.sends.length < MAX_SENDS) {
    if (random(STARTS_PER_KILL) === 0) await killStart(home)
    const node = await startNode('node', home, ARGS)
    const client = new RpcClient(node.url, node.token)
    if (senders.length === 0) {
      const accounts: { Address: string }[] = await client.call('DevnetAccounts')
      senders = accounts.slice(0, SENDERS).map((one) => one.Address)
      model.to = await client.call('WalletNew', 'bls')
    } else report(await model.check(client), node.output())
    const work = startLoad(client, model, senders, besides(client))
    await sleep(random(MAX_LOAD_MS))
    await node.kill()
    kills++
    work.stop()
    await work.done
    await checkStoreOf(home)
  }
  const node = await startNode('node', home, ARGS)
  const client = new RpcClient(node.url, node.token)
  report([...(await model.check(client)), ...(await model.checkMoney(client))], node.output())
  await node.stop()
  sends += model.sends.length
  acknowledged += model.acknowledged
  const { keys, certificates, head } = model
  console.log(
    `${kills} kills, ${sends} sends, ${keys.size} new keys, ${certificates.size} certificates, head at ${head}, ${faults} faults`,
  )
}

while (kills < rounds) {
  const home = mkdtempSync(join(tmpdir(), 'petrel-crash-'))
  await runChain(home)
  if (faults === 0) rmSync(home, { recursive: true, force: true })
  else console.log(`the home is kept: ${home}`)
}
console.log(`${kills} kills, ${sends} sends, all ${acknowledged} there once; ${faults} faults`)
console.log(`${kills} passed, ${faults} failed, 0 skipped`)
if (faults > 0) process.exitCode = 1
