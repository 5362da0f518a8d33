/**
 * A real node on a real disk that is full or read-only: what it refuses leaves no trace, what it said stays true, it says so in
 * its health, and it goes on when it can write. The disk is a file system in memory, which only root can mount; elsewhere the test is skipped.
 */
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { type Answer, RpcClient } from '../support/rpcClient.ts'
import { fillDisk, mountSmallDisk } from '../support/smallDisk.ts'
import { until } from '../support/until.ts'
import { heightOf, readiness } from './diskQuestions.ts'

const DISK_BYTES = 96 * 1024 * 1024
const { path: disk, isMounted, end } = mountSmallDisk('petrel-full-', DISK_BYTES)
const home = join(disk, 'home')
const ballast = join(disk, 'ballast')

const running: NodeProcess[] = []
afterAll(async () => {
  for (const one of running) await one.kill()
  end()
})

async function start(): Promise<{ node: NodeProcess; admin: RpcClient }> {
  const args = ['devnet', '--api', '0', '--block-time', '0.2', '--no-net', '--actors', 'native']
  const node = await startNode('node', home, args)
  running.push(node)
  return { node, admin: new RpcClient(node.url, node.token) }
}

const fill = (leaveBytes: number): void => fillDisk(ballast, leaveBytes)

it.skipIf(!isMounted)(
  'money is sent once, the head is never taken back',
  async () => {
    mkdirSync(home)
    const { node, admin } = await start()
    const from: string = await admin.call('WalletDefaultAddress')
    const to: string = await admin.call('WalletNew', 'secp256k1')
    const send = (id: string): Promise<Answer> =>
      admin.call('MpoolPushMessage', { From: from, To: to, Value: '1000' }, { MsgUuid: id })
    const head = (): Promise<number> => heightOf(admin)
    const first = await send(randomUUID())
    await until(
      async () => (await admin.call('StateSearchMsg', [], first.CID, 100, true)) !== null,
      'the first message',
    )

    const ids = Array.from({ length: 24 }, () => randomUUID())
    // As full as a store notices itself, and full to the last byte.
    for (const left of [1024 * 1024, 0]) {
      fill(left)
      const refused = await Promise.all(ids.map((id) => send(id).catch((error: Error) => error.message)))
      for (const text of refused) expect(text).toMatch(/^Cannot write to the store: the disk is full/)
      expect(await admin.call('MpoolPending', [])).toEqual([])
      rmSync(ballast)
    }
    // What was deleted may be given back a moment later.
    await until(async () => {
      fill(0)
      return (await readiness(node))[0] === 503
    }, 'the node says that its disk is full')
    // A block for which room was looked for before is still written.
    const last = await head()
    await new Promise((resolve) => setTimeout(resolve, 1500))
    const stopped = await head()
    expect(stopped).toBeLessThanOrEqual(last + 1)
    await new Promise((resolve) => setTimeout(resolve, 1500))
    expect(await head()).toBe(stopped)
    expect(node.output()).toContain('cannot make a block')
    expect(await readiness(node)).toEqual([503, expect.stringContaining('Cannot write to the store: the disk is full')])
    expect(await admin.call('StateSearchMsg', [], first.CID, 100, true)).not.toBeNull()

    rmSync(ballast)
    await until(async () => (await head()) > stopped, 'new blocks')
    expect((await readiness(node))[0]).toBe(200)
    const sent: Answer[] = await Promise.all(ids.map(send))
    const again: Answer[] = await Promise.all(ids.map(send))
    expect(again).toEqual(sent)
    const nonces = sent.map(({ Message }) => Message.Nonce as number).sort((a, b) => a - b)
    expect(nonces).toEqual(ids.map((_, i) => first.Message.Nonce + 1 + i))
    await until(async () => (await admin.call('WalletBalance', to)) === String(1000 * (ids.length + 1)), 'all messages')

    // Full again, and killed: what was served is what is there.
    fill(0)
    const served = await admin.call('ChainHead')
    await node.kill()
    rmSync(ballast)
    const { admin: reborn } = await start()
    const found = await reborn.call('ChainGetTipSetByHeight', served.Height, [])
    expect(found.Cids).toEqual(served.Cids)
    expect(await reborn.call('WalletBalance', to)).toBe(String(1000 * (ids.length + 1)))
  },
  180_000,
)

it.skipIf(!isMounted)(
  'a file system that turns read-only: nothing is taken, health says why, and all goes on when it is mended',
  async () => {
    for (const one of running.splice(0)) await one.kill()
    const { node, admin } = await start()
    const from: string = await admin.call('WalletDefaultAddress')
    const head = (): Promise<number> => heightOf(admin)
    const began = await head()
    await until(async () => (await head()) > began, 'blocks')
    // The machine's thread that estimates has opened the store from here on: by its path it would find the folder above it.
    const before = await admin.call('MpoolPushMessage', { From: from, To: from, Value: '1' }, null)
    await admin.call('StateWaitMsg', before.CID, 0, -1, true)
    // What the kernel does to a disk with errors cannot be asked for; a read-only one over the folder looks the same by its path.
    const chain = join(home, 'chain')
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro,size=64m', 'tmpfs', chain])
    const id = randomUUID()
    const send = (): Promise<Answer> =>
      admin.call('MpoolPushMessage', { From: from, To: from, Value: '1' }, { MsgUuid: id })
    try {
      // A thread of the machine that starts meanwhile cannot open the store: then the estimate says so.
      await expect(send()).rejects.toThrow(
        /^Cannot write to the store: its file system is read-only|: Read-only file system/,
      )
      expect(await readiness(node)).toEqual([503, expect.stringContaining('its file system is read-only')])
      expect((await fetch(`${node.url}/health/livez`)).status).toBe(200)
      const stopped = await head()
      await new Promise((resolve) => setTimeout(resolve, 1000))
      expect([await head(), await admin.call('MpoolPending', [])]).toEqual([stopped, []])
      expect(node.output()).toContain('cannot make a block')
    } finally {
      execFileSync('umount', [chain])
    }
    const sent = await send()
    await admin.call('StateWaitMsg', sent.CID, 0, -1, true)
    expect((await readiness(node))[0]).toBe(200)

    await node.kill()
    rmSync(join(home, 'api'))
    execFileSync('mount', ['-o', 'remount,ro', disk])
    try {
      for (const path of [home, join(disk, 'new', 'home')]) {
        await expect(
          startNode('node', path, ['devnet', '--api', '0', '--no-net', '--actors', 'native']),
        ).rejects.toThrow(`Cannot use ${path}: its file system is read-only`)
      }
    } finally {
      execFileSync('mount', ['-o', 'remount,rw', disk])
    }
  },
  120_000,
)
