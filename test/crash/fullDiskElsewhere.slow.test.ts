/**
 * A disk that is full under those who make no blocks for others: followers of each mode stand where they are, blame nobody and catch up; a
 * local chain in a tab refuses and stands still, and everything is there once when there is room. As {@link mountSmallDisk}: root alone.
 */
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { afterAll, expect, it } from 'vitest'
import { PASSPHRASE, serveTab, tabAdmin } from '../runtimes/chromiumHost.ts'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { findChromium, launchProfile } from '../support/chromium.ts'
import { chromiumProcesses } from '../support/chromiumProcesses.ts'
import { type Answer, RpcClient } from '../support/rpcClient.ts'
import { fillDisk, mountSmallDisk } from '../support/smallDisk.ts'
import { until } from '../support/until.ts'
import { heightOf } from './diskQuestions.ts'

/** Chromium takes 60 MB of it. */
const DISK_BYTES = 300 * 1024 * 1024
const { path: disk, isMounted, end } = mountSmallDisk('petrel-full-elsewhere-', DISK_BYTES)
const ballast = join(disk, 'ballast')
const elsewhere = mkdtempSync(join(tmpdir(), 'petrel-full-producer-'))

const running: NodeProcess[] = []
afterAll(async () => {
  for (const one of running) await one.kill()
  end()
  rmSync(elsewhere, { recursive: true, force: true })
})

async function start(home: string, args: readonly string[]): Promise<{ node: NodeProcess; rpc: RpcClient }> {
  const node = await startNode('node', home, [...args, '--api', '0'])
  running.push(node)
  return { node, rpc: new RpcClient(node.url, node.token) }
}

/** The head, as soon as it can be told of. */
async function untilTold(client: Pick<RpcClient, 'call'>): Promise<number> {
  let height: number | undefined
  await until(async () => {
    height = await heightOf(client).catch(() => undefined)
    return height !== undefined
  }, 'a head')
  return height as number
}

it.skipIf(!isMounted)(
  'followers of each mode',
  async () => {
    const { node, rpc: producer } = await start(join(elsewhere, 'home'), [
      ...['devnet', '--block-time', '0.3', '--actors', 'native', '--f3', '5', '--listen', '/ip4/127.0.0.1/tcp/0'],
    ])
    const addressOf = (): string | undefined => /other nodes on (\S+)/.exec(node.output())?.[1]
    await until(() => addressOf() !== undefined, 'an address')
    await until(
      async () => (await producer.call('F3GetLatestCertificate').catch(() => null)) !== null,
      'something final',
    )
    const daemon = ['daemon', '--network', join(elsewhere, 'home/network.json'), '--bootstrap', addressOf() as string]
    const followers: { mode: string; node: NodeProcess; rpc: RpcClient }[] = []
    for (const mode of ['execute', 'headers', 'light']) {
      const listen = ['--listen', '/ip4/127.0.0.1/tcp/0', '--cache', '64']
      followers.push({ mode, ...(await start(join(disk, mode), [...daemon, ...listen, '--validate', mode])) })
    }
    const isLevel = async (): Promise<boolean> => {
      const made = await heightOf(producer)
      const all = await Promise.all(followers.map(({ rpc }) => heightOf(rpc)))
      return all.every((height) => made - height <= 3)
    }
    await until(isLevel, 'all follow')
    const said = async (): Promise<string[]> => {
      fillDisk(ballast, 0)
      const all = await Promise.all(followers.map((one) => fetch(`${one.node.url}/health/readyz`)))
      return await Promise.all(all.map((answer) => answer.text()))
    }
    const isFull = expect.stringContaining('Cannot write to the store: the disk is full')
    await expect.poll(said, { timeout: 60_000 }).toEqual(followers.map(() => isFull))
    const stopped = await Promise.all(followers.map(({ rpc }) => heightOf(rpc)))
    const made = await heightOf(producer)
    await until(async () => (await heightOf(producer)) > made + 5, 'more blocks')
    for (const [i, { rpc }] of followers.entries())
      expect(await heightOf(rpc)).toBeLessThanOrEqual((stopped[i] ?? 0) + 1)
    rmSync(ballast)
    await until(isLevel, 'all follow again')
    for (const { mode, rpc, node: follower } of followers) {
      const peers: { ID: string }[] = await rpc.call('NetPeers')
      expect(
        peers.map(({ ID }) => ID),
        mode,
      ).toContain((addressOf() as string).split('/p2p/')[1])
      expect(follower.output()).not.toContain('peer banned')
    }
    for (const one of running.splice(0)) await one.kill()
  },
  120_000,
)

