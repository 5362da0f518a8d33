/**
 * `npm run test:crash -- [--rounds n] [--seed s]`: a real node under load is killed with -9 at random moments (of writes,
 * collections, exports, certificates of finality, changes of its keys, their encryption, its own start), every other time in the midst of a
 * commit, and asked afterwards for everything that it had acknowledged. Its store is looked through after each kill, its home for secrets
 * after each start. In the end exactly the money that was sent has arrived.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkHome } from '../../platform/server/checkHome.ts'
import { Home } from '../../platform/server/home.ts'
import { programArgs } from '../../scripts/programArgs.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { randomOf } from '../fuzz/mutate.ts'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { RpcClient } from '../support/rpcClient.ts'
import { CommitMarks } from './commitMarks.ts'
import { Exports } from './exports.ts'
import { entriesOf, plainSecretsIn, unfinishedIn } from './homeSecrets.ts'
import { startLoad } from './load.ts'
import { CrashModel } from './model.ts'

const { values } = programArgs(import.meta.filename, {
  options: { rounds: { type: 'string', default: '20' }, seed: { type: 'string' } },
})
const seed = values.seed === undefined ? Date.now() % 0x7fffffff : Number(values.seed)
const rounds = Number(values.rounds)
const random = randomOf(seed)
console.log(`seed ${seed}`)

/** Longest time under load before a kill, and before the first one during a start, milliseconds. */
const MAX_LOAD_MS = 3000
const MAX_START_MS = 1500
/** One start of so many is killed before it serves. */
const STARTS_PER_KILL = 5
/** Every other kill waits so long for a commit, milliseconds. */
const MAX_COMMIT_MS = 2000
/** From one start of so many on the keys are sealed. */
const STARTS_PER_PASSPHRASE = 4
/** A chain of so many sends is long enough: a new one begins, and with it a first start. */
const MAX_SENDS = 400
const SENDERS = 4
const KEY_PAUSE_MS = 20
const ARGS = ['devnet', '--api', '0', '--no-net', '--block-time', '0.2', '--actors', 'native', '--f3', '5']

let faults = 0
let kills = 0
let sends = 0
let acknowledged = 0
/** What the kills fell into, or left. */
const hit = { starts: 0, own: 0, aside: 0, commits: 0, unfinished: 0, halfSealed: 0 }
const exported = new Exports()

function report(found: readonly string[], output = ''): void {
  faults += found.length
  for (const fault of found) console.log(`FAULT (seed ${seed}, kill ${kills}): ${fault}`)
  if (found.length > 0 && output !== '') console.log(output.slice(-4000))
}

async function checkStoreOf(home: string): Promise<void> {
  try {
    report((await checkHome(new Home(home)))?.faults ?? [])
  } catch (error) {
    report([`the store cannot be looked through: ${error instanceof Error ? error.message : String(error)}`])
  }
}

/** One chain, from its first start on. */
class CrashedChain {
  readonly model = new CrashModel()
  readonly #home: string
  readonly #marks: CommitMarks
  /** undefined: the keys are plain. */
  #passphrase: string | undefined
  /** Of the longest start so far. */
  #startMs = 0
  #senders: string[] = []

