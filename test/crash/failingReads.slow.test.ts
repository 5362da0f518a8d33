/**
 * Real nodes on a disk that cannot be read, now and then or at all: an answer is the one that a sound disk gives, or an error that
 * names what could not be read; nothing is made or taken meanwhile; and all goes on when the disk can be read again.
 */
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { type Answer, RpcClient } from '../support/rpcClient.ts'
import { until } from '../support/until.ts'
import { heightOf, readiness } from './diskQuestions.ts'

const folder = mkdtempSync(join(tmpdir(), 'petrel-reads-'))
const home = join(folder, 'home')
const control = join(folder, 'fail')
const HOOK = new URL('../support/failingReads.ts', import.meta.url).href
const PROGRAM = fileURLToPath(new URL('../../bin/petrel.js', import.meta.url))
const DEVNET = ['devnet', '--api', '0', '--no-net', '--actors', 'native']

const running: NodeProcess[] = []
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function start(at: string, args: readonly string[]): Promise<{ node: NodeProcess; admin: RpcClient }> {
  const env = { NODE_OPTIONS: `--import=${HOOK}`, FAILING_READS: control }
  const node = await startNode('node', at, [...args, '--cache', '32'], undefined, env)
  running.push(node)
  return { node, admin: new RpcClient(node.url, node.token) }
}

/** One read of so many fails from now on. */
const failOneOf = (reads: number): void => writeFileSync(control, String(reads))
const mend = (): void => rmSync(control, { force: true })

/** Questions about every part of the chain and the state. */
async function questionsOf(admin: RpcClient): Promise<[string, ...unknown[]][]> {
  const head = await admin.call('ChainHead')
  const middle = await admin.call('ChainGetTipSetByHeight', head.Height >> 1, [])
  const [block] = middle.Cids
  const actors: string[] = await admin.call('StateListActors', [])
  const [message] = (await admin.call('ChainGetMessagesInTipset', middle.Cids)) as Answer[]
  const hash = await admin.call('EthGetTransactionHashByCid', message.Cid)
  return [
    ['ChainGetTipSetByHeight', 3, []],
    ['ChainGetGenesis'],
    ['ChainGetBlock', block],
    ['ChainGetBlockMessages', block],
    ['ChainGetMessagesInTipset', middle.Cids],
    ['ChainGetParentMessages', block],
    ['ChainGetParentReceipts', block],
    ['ChainGetPath', middle.Cids, head.Cids],
    ['ChainReadObj', block],
    ['ChainHasObj', block],
    ['ChainTipSetWeight', middle.Cids],
    ['StateListActors', middle.Cids],
    ['StateListMiners', []],
    ['StateListMessages', { To: message.Message.To }, middle.Cids, 1],
    ['StateSearchMsg', [], message.Cid, -1, true],
    ['StateReplay', [], message.Cid],
    ['StateCompute', middle.Height, [], middle.Cids],
    ['StateMarketParticipants', []],
    ['StateCirculatingSupply', middle.Cids],
    ['StateVMCirculatingSupplyInternal', middle.Cids],
    ['StateNetworkVersion', middle.Cids],
    ...actors.slice(-4).map((actor): [string, ...unknown[]] => ['StateGetActor', actor, middle.Cids]),
    ...actors.slice(0, 12).map((actor): [string, ...unknown[]] => ['StateReadState', actor, middle.Cids]),
    ['StateAccountKey', actors.at(-1), []],
    ['EthGetTransactionByHash', hash],
    ['EthGetTransactionReceipt', hash],
    ['EthGetBlockByNumber', '0x3', true],
    ['EthGetBalance', '0xff00000000000000000000000000000000000064', '0x3'],
    ['EthTraceBlock', '0x3'],
    ['EthGetLogs', { fromBlock: '0x1', toBlock: '0x4' }],
    ['WalletBalance', message.Message.From],
  ]
}

/** What could not be read is named. */
const NAMES_IT = /Cannot (open|read|write to) (the store|the snapshot|\S+\.car)\b.*(Input\/output error|EIO)/

type Question = Awaited<ReturnType<typeof questionsOf>>[number]

const asked = (admin: RpcClient, [method, ...params]: Question): Promise<Answer> => admin.raw(method, params)

/**
 * Asks all, and then again, of new processes that have read nothing yet, while reads fail.
 * @returns how many answers were errors
 */
async function expectTrueAnswers(at: string, args: readonly string[]): Promise<number> {
  const first = await start(at, args)
  const questions = await questionsOf(first.admin)
  const sound: Answer[] = []
  for (const question of questions) sound.push(await asked(first.admin, question))
  for (const [i, { error }] of sound.entries()) expect(error, JSON.stringify(questions[i])).toBeUndefined()
  await first.node.stop()
  const wrong: string[] = []
  let refused = 0
  for (const reads of [1, 3, 19]) {
    const { node, admin } = await start(at, args)
    for (const [i, question] of questions.entries()) {
      failOneOf(reads)
      const { result, error } = await asked(admin, question)
      mend()
      if (error !== undefined && NAMES_IT.test(error.message)) refused++
      else if (!isDeepStrictEqual(result, sound[i].result)) {
        wrong.push(`1 of ${reads}: ${JSON.stringify(question)}: ${JSON.stringify(error ?? result).slice(0, 300)}`)
      }
    }
    for (const [i, question] of questions.entries()) {
      expect((await asked(admin, question)).result, question[0]).toEqual(sound[i].result)
    }
    await node.stop()
  }
  expect(wrong).toEqual([])
  return refused
}