it.skipIf(!isMounted || findChromium() === undefined)(
  'a local chain in a tab',
  async () => {
    const server = await serveTab()
    const profile = join(disk, 'profile')
    mkdirSync(profile)
    let context = await launchProfile(profile)
    try {
      const log: string[] = []
      const open = async () => {
        const page = await server.openPage(context, log)
        const node = { kind: 'local', devnet: { blockTimeMs: 300, finalityFrom: 5 } }
        await page.evaluate(`startTab(${JSON.stringify({ node, passphrase: PASSPHRASE })})`)
        return { client: (await tabAdmin(page)).client }
      }
      const { client } = await open()
      const from: string = await client.call('WalletDefaultAddress')
      const to: string = await client.call('WalletNew', 'secp256k1')
      const send = (id: string): Promise<Answer> =>
        client.call('MpoolPushMessage', { From: from, To: to, Value: '1000' }, { MsgUuid: id })
      await until(async () => (await heightOf(client)) > 3, 'blocks')
      const ids = Array.from({ length: 12 }, () => randomUUID())
      await until(async () => {
        fillDisk(ballast, 0)
        return await client.call('WalletNew', 'secp256k1').then(
          () => false,
          () => true,
        )
      }, 'nothing is taken any more')
      const refused = await Promise.all(ids.map((id) => send(id).catch((error: Error) => error.message)))
      for (const text of refused) expect(text).toMatch(/^Cannot (write to|open) the store: /)
      await until(() => log.some((line) => line.includes('cannot make a block')), 'no block is made any more')
      for (let i = 0; i < 3; i++) await expect(client.call('DevnetMine', 1, null)).rejects.toThrow(/the store/)
      // Nothing is told that an end of the tab would take back.
      await expect(heightOf(client)).rejects.toThrow(/the store/)
      await expect(client.call('MpoolPending', [])).rejects.toThrow(/the store/)

      rmSync(ballast)
      const stopped = await untilTold(client)
      expect(await client.call('MpoolPending', [])).toEqual([])
      await until(async () => (await heightOf(client)) > stopped + 2, 'new blocks')
      const sent: Answer[] = await Promise.all(ids.map(send))
      expect(await Promise.all(ids.map(send))).toEqual(sent)
      const nonces = sent.map(({ Message }) => Message.Nonce as number).sort((a, b) => a - b)
      expect(nonces).toEqual(ids.map((_, i) => i))
      await until(async () => (await client.call('WalletBalance', to)) === String(1000 * ids.length), 'all messages')

      // Full again and again, with little room between: nothing of what it says of its head is lost, nor with the browser.
      let head = await heightOf(client)
      const untilRefused = (leave: number): Promise<void> =>
        until(async () => {
          fillDisk(ballast, leave)
          const told = await heightOf(client).catch((error: Error) => error.message)
          if (typeof told === 'number') head = told
          else expect(told).toMatch(/^Cannot (write to|open) the store: /)
          return typeof told === 'string'
        }, 'a refusal')
      for (const left of [100_000, 4_000_000, 20_000, 1_000_000]) {
        await untilRefused(0)
        truncateSync(ballast, statSync(ballast).size - left)
        await untilRefused(left)
        rmSync(ballast)
        // Chromium writes the log's table while they are made: full in that moment, it loses all.
        const told = await untilTold(client)
        await until(async () => (await untilTold(client)) > told + 3, 'new blocks')
      }
      head = await heightOf(client)
      const closed = new Promise((resolve) => context.once('close', resolve))
      for (const pid of chromiumProcesses('browser', profile)) process.kill(Number(pid), 'SIGKILL')
      await closed
      context = await launchProfile(profile)
      const { client: again } = await open()
      expect(await heightOf(again)).toBeGreaterThanOrEqual(head)
      expect(await again.call('WalletBalance', to)).toBe(String(1000 * ids.length))
    } finally {
      await context.close()
      server.close()
    }
  },
  120_000,
)
