/**
 * A real node's secrets: nobody else can read their files at any moment of a start, and they are nowhere but where they belong:
 * not in what is printed or logged at the finest level, not in errors, figures, health answers or the other files of the home.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { fromBase64, toBase64Url, toHex } from '../../../src/base/bytes.ts'
import { RpcClient } from '../../support/rpcClient.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'petrel-secrets-'))
const children: ChildProcess[] = []
afterAll(() => {
  for (const child of children)
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

/** Every file below a folder. */
function filesIn(path: string): string[] {
  return existsSync(path)
    ? readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
    : []
}

interface Started {
  readonly client: RpcClient
  readonly url: string
  readonly token: string
  output(): string
  stop(): Promise<void>
}

/** Starts a local chain under the umask that hides nothing; `look` is called again and again until it serves. */
async function start(home: string, env: Record<string, string>, look: () => void): Promise<Started> {
  const command = [process.execPath, join(ROOT, 'bin/petrel.js'), '--repo', home, 'devnet', '--api', '0', '--no-net']
  const rest = ['--actors', 'native', '--block-time', '0.2', '--log', 'debug', '--log-file']
  const child = spawn('sh', ['-c', 'umask 000; exec "$@"', 'sh', ...command, ...rest], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  children.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = new Promise<void>((resolve) => child.on('exit', () => resolve()))
  while (!output.includes('JSON-RPC on')) {
    if (child.exitCode !== null) throw new Error(output)
    look()
    await new Promise((resolve) => setImmediate(resolve))
  }
  look()
  const token = readFileSync(join(home, 'token'), 'utf8').trim()
  const [, , host, , port] = readFileSync(join(home, 'api'), 'utf8').trim().split('/')
  const url = `http://${host}:${port}`
  return {
    client: new RpcClient(url, token),
    url,
    token,
    output: () => output,
    stop: () => {
      process.kill(-(child.pid as number), 'SIGTERM')
      return ended
    },
  }
}

describe('secrets of a node', () => {
  test.skipIf(process.platform === 'win32')(
    'are in files that nobody else may read, at every moment of the first start',
    async () => {
      const home = join(folder, 'modes')
      const seen = new Map<string, number>()
      const node = await start(home, {}, () => {
        for (const file of [home, join(home, 'keystore'), ...filesIn(home)]) {
          if (file.startsWith(join(home, 'chain'))) continue
          try {
            const { mode } = lstatSync(file)
            seen.set(file, (seen.get(file) ?? 0) | (mode & 0o777))
          } catch {
            // It was renamed meanwhile.
          }
        }
      })
      await node.stop()
      const secret = [...seen].filter(([file]) => file === home || /keystore|token/.test(file))
      expect(secret.length).toBeGreaterThanOrEqual(4)
      for (const [file, mode] of secret) expect(mode & 0o077, file).toBe(0)
    },
    60_000,
  )

  test('are nowhere but there', async () => {
    const home = join(folder, 'leaks')
    const passphrase = 'a passphrase that is found nowhere'
    const node = await start(home, { PETREL_PASSPHRASE: passphrase }, () => undefined)
    const { client } = node
    const texts: string[] = []
    /** Calls that must fail: what they answer is looked through. */
    const refused = async (method: string, ...params: unknown[]): Promise<void> => {
      const answer = await client.raw(method, params)
      expect(answer.error, method).toBeDefined()
      texts.push(JSON.stringify(answer))
    }
    const address: string = await client.call('WalletNew', 'secp256k1')
    const exported = await client.call('WalletExport', address)
    const key = exported.PrivateKey as string
    const token: string = await client.call('AuthNew', ['read', 'sign'])
    const words = Buffer.from(token, 'base64').toString()
    const bearer = words.split('.').length === 3 ? words : token
    await client.call('WalletDelete', address)
    await client.call('WalletImport', exported)
    await refused('WalletImport', exported)
    await refused('WalletImport', { ...exported, Type: 'nonsense' })
    await refused('WalletImport', { ...exported, Type: 'bls', PrivateKey: `${key}${key}` })
    await refused('WalletImport', { Type: 'secp256k1', PrivateKey: `!${key}` })
    await refused('WalletImport', key)
    await refused('WalletImport', [key])
    // Its own words may come back to who said them, and to nobody else: not to the log either.
    await client.call('WalletNew', key).catch(() => undefined)
    await client.call('WalletExport', key).catch(() => undefined)
    await refused('AuthVerify', `${bearer}x`)
    await refused('AuthRevoke', `x${bearer}`)
    await client.raw(`No${bearer}`, [])
    const from: string = await client.call('WalletDefaultAddress')
    const sent = await client.call('MpoolPushMessage', { From: from, To: address, Value: '1' }, null)
    await client.call('StateWaitMsg', sent.CID, 1, 100, true)
    for (const path of [
      '/metrics',
      '/debug/metrics',
      '/health/livez',
      '/health/readyz',
      '/p2p',
      `/x?token=${bearer}`,
    ]) {
      const response = await fetch(`${node.url}${path}`, { headers: { authorization: `Bearer ${bearer}` } })
      texts.push(await response.text(), JSON.stringify([...response.headers]))
    }
    for (const one of [`${bearer}x`, 'x']) {
      const response = await fetch(`${node.url}/rpc/v1?token=${one}`, { method: 'POST', body: '{' })
      texts.push(await response.text())
    }
    await client.call('AuthRevoke', bearer).catch(() => undefined)
    await node.stop()
    texts.push(node.output())
    expect(node.output()).toContain('DEBUG')
    const bytes = fromBase64(key)
    const secrets = [key, key.replace(/=+$/, ''), toHex(bytes), toBase64Url(bytes), bearer, node.token, passphrase]
    for (const text of texts) for (const one of secrets) expect(text.includes(one), `${one} in ${text}`).toBe(false)
    for (const file of filesIn(home)) {
      const content = readFileSync(file)
      const allowed = file === join(home, 'token') ? [node.token] : []
      for (const one of secrets)
        if (!allowed.includes(one)) expect(content.includes(one), `${one} in ${file}`).toBe(false)
      expect(content.includes(Buffer.from(bytes)), `the key in ${file}`).toBe(false)
    }
  }, 60_000)
})