  /** @param folder - empty */
  constructor(folder: string) {
    this.#home = join(folder, 'home')
    mkdirSync(this.#home, { mode: 0o700 })
    this.#marks = new CommitMarks(folder)
  }

  async #start(timeoutMs?: number): Promise<NodeProcess> {
    if (random(STARTS_PER_PASSPHRASE) === 0) this.#passphrase = 'what a killed node seals with'
    const sealing = this.#passphrase === undefined ? undefined : { PETREL_PASSPHRASE: this.#passphrase }
    const node = await startNode('node', this.#home, ARGS, timeoutMs, { ...this.#marks.env, ...sealing })
    this.#startMs = Math.max(this.#startMs, node.startMs)
    return node
  }

  /** Starts the node and kills it before it serves, or shortly after. */
  async #killStart(): Promise<void> {
    await this.#start(random(this.#startMs || MAX_START_MS)).then(
      (node) => node.kill(),
      () => undefined,
    )
    hit.starts++
    this.#killed()
  }

  /** Counts a kill by what it fell into. */
  #killed(): void {
    kills++
    const { own, aside } = this.#marks.now()
    if (own) hit.own++
    if (aside) hit.aside++
    if (own || aside) hit.commits++
    if (unfinishedIn(this.#home).length > 0) hit.unfinished++
    const { sealed, plain } = entriesOf(this.#home)
    if (sealed.length > 0 && plain.length > 0) hit.halfSealed++
  }

  /** A node that serves, and has everything that the ones before have acknowledged. */
  async begin(): Promise<{ readonly node: NodeProcess; readonly client: RpcClient }> {
    const node = await this.#start()
    report(unfinishedIn(this.#home).map((name) => `${name} was left behind`))
    const client = new RpcClient(node.url, node.token)
    if (this.#senders.length === 0) {
      const accounts: { Address: string }[] = await client.call('DevnetAccounts')
      this.#senders = accounts.slice(0, SENDERS).map((one) => one.Address)
      this.model.to = await client.call('WalletNew', 'bls')
    } else report(await this.model.check(client), node.output())
    if (this.#passphrase !== undefined) {
      report(entriesOf(this.#home).plain.map((name) => `${name} is not encrypted`))
      report(plainSecretsIn(this.#home, this.model.keys.secrets).map((name) => `${name} holds a key in the plain`))
    }
    return { node, client }
  }

  /** What a server does beside. */
  #besides(node: NodeProcess, client: RpcClient): (() => Promise<unknown>)[] {
    const { keys } = this.model
    const changes = [() => keys.import(client), () => keys.delete(client, random), () => keys.choose(client, random)]
    return [
      async () => {
        await client.call('ChainPrune', { MovingGC: false, RetainState: 20 })
        await sleep(200)
      },
      () => client.call('AuthNew', ['read']),
      async () => {
        await changes[random(changes.length)]?.()
        await sleep(KEY_PAUSE_MS)
      },
      async () => report(await exported.one(node)),
    ]
  }

  /** One life of the node under load. */
  async life(): Promise<void> {
    if (random(STARTS_PER_KILL) === 0) await this.#killStart()
    const { node, client } = await this.begin()
    const work = startLoad(client, this.model, this.#senders, this.#besides(node, client))
    await sleep(random(MAX_LOAD_MS))
    if (random(2) === 0) await this.#marks.untilOpen(MAX_COMMIT_MS)
    await node.kill()
    this.#killed()
    work.stop()
    await work.done
    await checkStoreOf(this.#home)
  }
}

async function runChain(folder: string): Promise<void> {
  const chain = new CrashedChain(folder)
  const { model } = chain
  while (kills < rounds && model.sends.length < MAX_SENDS) await chain.life()
  const { node, client } = await chain.begin()
  report(await model.checkMoney(client), node.output())
  await node.stop()
  sends += model.sends.length
  acknowledged += model.acknowledged
  const { keys, certificates, head } = model
  const { made, imported, deleted, chosen } = keys.done
  console.log(
    `${kills} kills, ${sends} sends, ${made} new keys, ${imported} imported, ${deleted} deleted, ${chosen} times another default, ${certificates.size} certificates, head at ${head}, ${faults} faults`,
  )
}

await initCrypto()
while (kills < rounds) {
  const folder = mkdtempSync(join(tmpdir(), 'petrel-crash-'))
  await runChain(folder)
  if (faults === 0) rmSync(folder, { recursive: true, force: true })
  else console.log(`the home is kept: ${folder}`)
}
console.log(
  `of ${kills} kills ${hit.starts} fell into a start, ${hit.commits} into a commit (${hit.own} of the node's own thread, ${hit.aside} of LMDB's), ${hit.unfinished} left a key half written, ${hit.halfSealed} a keystore half encrypted; ${exported.whole} exports were whole, ${exported.cut} cut`,
)
console.log(`${kills} kills, ${sends} sends, all ${acknowledged} there once; ${faults} faults`)
console.log(`${kills} passed, ${faults} failed, 0 skipped`)
if (faults > 0) process.exitCode = 1
