/**
 * A flipped bit in every file of a home: what comes of it is the same answer, or an error that names what is damaged; never another
 * answer. Files that a start writes anew (`token`, `api`) are mended by it.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkHome } from '../../../platform/server/checkHome.ts'
import { Home } from '../../../platform/server/home.ts'
import { parseConfig } from '../../../platform/server/homeConfig.ts'
import { findNetwork } from '../../../platform/server/networkFiles.ts'
import { fromBase32 } from '../../../src/base/base32.ts'
import { fromUtf8 } from '../../../src/base/bytes.ts'
import { PetrelError } from '../../../src/base/errors.ts'
import { readGenesisCar } from '../../../src/chain/genesisCar.ts'
import { memorySource } from '../../../src/codec/byteSource.ts'
import { initCrypto } from '../../../src/crypto/init.ts'
import { MemoryBlockstore } from '../../../src/ipld/blockstore.ts'
import { networkJson } from '../../../src/networks/networkJson.ts'
import { loadIdentity } from '../../../src/p2p/host/identity.ts'
import { loadApiSecret } from '../../../src/rpc/tokens.ts'
import { parseAddress } from '../../../src/types/address.ts'
import { KeyStore } from '../../../src/wallet/keyStore.ts'
import { Sealer } from '../../../src/wallet/sealing.ts'
import { MemorySecretStore } from '../../../src/wallet/secretStore.ts'
import { Wallet } from '../../../src/wallet/wallet.ts'
import { startNode } from '../../runtimes/nodeProcess.ts'
import { RpcClient } from '../../support/rpcClient.ts'
import { seeded } from '../../support/seeded.ts'
import { until } from '../../support/until.ts'
import { StoreReader } from './askReader.ts'

const SEED = 16
const ARGS = ['devnet', '--api', '0', '--block-time', '0.2', '--actors', 'native', '--f3', '5', '--log-file']
const PROGRAM = fileURLToPath(new URL('../../../bin/petrel.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'petrel-bits-'))
const home = join(folder, 'home')
const random = { fill: (out: Uint8Array) => void crypto.getRandomValues(out) }

const reader = new StoreReader()
beforeAll(async () => {
  await initCrypto()
  const node = await startNode('node', home, ARGS)
  const client = new RpcClient(node.url, node.token)
  const from: string = await client.call('WalletDefaultAddress')
  const send = (): Promise<unknown> => client.call('MpoolPushMessage', { From: from, To: from, Value: '1' }, null)
  for (let i = 0; i < 20; i++) await send()
  await node.stop()
}, 90_000)
afterAll(() => {
  reader.close()
  rmSync(folder, { recursive: true, force: true })
})

/** All bits of a file where it is small, else as many as `most`, the same at every run. */
function* flips(content: Uint8Array, most: number): Iterable<Uint8Array> {
  const { int } = seeded('flipped bits', SEED)
  const bits = content.length * 8
  for (let i = 0; i < Math.min(bits, most); i++) {
    const bit = bits <= most ? i : int(bits)
    const changed = content.slice()
    changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7))
    yield changed
  }
}

const bytesOf = (name: string): Uint8Array => new Uint8Array(readFileSync(join(home, name)))

/** What is read, as a text; for an error of ours its code. */
async function said(read: () => unknown): Promise<string> {
  try {
    return JSON.stringify((await read()) ?? null)
  } catch (error) {
    if (!(error instanceof PetrelError)) throw error
    return `error ${String(error.code)}`
  }
}

/** Reads each changed content. @returns how often it was named */
async function expectNamed(
  content: Uint8Array,
  most: number,
  read: (changed: Uint8Array) => unknown,
  isHarmless: (said: string) => boolean = () => false,
): Promise<number> {
  const sound = await said(() => read(content))
  expect(sound).not.toMatch(/^error/)
  let named = 0
  for (const changed of flips(content, most)) {
    const now = await said(() => read(changed))
    if (now === sound || isHarmless(now)) continue
    expect(now).toMatch(/^error/)
    named++
  }
  return named
}

/** Where each file of a home is flipped. */
const TRIED: Readonly<Record<string, string>> = {
  'network.json': 'below',
  'genesis.car': 'below',
  'config.json': 'below',
  token: 'below',
  api: 'below',
  'chain/data.mdb': 'below',
  'chain/lock.mdb': 'below',
  keystore: 'below',
  'messages/data.mdb': 'test/platform/server/flippedBitsOfPlaces.slow.test.ts',
  'messages/lock.mdb': 'test/platform/server/flippedBitsOfPlaces.slow.test.ts',
  'petrel.lock': 'test/contract/system.test.ts',
  // Empty, always.
  'petrel.lock.db': 'test/platform/server/homeLock.slow.test.ts',
  // Comments, until somebody writes into it: text of its owner, of which nothing but its owner knows what it was.
  'config.toml': 'test/fuzz/configToml.ts',
  // Of a signer.
  'signed.jsonl': 'test/platform/server/signedLog.test.ts',
  // For people: nothing reads it.
  'logs/petrel.log': '',
}

