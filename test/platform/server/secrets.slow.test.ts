/**
 * A real node's secrets: nobody else can read their files at any moment of a start, and they are nowhere but where they belong:
 * not in what is printed or logged at the finest level, not in errors, figures, health answers or the other files of the home.
 */
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { bearerOf, expectNowhere, filesIn, keyTexts, refusals, secretsFolder } from './secretHolders.ts'

const DEVNET = ['devnet', '--api', '0', '--no-net', '--actors', 'native', '--block-time', '0.2', '--log', 'debug']
const { folder, start } = secretsFolder()

describe('secrets of a node', () => {
  test.skipIf(process.platform === 'win32')(
    'are in files that nobody else may read, at every moment of the first start',
    async () => {
      const home = join(folder, 'modes')
      const seen = new Map<string, number>()
      const look = (): void => {
        for (const file of [home, join(home, 'keystore'), ...filesIn(home)]) {
          if (file.startsWith(join(home, 'chain'))) continue
          try {
            const { mode } = lstatSync(file)
            seen.set(file, (seen.get(file) ?? 0) | (mode & 0o777))
          } catch {
            // It was renamed meanwhile.
          }
        }
      }
      const node = await start(home, [...DEVNET, '--log-file'], { look })
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
    const node = await start(home, [...DEVNET, '--log-file'], { env: { PETREL_PASSPHRASE: passphrase } })
    const { client } = node
    const texts: string[] = []
    const refused = refusals(client, texts)
    const address: string = await client.call('WalletNew', 'secp256k1')
    const exported = await client.call('WalletExport', address)
    const key = exported.PrivateKey as string
    const bearer = bearerOf(await client.call('AuthNew', ['read', 'sign']))
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
    expectNowhere([...keyTexts(key), bearer, node.token, passphrase], texts, [home])
  }, 60_000)
})
