/**
 * All that a home holds and nobody else has, as one file: keys, the secret of the tokens, messages of this node with their nonces and
 * `MsgUuid`s, payment channels, certificates, options; not the chain, which others have. It is read beside a running node:
 * whatever that has acknowledged is in it.
 *
 *     petrel/backup          {"version":1,"time":…,"isSealed":…}: the first pair
 *     file/<path>            a file of the home; the keys are among them
 *     store/<key>            an entry of the store
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join, normalize, resolve } from 'node:path'
import { fromBase32 } from '../../src/base/base32.ts'
import { concatBytes, fromUtf8, utf8 } from '../../src/base/bytes.ts'
import { unlessThrown } from '../../src/base/errors.ts'
import type { KeyValueOp } from '../../src/base/ports.ts'
import { BUILTIN_NETWORKS } from '../../src/networks/builtinNetworks.ts'
import { isChainEntry } from '../../src/node/ownEntries.ts'
import { isSealed, type Sealer } from '../../src/wallet/sealing.ts'
import { type Pair, readPairs, sliced, writePairs } from './backupPairs.ts'
import { PlatformError } from './errors.ts'
import { Home, RESTORING, writeFile } from './home.ts'
import { type HomeConfig, parseConfig, readConfig } from './homeConfig.ts'
import { lockHolder } from './homeLock.ts'
import { assertSound, DATA_FILE } from './lmdbFile.ts'
import { LmdbEnvironment } from './lmdbStore.ts'
import { SecretFiles } from './secretFiles.ts'

const VERSION = 1
const HEAD = utf8('petrel/backup')
const FILE = 'file/'
const STORE = utf8('store/')
const KEYS = 'keystore'
/** Files that a node or its operator writes, and that cannot be made again. */
const OWN_FILES = ['config.toml', 'signed.jsonl']
const CHECKPOINT = utf8('chain/checkpoint')

/** What is in a backup, for people to read. */
export interface BackupSummary {
  readonly time: string
  readonly keys: number
  /** Whether no key can be read without the passphrase. */
  readonly isSealed: boolean
  readonly entries: number
  readonly files: readonly string[]
}

const startsWith = (key: Uint8Array, prefix: Uint8Array): boolean =>
  key.length >= prefix.length && prefix.every((byte, i) => key[i] === byte)

const refused = (reason: string): PlatformError => new PlatformError('BACKUP_REFUSED', reason)

/** The files of a network that is no built-in one; it stays what it is wherever its files lie. */
function networkFiles(home: Home, { network }: HomeConfig): Map<string, string> {
  const found = new Map<string, string>()
  const file = network === undefined || BUILTIN_NETWORKS.includes(network) ? join(home.path, 'network.json') : network
  for (const [name, path] of [
    ['network.json', file],
    ['genesis.car', join(dirname(file), 'genesis.car')],
  ] as const) {
    if (existsSync(path)) found.set(name, path)
  }
  return found
}

/** Keys as they go into the backup: sealed, where there is a passphrase. */
async function keyPairs(home: Home, sealer: Sealer | undefined): Promise<{ pairs: Pair[]; plain: number }> {
  const secrets = new SecretFiles(home.keystore)
  const pairs: Pair[] = []
  let plain = 0
  for (const name of await secrets.list()) {
    let content = await secrets.read(name)
    if (content === undefined) continue
    const entry = fromUtf8(fromBase32(name.toLowerCase()))
    // A passphrase that does not open what is sealed already is the wrong one.
    if (isSealed(content)) sealer?.open(entry, content)
    else if (sealer !== undefined) content = sealer.seal(entry, content)
    else plain++
    pairs.push([utf8(`${FILE}${KEYS}/${name}`), content])
  }
  return { pairs, plain }
}

const NOBODY = 0

/**
 * The pages of the last commit are looked at only where no node is running: it writes them meanwhile.
 * @throws PlatformError `STORE_DAMAGED`
 */
export function assertStoreSound(home: Home): void {
  // A damaged lock does not say that nobody has it, and keeps nobody from a backup.
  const holder = unlessThrown(() => lockHolder(home.lock) ?? NOBODY, PlatformError)
  assertSound(join(home.chain, DATA_FILE), holder === NOBODY)
}

async function storePairs(home: Home): Promise<Pair[]> {
  if (!existsSync(join(home.chain, DATA_FILE))) return []
  assertStoreSound(home)
  // Beside a node that writes, and where the disk is full.
  const environment = new LmdbEnvironment({ path: home.chain, readsOnly: true })
  try {
    const { meta } = environment
    const pairs: Pair[] = []
    // In one turn of the event loop, which is one transaction of LMDB: all of one moment.
    for (const key of meta.keys()) {
      // A head without its blocks would be no head.
      if (isChainEntry(key) && !startsWith(key, CHECKPOINT)) continue
      const value = meta.get(key)
      if (value !== undefined) pairs.push([concatBytes(STORE, key), value])
    }
    return pairs
  } finally {
    await environment.close()
  }
}

/** How to write a backup. */
export interface BackupOptions {
  readonly home: Home
  /** Must not exist. */
  readonly path: string
  /** Seals keys that lie in the home in the plain. */
  readonly sealer: Sealer | undefined
  /** Lets keys be readable in it. */
  readonly isInsecure: boolean
  readonly nowMs: number
}

/**
 * Writes a backup of a home, whether a node runs on it or not.
 * @throws PlatformError `BACKUP_REFUSED`: no home, keys in the plain, a file that exists; WalletError `WRONG_PASSPHRASE`
 */
