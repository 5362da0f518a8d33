/** A tab that follows a Node process: over WebSocket and over WebRTC-direct, headers alone and executing. */
import assert from 'node:assert/strict'
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { type Answer, RpcClient } from '../support/rpcClient.ts'
import { until } from '../support/until.ts'
import { evaluate, PASSPHRASE, throwAway } from './chromiumHost.ts'
import type { TabStep } from './chromiumSteps.ts'
import { type NodeProcess, startNode } from './nodeProcess.ts'

const TIMEOUT_MS = 60_000

/** A local chain that others may follow. */
export interface Leader {
  readonly process: NodeProcess
  readonly rpc: RpcClient
  readonly network: string
  readonly genesis: string
  address(kind: 'ws' | 'webrtc-direct'): string
  stop(): Promise<void>
}

/** Starts one, which makes blocks when it is told to. */
export async function openLeader(): Promise<Leader> {
  const home = mkdtempSync(join(tmpdir(), 'petrel-leader-'))
  const listen = ['/ip4/127.0.0.1/tcp/0/ws', '/ip4/127.0.0.1/udp/0/webrtc-direct'].flatMap((one) => ['--listen', one])
  const process = await startNode('node', home, ['devnet', '--api', '0', '--manual', ...listen])
  const end = Date.now() + TIMEOUT_MS
  const addresses = (): string[] =>
    [...process.output().matchAll(/other nodes on (\S+)/g)].map((one) => one[1] as string)
  while (addresses().length < 2) {
    assert.ok(Date.now() < end, process.output())
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return {
    process,
    rpc: new RpcClient(process.url, process.token),
    network: readFileSync(join(home, 'network.json'), 'utf8'),
    genesis: join(home, 'genesis.car'),
    address: (kind) => {
      const found = addresses().find((one) => one.includes(`/${kind}/`))
      assert.ok(found, process.output())
      return found
    },
    stop: async () => {
      await process.kill()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** Until the tab has the leader's head. */
export async function follows(page: Page, leader: Leader): Promise<void> {
  const end = Date.now() + TIMEOUT_MS
  for (;;) {
    const wanted = await leader.rpc.call('ChainHead')
    const head = await evaluate(page, `tab.request('ChainHead')`)
    if (JSON.stringify(head.Cids) === JSON.stringify(wanted.Cids)) return
    assert.ok(Date.now() < end, `the tab is at ${head.Height}, the leader at ${wanted.Height}`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

const KINDS = [
  ['ws', 'headers'],
  ['webrtc-direct', 'headers'],
  ['ws', 'execute'],
] as const

interface Peer {
  readonly ID: string
  readonly Addrs: readonly string[]
}

const isWebRtc = (address: string): boolean => /\/webrtc(\/|$)/.test(address)

/** The first answer to a request that is what is waited for. */
async function awaited(page: Page, request: string, is: (answer: Answer) => boolean): Promise<Answer> {
  const end = Date.now() + TIMEOUT_MS
  for (;;) {
    const answer = await evaluate(page, request)
    if (is(answer)) return answer
    assert.ok(Date.now() < end, JSON.stringify(answer))
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const FOLLOWING: readonly TabStep[] = KINDS.map(([kind, mode]) => ({
  name: `follows a Node peer over ${kind}, mode ${mode}`,
  run: async (chromium) => {
    const leader = await openLeader()
    const context = await chromium.browser.newContext()
    const log: string[] = []
    try {
      await leader.rpc.call('DevnetMine', 3, null)
      copyFileSync(leader.genesis, join(chromium.folder, 'genesis.car'))
      const page = await chromium.openPage(context, log)
      const node = {
        kind: 'follow',
        network: leader.network,
        genesis: '/genesis.car',
        mode,
        bootstrap: [leader.address(kind)],
      }
      await page.evaluate(`startTab(${JSON.stringify({ node, log: 'debug' })})`)
      await follows(page, leader)
      // State that the tab never had: proven under the head's roots, or executed.
      const [{ Address: funded }, { Address: other }] = await leader.rpc.call('DevnetAccounts')
      assert.equal(
        await evaluate(page, `tab.request('WalletBalance', [${JSON.stringify(funded)}])`),
        await leader.rpc.call('WalletBalance', funded),
      )
      const message = { Version: 0, From: funded, To: other, Value: '5', Method: 0, Params: null }
      const gas = { Nonce: 0, GasLimit: 0, GasFeeCap: '0', GasPremium: '0' }
      const sent = await leader.rpc.call('MpoolPushMessage', { ...message, ...gas }, null)
      await leader.rpc.call('DevnetMine', 3, null)
      await follows(page, leader)
      const found = await evaluate(page, `tab.request('StateSearchMsg', [[], ${JSON.stringify(sent.CID)}, -1, true])`)
      assert.deepEqual(found, await leader.rpc.call('StateSearchMsg', [], sent.CID, -1, true))
      // Restored without the leader.
      await page.close()
      const head = await leader.rpc.call('ChainHead')
      await leader.process.kill()
      const again = await chromium.openPage(context, log)
      await again.evaluate(`startTab(${JSON.stringify({ node, log: 'debug' })})`)
      assert.deepEqual(await evaluate(again, `tab.request('ChainHead')`), head)
    } catch (error) {
      console.log(log.slice(-30).join('\n'))
      console.log(leader.process.output().split('\n').slice(-10).join('\n'))
      throw error
    } finally {
      await context.close()
      await leader.stop()
    }
  },
}))

/** A tab whose only way to the chain is another tab. */
const BETWEEN_TABS: TabStep = {
  name: 'reaches another tab by WebRTC, through a relay',
  run: async (chromium) => {
    const leader = await openLeader()
    const contexts = [await chromium.browser.newContext(), await chromium.browser.newContext()] as const
    const log: string[] = []
    try {
      await leader.rpc.call('DevnetMine', 2, null)
      copyFileSync(leader.genesis, join(chromium.folder, 'genesis.car'))
      const node = {
        kind: 'follow',
        network: leader.network,
        genesis: '/genesis.car',
        mode: 'headers',
        bootstrap: [leader.address('ws')],
      }
      const pages: Page[] = []
      for (const context of contexts) {
        const page = await chromium.openPage(context, log)
        await page.evaluate(`startTab(${JSON.stringify({ node, log: 'debug' })})`)
        await follows(page, leader)
        pages.push(page)
      }
      const [first, second] = pages as [Page, Page]
      const addresses = `tab.request('NetAddrsListen')`
      const info = await awaited(first, addresses, ({ Addrs }) => Addrs.some(isWebRtc))
      const webrtc = { ID: info.ID, Addrs: info.Addrs.filter(isWebRtc) }
      // Two pages and a relay on a busy machine may take longer than a dial may: whoever dials again gets there.
      let reason: unknown
      const connect = (): Promise<boolean> =>
        evaluate(second, `tab.request('NetConnect', [${JSON.stringify(webrtc)}])`).then(
          () => true,
          (error: unknown) => {
            reason = error
            return false
          },
        )
      await until(connect, () => `the tabs are connected: ${String(reason)}`, TIMEOUT_MS)
      // Not by the relay, over which they may have met before.
      const peers = `tab.request('NetPeers')`
      await awaited(second, peers, (all: Peer[]) => all.some(({ ID, Addrs }) => ID === info.ID && Addrs.some(isWebRtc)))
      // The relay goes: the tabs still have each other.
      await leader.process.kill()
      for (const page of pages)
        await awaited(page, peers, (all: Peer[]) => all.every(({ Addrs }) => Addrs.every(isWebRtc)))
      const ping = await evaluate(second, `tab.request('NetPing', [${JSON.stringify(info.ID)}])`)
      assert.ok(Number(ping) > 0)
    } catch (error) {
      console.log(log.slice(-30).join('\n'))
      throw error
    } finally {
      for (const context of contexts) await context.close()
      await leader.stop()
    }
  },
}

/** The database is deleted, as a browser does to one that looks damaged. */
const LOST: TabStep = {
  name: 'answers a repeated send as before when its database was thrown away, and its message arrives once',
  run: async (chromium) => {
    const leader = await openLeader()
    const context = await chromium.browser.newContext()
    const log: string[] = []
    try {
      await leader.rpc.call('DevnetMine', 2, null)
      copyFileSync(leader.genesis, join(chromium.folder, 'genesis.car'))
      const { network } = leader
      const bootstrap = [leader.address('ws')]
      const node = { kind: 'follow', network, genesis: '/genesis.car', mode: 'headers', bootstrap }
      const start = `startTab(${JSON.stringify({ name: 'lost', node, passphrase: PASSPHRASE, log: 'debug' })})`
      const page = await chromium.openPage(context, log)
      await page.evaluate(start)
      const own: string = await evaluate(page, `tab.request('WalletNew', [1])`)
      const to: string = await evaluate(page, `tab.request('WalletNew', [1])`)
      const [{ Address: funded }] = await leader.rpc.call('DevnetAccounts')
      await leader.rpc.call('MpoolPushMessage', { From: funded, To: own, Value: String(10n ** 18n) }, null)
      await leader.rpc.call('DevnetMine', 2, null)
      await follows(page, leader)
      const ask = [{ From: own, To: to, Value: '7' }, { MsgUuid: '5b8e2f5f-4736-4f09-8411-c1d4aecaf997' }]
      const send = `tab.request('MpoolPushMessage', ${JSON.stringify(ask)})`
      const sent = await evaluate(page, send)
      await page.evaluate('tab.stop()')
      await page.close()
      const again = await chromium.openPage(context, log)
      await throwAway(again, 'lost')
      await again.evaluate(start)
      assert.deepEqual(await again.evaluate('[tab.state.isLost, tab.state.takenBack > 0]'), [true, true])
      assert.deepEqual((await evaluate(again, send)).CID, sent.CID)
      await follows(again, leader)
      const pending = `tab.request('MpoolPending', [[]])`
      await awaited(again, pending, (all: { CID: Answer }[]) => all.length === 1)
      await until(
        async () => (await leader.rpc.call('MpoolPending', [])).length === 1,
        'the leader has the message',
        TIMEOUT_MS,
      )
      await leader.rpc.call('DevnetMine', 2, null)
      await follows(again, leader)
      await awaited(again, `tab.request('WalletBalance', [${JSON.stringify(to)}])`, (balance) => balance === '7')
      assert.equal(await evaluate(again, `tab.request('MpoolGetNonce', [${JSON.stringify(own)}])`), 1)
    } catch (error) {
      console.log(log.slice(-30).join('\n'))
      throw error
    } finally {
      await context.close()
      await leader.stop()
    }
  },
}

/** All. */
export const FOLLOW_STEPS: readonly TabStep[] = [...FOLLOWING, BETWEEN_TABS, LOST]