const filesIn = (of: string): string[] =>
  readdirSync(of, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(of, join(entry.parentPath, entry.name)).replace(/^keystore\/.*/, 'keystore'))

/** A daemon over the chain of `home`. @returns the files that it makes */
async function filesOfDaemon(name: string, args: readonly string[]): Promise<string[]> {
  const at = join(folder, name)
  const daemon = ['daemon', '--network', join(home, 'network.json'), '--api', '0', '--log-file']
  const node = await startNode('node', at, [...daemon, ...args])
  const files = filesIn(at)
  await node.stop()
  return files
}

async function filesOfSigner(): Promise<string[]> {
  const at = join(folder, 'signer')
  const policy = join(folder, 'policy.json')
  writeFileSync(policy, JSON.stringify({ keys: {} }))
  const args = [PROGRAM, '--repo', at, 'signer', '--policy', policy, '--api', '0']
  const signer = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(signer, 'exit')
  let output = ''
  signer.stdout.on('data', (text) => (output += String(text)))
  await until(() => output.includes('signer on'), 'a signer serves')
  const files = filesIn(at)
  signer.kill('SIGTERM')
  await ended
  return files
}

/** Of one that finds no index: by then its store is open. */
function filesOfReplica(): string[] {
  const at = join(folder, 'replica')
  const nobody = ['--index', 'postgres://u@127.0.0.1:9/x', '--blocks', 'http://127.0.0.1:9']
  spawnSync(process.execPath, [PROGRAM, '--repo', at, 'replica', '--network', 'calibnet', '--api', '0', ...nobody])
  return filesIn(at)
}

