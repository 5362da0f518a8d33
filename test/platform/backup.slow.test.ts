/** A node moves to another home while it works: keys, tokens, messages that wait; and no payment twice. */
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { RpcClient } from '../support/rpcClient.ts'
import { ROOT } from '../support/shared.ts'
import { until } from '../support/until.ts'

const run = promisify(execFile)
const PETREL = join(ROOT, 'bin/petrel.js')
const FIL = 10n ** 18n

const folder = mkdtempSync(join(tmpdir(), 'petrel-backup-'))
const running: NodeProcess[] = []
afterEach(async () => {
  for (const node of running.splice(0)) await node.kill()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function start(home: string, args: readonly string[]): Promise<NodeProcess> {
  const node = await startNode('node', home, args)
  running.push(node)
  return node
}

async function petrel(home: string, ...args: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [PETREL, '--repo', home, ...args])
  return stdout
}

/** What a command fails with. */
async function failure(home: string, ...args: string[]): Promise<string> {
  return await petrel(home, ...args).then(
    (said) => `it did not fail: ${said}`,
    (error: { stderr: string }) => error.stderr,
  )
}

const transfer = (from: string, to: string, value: string): Record<string, unknown> => ({
  ...{ Version: 0, From: from, To: to, Value: value, Method: 0, Params: null, Nonce: 0 },
  ...{ GasLimit: 0, GasFeeCap: '0', GasPremium: '0' },
})

describe('petrel backup', () => {
  it('moves a node under load', { timeout: 240_000 }, async () => {
    const passphrase = join(folder, 'passphrase')
    writeFileSync(passphrase, 'correct horse battery staple\n')
    const leaderHome = join(folder, 'leader')
    const leader = await start(leaderHome, [
      ...['devnet', '--api', '0', '--actors', 'native', '--block-time', '0.5', '--listen', '/ip4/127.0.0.1/tcp/0'],
    ])
    await until(() => leader.output().includes('other nodes on'), 'the leader listens')
    const bootstrap = /other nodes on (\S+)/.exec(leader.output())?.[1] as string
    const bank = new RpcClient(leader.url, leader.token)
    const [account] = (await bank.call('DevnetAccounts')) as { Address: string }[]

    const follow = [
      ...['daemon', '--network', join(leaderHome, 'network.json'), '--bootstrap', bootstrap, '--api', '0'],
      ...['--listen', '/ip4/127.0.0.1/tcp/0'],
    ]
    const oldHome = join(folder, 'old')
    const sealed = ['--passphrase-file', passphrase]
    const old = await start(oldHome, [...follow, ...sealed])
    const before = new RpcClient(old.url, old.token)
    const [payer, slow, recipient]: string[] = []
    const keys = { payer, slow, recipient }
    for (const name of Object.keys(keys) as (keyof typeof keys)[])
      keys[name] = await before.call('WalletNew', 'secp256k1')
    const { payer: from = '', slow: waiting = '', recipient: to = '' } = keys
    for (const one of [from, waiting])
      await bank.call('MpoolPushMessage', transfer(account?.Address ?? '', one, String(100n * FIL)), null)
    await until(
      async () =>
        BigInt(await before.call('WalletBalance', waiting)) > 0n &&
        BigInt(await before.call('WalletBalance', from)) > 0n,
      'both have money',
    )
    const readToken = Buffer.from(await before.call('AuthNew', ['read']), 'base64').toString('utf8')
    // The nonces before its own are missing: it waits.
    const gap = {
      ...transfer(waiting, to, '1'),
      Nonce: 3,
      GasLimit: 2_000_000,
      GasFeeCap: '1000000',
      GasPremium: '200000',
    }
    const stuck = await before.call('MpoolPush', await before.call('WalletSignMessage', waiting, gap))

    const acknowledged = new Map<string, string>()
    let isOn = true
    const load = (async () => {
      while (isOn) {
        const uuid = randomUUID()
        const { CID } = await before.call('MpoolPushMessage', transfer(from, to, '1000'), { MsgUuid: uuid })
        acknowledged.set(uuid, CID['/'])
      }
    })().catch((error: unknown) => {
      if (isOn) throw error
    })
    await until(() => acknowledged.size > 5, 'six sends')
    const atBackup = new Map(acknowledged)
    const file = join(folder, 'node.backup')
    expect(await petrel(oldHome, 'backup', file)).toContain('encrypted')
    expect(acknowledged.size).toBeGreaterThan(atBackup.size)
    isOn = false
    await load
    // What the old node has told nobody goes with it: of those behind the backup the leader knows all, in its pool or on its chain.
    await until(
      async () => (await bank.call('MpoolGetNonce', from)) === acknowledged.size,
      'the leader knows all sends',
    )
    await old.kill()

    const newHome = join(folder, 'new')
    expect(await petrel(newHome, 'restore', file)).toContain('encrypted')
    expect(await failure(newHome, 'restore', file)).toContain('it is not empty')
    rmSync(join(oldHome), { recursive: true })
    const moved = await start(newHome, ['daemon', ...follow.slice(3), ...sealed])
    const after = new RpcClient(moved.url, old.token)
    expect([...(await after.call('WalletList'))].sort()).toEqual([from, waiting, to].sort())
    expect(await new RpcClient(moved.url, readToken).call('AuthVerify', readToken)).toEqual(['read'])
    // Told again: what was acknowledged is the answer, and nothing is sent.
    for (const [uuid, cid] of atBackup) {
      const again = await after.call('MpoolPushMessage', transfer(from, to, '1000'), { MsgUuid: uuid })
      expect(again.CID['/']).toBe(cid)
    }
    const pending = async (): Promise<string[]> =>
      ((await after.call('MpoolPending', [])) as { CID: { '/': string } }[]).map(({ CID }) => CID['/'])
    await until(async () => (await pending()).includes(stuck['/']), 'the stuck one is pending')
    await until(
      async () => BigInt(await after.call('WalletBalance', to)) === 1000n * BigInt(acknowledged.size),
      'all has arrived',
    )
    // What was sent after the backup has its nonces: the next one is behind them.
    const last = await after.call('MpoolPushMessage', transfer(from, to, '1000'), { MsgUuid: randomUUID() })
    expect(last.Message.Nonce).toBe(acknowledged.size)
    await until(
      async () => BigInt(await bank.call('WalletBalance', to)) === 1000n * BigInt(acknowledged.size + 1),
      'the last has arrived',
    )
  })

  it('refuses keys in the plain, and a file that is none', { timeout: 60_000 }, async () => {
    const home = join(folder, 'plain')
    const node = await start(home, ['devnet', '--api', '0', '--actors', 'native', '--manual', '--no-net'])
    await new RpcClient(node.url, node.token).call('WalletNew', 'bls')
    const file = join(folder, 'plain.backup')
    expect(await failure(home, 'backup', file)).toContain('keys are not encrypted')
    expect(existsSync(file)).toBe(false)
    expect(await petrel(home, 'backup', '--insecure', file)).toContain('IN THE PLAIN')
    expect(await failure(home, 'backup', '--insecure', file)).toContain('EEXIST')
    const passphrase = join(folder, 'other')
    writeFileSync(passphrase, 'another')
    const sealed = join(folder, 'sealed.backup')
    expect(await petrel(home, 'backup', '--passphrase-file', passphrase, sealed)).toContain('encrypted')
    expect(readFileSync(sealed).includes('PrivateKey')).toBe(false)
    expect(readFileSync(file).includes('PrivateKey')).toBe(true)
    // A byte in the midst of it is another.
    const target = openSync(file, 'r+')
    writeSync(target, Buffer.of(readFileSync(file)[900] === 0 ? 1 : 0), 0, 1, 900)
    closeSync(target)
    expect(await failure(join(folder, 'none'), 'restore', file)).toMatch(/damaged/)
    expect(existsSync(join(folder, 'none'))).toBe(false)
  })
})