export async function backupHome({ home, path, sealer, isInsecure, nowMs }: BackupOptions): Promise<BackupSummary> {
  if (!existsSync(home.path)) throw refused(`Cannot back up ${home.path}: there is no such home`)
  // Messages before keys: a key that is made meanwhile is one too many, not one too few.
  const entries = await storePairs(home)
  const keys = await keyPairs(home, sealer)
  if (keys.plain > 0 && !isInsecure) {
    throw refused(
      `Cannot back up ${home.path}: ${keys.plain} keys are not encrypted; give a passphrase, which seals them in the backup ` +
        '(--passphrase-file, PETREL_PASSPHRASE), or say --insecure',
    )
  }
  const config = readConfig(home)
  const paths = networkFiles(home, config)
  for (const name of OWN_FILES) {
    const own = join(home.path, name)
    if (existsSync(own)) paths.set(name, own)
  }
  const files = [...paths].map(([name, from]): Pair => [utf8(FILE + name), new Uint8Array(readFileSync(from))])
  // What lies elsewhere on this machine lies nowhere on another.
  const { snapshot: _, network, ...kept } = config
  const moved = network === undefined ? {} : { network: BUILTIN_NETWORKS.includes(network) ? network : 'network.json' }
  files.push([utf8(`${FILE}config.json`), utf8(`${JSON.stringify({ ...kept, ...moved }, undefined, 2)}\n`)])
  const head = { version: VERSION, time: new Date(nowMs).toISOString(), isSealed: keys.plain === 0 }
  const pairs: Pair[] = [[HEAD, utf8(JSON.stringify(head))], ...files, ...keys.pairs, ...entries]
  await writePairs(path, sliced(pairs), false)
  // A file that cannot be read again is no backup.
  return summaryOf(readPairs(new Uint8Array(readFileSync(path)), path), path)
}

function summaryOf(pairs: readonly Pair[], path: string): BackupSummary {
  const [first] = pairs
  const head =
    first !== undefined && fromUtf8(first[0]) === fromUtf8(HEAD)
      ? unlessThrown(() => JSON.parse(fromUtf8(first[1])) as Record<string, unknown>, SyntaxError)
      : undefined
  if (head === undefined) {
    throw refused(
      `Cannot read the backup ${path}: it is none of \`petrel backup\` (those of CreateBackup hold a store alone)`,
    )
  }
  const { version, time, isSealed: sealed } = head
  if (version !== VERSION || typeof time !== 'string') {
    throw refused(`Cannot read the backup ${path}: its version is ${String(version)}, expected ${VERSION}`)
  }
  const files = pairs.flatMap(([key]) => (startsWith(key, utf8(FILE)) ? [fromUtf8(key).slice(FILE.length)] : []))
  const isKey = (name: string): boolean => name.startsWith(`${KEYS}/`)
  return {
    time,
    isSealed: sealed === true,
    keys: files.filter(isKey).length,
    files: files.filter((name) => !isKey(name)),
    entries: pairs.filter(([key]) => startsWith(key, STORE)).length,
  }
}

/** Where a file of a backup goes. */
function target(folder: string, name: string): string {
  const path = normalize(join(folder, name))
  const isKnown =
    name === 'config.json' || name === 'network.json' || name === 'genesis.car' || OWN_FILES.includes(name)
  if (isKnown || /^keystore\/[A-Z2-7]+$/.test(name)) return path
  throw refused(`Cannot restore: nothing of a home is called ${JSON.stringify(name)}`)
}

/**
 * Makes a home of a backup: all of it, or none that a node starts on. Nothing is written beside the home, which may be a volume of a
 * container, or a folder that its owner may fill and not replace.
 * @returns what was in it
 * @throws PlatformError `BACKUP_REFUSED`: a home that is not empty, a file that is none, was cut off or damaged
 */
export async function restoreHome(repo: string, path: string): Promise<BackupSummary> {
  const folder = resolve(repo)
  const before = existsSync(folder) ? readdirSync(folder) : []
  if (before.includes(RESTORING))
    throw refused(`Cannot restore to ${folder}: an earlier restore was interrupted, or runs; empty it`)
  if (before.length > 0) throw refused(`Cannot restore to ${folder}: it is not empty; give another --repo`)
  const pairs = readPairs(new Uint8Array(readFileSync(path)), path)
  const summary = summaryOf(pairs, path)
  const made = join(folder, RESTORING)
  const firstMade = mkdirSync(folder, { recursive: true, mode: 0o700 })
  mkdirSync(made, { mode: 0o700 })
  try {
    mkdirSync(join(made, KEYS), { mode: 0o700 })
    const ops: KeyValueOp[] = []
    for (const [key, value] of pairs) {
      if (startsWith(key, STORE)) {
        // Its tipset is not here yet: the operator sets it again when it is.
        const own = key.slice(STORE.length)
        if (!startsWith(own, CHECKPOINT)) ops.push({ op: 'put', key: own, value })
      } else if (startsWith(key, utf8(FILE))) {
        const name = fromUtf8(key).slice(FILE.length)
        writeFile(target(made, name), name === 'config.json' ? placedConfig(value, folder) : value)
      }
    }
    const environment = new LmdbEnvironment({ path: new Home(made).chain })
    try {
      environment.meta.batch(ops)
    } finally {
      await environment.close()
    }
  } catch (error) {
    rmSync(firstMade ?? made, { recursive: true, force: true })
    throw error
  }
  for (const name of readdirSync(made)) renameSync(join(made, name), join(folder, name))
  rmdirSync(made)
  return summary
}

/** The network's file is the home's own now. */
function placedConfig(text: Uint8Array, folder: string): string {
  const config = parseConfig(fromUtf8(text), 'config.json')
  const { network } = config
  const placed = network === 'network.json' ? { ...config, network: join(folder, network) } : config
  return `${JSON.stringify(placed, undefined, 2)}\n`
}