describe('a flipped bit', () => {
  test('is tried in every file that a local chain, its followers of each mode, a signer and a replica make', async () => {
    const producer = await startNode('node', home, ARGS)
    const client = new RpcClient(producer.url, producer.token)
    const addressOf = (): string | undefined => /other nodes on (\/\S+)/.exec(producer.output())?.[1]
    await until(() => addressOf() !== undefined, 'an address')
    const archive = join(folder, 'chain.car')
    const whole = ['--format', 'car', '--recent-stateroots', '900']
    execFileSync(process.execPath, [PROGRAM, '--repo', home, 'snapshot', 'export', archive, ...whole])
    await until(async () => (await client.call('F3GetLatestCertificate')) !== null, 'something is final')
    const made = [
      ...(await filesOfDaemon('executes', ['--no-net'])),
      ...(await filesOfDaemon('snapshot', ['--no-net', '--snapshot', archive])),
      ...(await filesOfDaemon('light', ['--validate', 'light', '--bootstrap', addressOf() as string])),
      ...(await filesOfSigner()),
      ...filesOfReplica(),
      ...filesIn(home),
    ]
    await producer.stop()
    expect([...new Set(made)].sort()).toEqual(Object.keys(TRIED).sort())
  }, 180_000)

  test('in lock.mdb: who reads alone writes it anew', async () => {
    const target = join(folder, 'locked')
    cpSync(home, target, { recursive: true })
    const lock = join(target, 'chain', 'lock.mdb')
    const content = new Uint8Array(readFileSync(lock))
    const sound = await reader.ask(target)
    expect(sound?.faults).toBe('sound')
    for (const changed of [...flips(content.subarray(0, 128), 60), ...flips(content, 20)]) {
      const whole = content.slice()
      whole.set(changed)
      writeFileSync(lock, whole)
      expect(await reader.ask(target)).toEqual(sound)
    }
  }, 120_000)

  test('in network.json: the digest tells', async () => {
    const path = join(folder, 'network.json')
    const read = (changed: Uint8Array): unknown => {
      writeFileSync(path, changed)
      return networkJson(findNetwork(path))
    }
    expect(await expectNamed(bytesOf('network.json'), 400, read)).toBeGreaterThan(350)
  })

  test('in genesis.car: every block is checked', async () => {
    const read = (changed: Uint8Array): unknown =>
      readGenesisCar(new MemoryBlockstore(), memorySource(changed)).toString()
    expect(await expectNamed(bytesOf('genesis.car'), 1000, read)).toBeGreaterThan(900)
  })

  test('in config.json: nothing is taken that the node does not write', async () => {
    const config = { network: 'calibnet', validate: 'execute', snapshot: '/chain.car' }
    const content = new TextEncoder().encode(JSON.stringify(config))
    const exists = (path: string | undefined): string => {
      if (path !== '/chain.car') throw new PetrelError('CONFIG_INVALID', `Cannot find the snapshot ${path}`)
      return path
    }
    const read = (changed: Uint8Array): unknown => {
      const { network = '', snapshot, validate } = parseConfig(new TextDecoder().decode(changed), 'config.json')
      return [findNetwork(network).name, exists(snapshot), validate]
    }
    expect(await expectNamed(content, 1000, read)).toBeGreaterThan(300)
  })

  const entries = (): string[] => readdirSync(join(home, 'keystore'))

  /** A wallet that reads a changed entry, and what it says of its keys. */
  async function keysOf(entry: string, changed: Uint8Array, sealer?: Sealer): Promise<unknown> {
    const secrets = new MemorySecretStore()
    for (const other of entries()) await secrets.create(other, bytesOf(`keystore/${other}`))
    await secrets.replace(entry, changed)
    const keystore = new KeyStore(secrets, sealer)
    const wallet = new Wallet(keystore, { random, addressPrefix: 't', chainId: 1n })
    const name = fromUtf8(fromBase32(entry.toLowerCase()))
    if (name === 'default') return String(await wallet.defaultAddress())
    if (name === 'libp2p-host') return (await loadIdentity(keystore, random)).name
    if (name === 'auth-jwt-private') return [...(await loadApiSecret(keystore, random)).secret]
    return (await wallet.export(parseAddress(name.slice('wallet-'.length)))).privateKey.join()
  }

  test('in an entry of the keystore: the key is not the one of its address', async () => {
    const kinds = new Map<string, number>()
    for (const entry of entries()) {
      const name = fromUtf8(fromBase32(entry.toLowerCase()))
      const kind = name.startsWith('wallet-t3') ? 'bls' : name.startsWith('wallet-') ? 'secp256k1' : name
      const seen = kinds.get(kind) ?? 0
      kinds.set(kind, seen + 1)
      if (seen > 0) continue
      // Another secret of the API voids every token: nobody is let in by it.
      const isHarmless = (now: string): boolean => name === 'auth-jwt-private' && (now.match(/\d+/g) ?? []).length >= 32
      const content = bytesOf(`keystore/${entry}`)
      expect(await expectNamed(content, 120, (changed) => keysOf(entry, changed), isHarmless), name).toBeGreaterThan(40)
    }
    expect([...kinds.keys()].sort()).toEqual(['auth-jwt-private', 'bls', 'default', 'libp2p-host', 'secp256k1'])
  }, 60_000)

  test('in a sealed entry: it does not open', async () => {
    const sealer = new Sealer('a passphrase', random, { n: 2, r: 1, p: 1 })
    const entry = entries().find((name) => fromUtf8(fromBase32(name.toLowerCase())) === 'auth-jwt-private') as string
    const sealed = sealer.seal('auth-jwt-private', bytesOf(`keystore/${entry}`))
    expect(await expectNamed(sealed, 500, (changed) => keysOf(entry, changed, sealer))).toBeGreaterThan(400)
  }, 60_000)

  test('in token: the next start writes it anew', async () => {
    const token = readFileSync(join(home, 'token'), 'utf8')
    const copy = join(folder, 'restarted')
    cpSync(home, copy, { recursive: true })
    writeFileSync(join(copy, 'token'), token.replace('e', 'd'))
    writeFileSync(join(copy, 'api'), 'damaged')
    const node = await startNode('node', copy, ARGS)
    expect(node.token).toBe(token.trim())
    expect(await new RpcClient(node.url, node.token).call('AuthVerify', node.token)).toHaveLength(4)
    await node.stop()
  }, 60_000)

  test('in data.mdb: every entry is what was written or is named, and a look through the store names every block', async () => {
    const target = join(folder, 'store')
    cpSync(home, target, { recursive: true })
    const file = join(target, 'chain', 'data.mdb')
    const content = new Uint8Array(readFileSync(file))
    let ended = 0
    const ask = async () => await reader.ask(target)
    const sound = await ask()
    expect(sound?.faults).toBe('sound')
    const wrong: string[] = []
    const seen = { same: 0, named: 0 }
    // The first two pages say where everything is: as many of their bits as of all others.
    const first = [...flips(content.subarray(0, 2 * 4096), 100)].map((head) => {
      const changed = content.slice()
      changed.set(head)
      return changed
    })
    for (const changed of [...first, ...flips(content, 150)]) {
      writeFileSync(file, changed)
      rmSync(join(target, 'chain', 'lock.mdb'), { force: true })
      const answer = await ask()
      if (answer === undefined) ended++
      else if (answer.values === sound?.values) seen.same++
      else if (/^[A-Z_]+$/.test(answer.values) || answer.faults !== 'sound') seen.named++
      else wrong.push(`${changed.findIndex((byte, i) => byte !== content[i])} ${JSON.stringify(answer)}`)
    }
    console.log(`${seen.same} the same, ${seen.named} named, ${ended} ended by LMDB (seed ${SEED})`)
    expect(wrong).toEqual([])
  }, 400_000)

  test('in the name of a table: LMDB would make an empty one', async () => {
    for (const name of ['blocks', 'values']) {
      const target = join(folder, `store-${name}`)
      cpSync(home, target, { recursive: true })
      const file = join(target, 'chain', 'data.mdb')
      const content = readFileSync(file)
      let changed = 0
      for (let at = content.indexOf(`${name}\0`); at >= 0; at = content.indexOf(`${name}\0`, at + 1)) {
        content[at + 2] = (content[at + 2] as number) ^ 1
        changed++
      }
      expect(changed).toBeGreaterThan(0)
      writeFileSync(file, content)
      rmSync(join(target, 'chain', 'lock.mdb'), { force: true })
      expect(await said(() => checkHome(new Home(target)))).toBe('error STORE_DAMAGED')
    }
  }, 60_000)
})