beforeAll(async () => {
  const { node, admin } = await start(home, [...DEVNET, '--manual'])
  const from: string = await admin.call('WalletDefaultAddress')
  const to: string = await admin.call('WalletNew', 'secp256k1')
  for (let i = 0; i < 12; i++) {
    await admin.call('MpoolPushMessage', { From: from, To: i % 2 === 0 ? to : from, Value: '1000' }, null)
    await admin.call('DevnetMine', 1, null)
  }
  await node.stop()
})

afterEach(async () => {
  mend()
  for (const one of running.splice(0)) await one.kill()
})

test('no answer is wrong while reads of the store fail', async () => {
  const refused = await expectTrueAnswers(home, [...DEVNET, '--manual'])
  console.log(`${refused} answers were refused`)
  expect(refused).toBeGreaterThan(50)
})

test('no answer is wrong while reads of an archive fail', async () => {
  const archive = join(folder, 'chain.car')
  const flags = ['--repo', home, 'snapshot', 'export', archive, '--format', 'car', '--recent-stateroots', '900']
  execFileSync(process.execPath, [PROGRAM, ...flags])
  const daemon = ['daemon', '--api', '0', '--no-net', '--network', join(home, 'network.json'), '--snapshot', archive]
  const refused = await expectTrueAnswers(join(folder, 'archive'), daemon)
  console.log(`${refused} answers were refused`)
  expect(refused).toBeGreaterThan(50)

  const { node, admin } = await start(join(folder, 'archive'), daemon)
  failOneOf(1)
  const [miner] = await admin.call('StateListMiners', []).catch(() => [''])
  expect(miner).toBe('')
  expect(await readiness(node)).toEqual([503, expect.stringContaining('Cannot read')])
  mend()
  expect((await readiness(node))[0]).toBe(200)
})

test('nothing is made or taken while the store cannot be read; health says why; all goes on afterwards', async () => {
  const { node, admin } = await start(home, [...DEVNET, '--block-time', '0.2'])
  const from: string = await admin.call('WalletDefaultAddress')
  const head = (): Promise<number> => heightOf(admin)
  const began = await head()
  await until(async () => (await head()) > began + 2, 'blocks')
  const id = randomUUID()
  const send = (): Promise<Answer> =>
    admin.call('MpoolPushMessage', { From: from, To: from, Value: '1' }, { MsgUuid: id })

  const [block] = (await admin.call('ChainGetTipSetByHeight', 2, [])).Cids

  failOneOf(1)
  await expect(admin.call('ChainReadObj', block)).rejects.toThrow(NAMES_IT)
  await expect(send()).rejects.toThrow(NAMES_IT)
  expect(await readiness(node)).toEqual([503, expect.stringContaining(`Cannot read the store ${join(home, 'chain')}`)])
  expect((await fetch(`${node.url}/health/livez`)).status).toBe(200)
  await until(async () => node.output().includes('cannot make a block'), 'production stops')
  const stopped = await head()
  await new Promise((resolve) => setTimeout(resolve, 1000))
  expect([await head(), await admin.call('MpoolPending', [])]).toEqual([stopped, []])
  expect(node.output()).toMatch(/cannot make a block.*Cannot read the store/)

  mend()
  await until(async () => (await head()) > stopped, 'new blocks')
  expect((await readiness(node))[0]).toBe(200)
  const sent = await send()
  await admin.call('StateWaitMsg', sent.CID, 0, -1, true)
  expect((await send()).CID).toEqual(sent.CID)
  await node.stop()
})

test('a follower blames neither blocks nor peers, and catches up', async () => {
  const listen = ['--listen', '/ip4/127.0.0.1/tcp/0']
  const chain = join(folder, 'producer')
  const made = await startNode('node', chain, [
    'devnet',
    '--api',
    '0',
    '--block-time',
    '0.5',
    '--actors',
    'native',
    ...listen,
  ])
  running.push(made)
  const producer = new RpcClient(made.url, made.token)
  const { ID: id, Addrs: addresses } = await producer.call('NetAddrsListen')
  const bootstrap = `${addresses.find((one: string) => one.startsWith('/ip4/127.0.0.1/tcp/'))}/p2p/${id}`
  const follow = ['daemon', '--network', join(chain, 'network.json'), '--bootstrap', bootstrap, '--api', '0', ...listen]
  const { node, admin } = await start(join(folder, 'follower'), follow)
  const inSync = async (): Promise<boolean> =>
    (await heightOf(admin)) >= (await heightOf(producer)) - 1 && (await heightOf(admin)) > 3
  await until(inSync, 'it follows')

  for (const reads of [1, 2, 5]) {
    failOneOf(reads)
    const then = await heightOf(producer)
    await until(async () => (await heightOf(producer)) >= then + 8, 'eight epochs pass')
    await admin.call('ChainHead').catch(({ message }: Error) => expect(message).toMatch(NAMES_IT))
    mend()
    await until(inSync, `it catches up after 1 of ${reads}`)
  }
  expect(node.output()).toMatch(/a read failed: nothing is written.*Cannot read the store/)
  expect(node.output()).toMatch(/can be read again/)
  expect(node.output()).not.toMatch(/peer banned|BUG/)
  expect((await admin.call('NetPeers')).map(({ ID }: Answer) => ID)).toEqual([id])
  const height = await heightOf(admin)
  for (let epoch = 1; epoch <= height; epoch++) {
    const { Cids: cids } = await producer.call('ChainGetTipSetByHeight', epoch, [])
    expect((await admin.call('ChainGetTipSetByHeight', epoch, [])).Cids).toEqual(cids)
    for (const cid of cids) expect(await admin.call('SyncCheckBad', cid)).toBe('')
  }
  expect((await readiness(node))[0]).toBe(200)
})
