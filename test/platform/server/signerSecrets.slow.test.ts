/**
 * Secrets that two processes share are nowhere but where they belong: the keys in a signer, the token by which a node with threads for
 * reads asks it, the secret of a webhook that follows the node.
 */
import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemRandom } from '../../../platform/server/random.ts'
import { toBase64 } from '../../../src/base/bytes.ts'
import { initCrypto } from '../../../src/crypto/init.ts'
import { generateKey } from '../../../src/wallet/key.ts'
import { KEY_SECP256K1 } from '../../../src/wallet/keyInfo.ts'
import { Pipelined } from '../../support/pipelined.ts'
import type { Answer } from '../../support/rpcClient.ts'
import { until } from '../../support/until.ts'
import { bearerOf, expectNowhere, keyTexts, PROGRAM, refusals, secretsFolder } from './secretHolders.ts'

const PASSPHRASE = 'a passphrase that no signer tells'
const WEBHOOK_SECRET = 'a secret that signs and is never sent'
const DEVNET = ['devnet', '--api', '0', '--no-net', '--actors', 'native', '--block-time', '0.5', '--log', 'debug']
/** Connections that ask at once, so that the node starts its threads. */
const CLIENTS = 8
/** Of a call, each on a connection of its own: the kernel gives some of them to threads. */
const CALLS = 6
const { folder, start } = secretsFolder()

/** A key of Lotus' JSON that is known before the signer has it, and the policy that lets it sign. */
function keyWithPolicy(): { address: string; info: { Type: string; PrivateKey: string }; policy: string } {
  const { address, info } = generateKey(KEY_SECP256K1, systemRandom)
  const policy = join(folder, 'policy.json')
  writeFileSync(
    policy,
    JSON.stringify({ keys: { [address.toString()]: { dailyLimit: '10 FIL' } }, chainId: 31415926, manage: true }),
  )
  return {
    address: address.toString().replace(/^f/, 't'),
    info: { Type: info.type, PrivateKey: toBase64(info.privateKey) },
    policy,
  }
}

/** What a webhook was sent: refused once, then taken. */
async function webhook(): Promise<{ url: string; texts: string[]; taken: number; close(): void }> {
  let count = 0
  const texts: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (part: Buffer) => (body += part.toString()))
    request.on('end', () => {
      texts.push(body, JSON.stringify(request.headers))
      const signed = `${request.headers['petrel-timestamp']}.${body}`
      const own = `sha256=${createHmac('sha256', WEBHOOK_SECRET).update(signed).digest('hex')}`
      response.statusCode = count++ === 0 || request.headers['petrel-signature'] !== own ? 500 : 200
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    texts,
    get taken() {
      return count
    },
    close: () => server.close(),
  }
}

/** Runs a command to its end. @returns all that it printed */
async function run(args: readonly string[]): Promise<{ status: number | null; output: string }> {
  const child = spawn(PROGRAM[0] as string, [...PROGRAM.slice(1), ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  return await new Promise((resolve) => child.on('close', (status) => resolve({ status, output })))
}

test('secrets of a signer, of the node that asks it, and of a webhook are nowhere but there', async () => {
  await initCrypto()
  const texts: string[] = []
  const { address, info, policy } = keyWithPolicy()
  const signerHome = join(folder, 'signer')
  const env = { PETREL_PASSPHRASE: PASSPHRASE }
  const signer = await start(signerHome, ['signer', '--policy', policy, '--api', '0'], { env, path: 'v0' })
  const ofSigner = refusals(signer.client, texts)
  await signer.client.call('WalletImport', info)
  await ofSigner('WalletImport', info)
  await ofSigner('WalletImport', { ...info, Type: 'bls', PrivateKey: `${info.PrivateKey}${info.PrivateKey}` })
  await ofSigner('WalletImport', [info.PrivateKey])
  await ofSigner('WalletSign', address, toBase64(new Uint8Array(38)), { Type: 'message', Extra: info.PrivateKey })
  await ofSigner('WalletExport', info.PrivateKey)
  const other: Answer = await signer.client.call('WalletExport', await signer.client.call('WalletNew', 'bls'))

  const home = join(folder, 'node')
  const node = await start(home, [...DEVNET, '--log-file', '--rpc-threads', '2'], {
    env: { PETREL_REMOTE_WALLET: `${signer.token}:${signer.multiaddr}` },
  })
  const { client } = node
  const load = Array.from(
    { length: CLIENTS },
    () => new Pipelined(node.url, '{"jsonrpc":"2.0","id":1,"method":"Filecoin.ChainHead"}'),
  )
  await until(() => node.output().includes('a thread answers reads, too'), 'a thread has started')
  for (const one of load) one.close()

  const bearer = bearerOf(await client.call('AuthNew', ['read', 'sign']))
  const head = (await client.call('ChainHead')) as { Cids: { '/': string }[] }
  const [{ Address: from }] = (await client.call('DevnetAccounts')) as [{ Address: string }]
  const pay = async (sender: string, to: string, fil: number): Promise<void> => {
    const sent = await client.call('MpoolPushMessage', { From: sender, To: to, Value: `${fil}${'0'.repeat(18)}` }, null)
    await client.call('StateWaitMsg', sent.CID, 0, 100, true)
  }
  await pay(from, address, 20)
  await pay(address, from, 1)
  const refused = refusals(client, texts)
  await refused('MpoolPushMessage', { From: address, To: from, Value: `15${'0'.repeat(18)}` }, null)
  await refused('WalletImport', { ...info, PrivateKey: `!${info.PrivateKey}` })
  expect(readFileSync(join(signerHome, 'signed.jsonl'), 'utf8').trim().split('\n').length).toBeGreaterThan(1)
  const said = (method: string, ...params: unknown[]): string =>
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: `Filecoin.${method}`, params })
  for (const body of [
    said('ChainHead'),
    said('ChainHead', info.PrivateKey),
    said('StateGetActor', bearer, null),
    said('WalletExport', address),
    '{',
  ]) {
    for (let i = 0; i < CALLS; i++) {
      for (const token of [bearer, `${bearer}x`, signer.token]) {
        const headers = { authorization: `Bearer ${token}`, connection: 'close' }
        const answer = await fetch(`${node.url}/rpc/v1`, { method: 'POST', headers, body })
        texts.push(await answer.text(), JSON.stringify([...answer.headers]))
      }
    }
  }
  for (const path of ['/metrics', '/health/readyz', '/p2p'])
    texts.push(await (await fetch(`${node.url}${path}`)).text())

  const hook = await webhook()
  const secretFile = join(folder, 'webhook.secret')
  writeFileSync(secretFile, WEBHOOK_SECRET)
  const position = join(home, 'position')
  const { status, output } = await run([
    ...['--repo', home, 'transfers', '--since', head.Cids.map((cid) => cid['/']).join(','), '--confidence', '1'],
    ...['--webhook', hook.url, '--webhook-secret-file', secretFile, '--position-file', position],
  ])
  hook.close()
  expect(status, output).toBe(0)
  expect(hook.texts[0]).toContain(address)
  expect(hook.taken).toBeGreaterThan(1)

  await node.stop()
  await signer.stop()
  texts.push(...hook.texts, output, node.output(), signer.output())
  // What its threads are known by stays between them and the node.
  for (const text of texts) expect(text).not.toContain('x-petrel-for')
  const keys = [info.PrivateKey, other.PrivateKey as string].flatMap(keyTexts)
  expectNowhere([...keys, PASSPHRASE, WEBHOOK_SECRET, signer.token, node.token, bearer], texts, [home, signerHome])
}, 180_000)
