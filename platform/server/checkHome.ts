/** A look through the store of a home: what `petrel doctor --deep` does. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { toHex } from '../../src/base/bytes.ts'
import type { KeyValueStore } from '../../src/base/ports.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { LayeredBlockstore } from '../../src/ipld/blockstore.ts'
import { NodeCache } from '../../src/ipld/nodeCache.ts'
import { checkBlocks, checkStore, type StoreReport } from '../../src/node/checkStore.ts'
import { codeLookup } from '../../src/state/manifest.ts'
import { ActorBundles, bundledBlocks } from './actorBundles.ts'
import { openArchiveReader } from './archiveFile.ts'
import { PlatformError } from './errors.ts'
import type { Home } from './home.ts'
import { assertStoreSound } from './homeBackup.ts'
import { readConfig } from './homeConfig.ts'
import { DATA_FILE } from './lmdbFile.ts'
import { LmdbEnvironment } from './lmdbStore.ts'
import { createLogger } from './logger.ts'
import { findNetwork } from './networkFiles.ts'

/** What is wrong with a store, each as a line; none: it is sound. */
export interface HomeReport extends StoreReport {
  readonly faults: readonly string[]
}

/**
 * Looks through the whole store; works beside a running node, and changes nothing.
 * @returns undefined when there is none yet
 * @throws PlatformError `STORE_DAMAGED` (cut off), `STORE_FAILED`, `CONFIG_INVALID`; what {@link checkStore} throws
 */
export async function checkHome(home: Home, onProgress?: (blocks: number) => void): Promise<HomeReport | undefined> {
  if (!existsSync(join(home.chain, DATA_FILE))) return undefined
  const { network, snapshot, validate = 'execute' } = readConfig(home)
  await initCrypto()
  assertStoreSound(home)
  const nodes = new NodeCache()
  const environment = new LmdbEnvironment({ path: home.chain, nodes, checksReads: false, readsOnly: true })
  try {
    const own = environment.blocks
    const below = snapshot === undefined ? [] : [openArchiveReader(snapshot, { home: home.snapshots, nodes })]
    const blocks = new LayeredBlockstore([own, ...below, bundledBlocks(new ActorBundles(home.actors))], nodes)
    const log = createLogger({ level: 'error', format: 'text' })
    const entries = damagedEntries(environment)
    if (entries.length > 0) {
      // What the chain and its messages are cannot be told from these.
      const seen = { ...checkBlocks(own, onProgress ?? (() => undefined)), chain: undefined, messages: 0 }
      return { ...seen, faults: [...entries, ...faultsOf(seen, false)] }
    }
    const report = checkStore({ own, blocks, meta: environment.meta, log, isCode: codeOf(home, network) }, onProgress)
    return { ...report, faults: faultsOf(report, validate === 'execute' && snapshot === undefined) }
  } finally {
    await environment.close()
  }
}

/** A key that is found by walking and not by asking stands in the wrong place: it was another. */
function isDamaged(meta: KeyValueStore, key: Uint8Array): boolean {
  return unlessDamaged(() => meta.get(key)) === undefined
}

/** @returns undefined where the store says that it is damaged */
function unlessDamaged<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof PlatformError) || error.code !== 'STORE_DAMAGED') throw error
    return undefined
  }
}

const LOOKS = 5

/** Entries of the store that are not what was written, each as a line. */
function damagedEntries(environment: LmdbEnvironment): string[] {
  const { meta } = environment
  const faults: string[] = []
  // A running node writes between the two counts.
  let looks = LOOKS
  while (looks > 0 && !environment.isCountRight()) looks--
  if (looks === 0) faults.push('entries are missing: a page of the store is damaged')
  const keys = unlessDamaged(() => [...meta.keys()])
  if (keys === undefined) return [...faults, 'entries are missing: a page of the store points to one of them twice']
  const damaged = keys.filter((key) => isDamaged(meta, key)).map(toHex)
  if (damaged.length === 0) return faults
  // What a running node has deleted meanwhile is gone.
  const left = new Set([...meta.keys()].map(toHex))
  faults.push(...damaged.filter((key) => left.has(key)).map((key) => `entry ${key} is damaged`))
  return faults
}

/** A local chain's home has its network in a file. */
function codeOf(home: Home, name: string | undefined): (cid: Cid) => boolean {
  const file = join(home.path, 'network.json')
  const from = name ?? (existsSync(file) ? file : undefined)
  if (from === undefined) return () => false
  const codes = codeLookup(findNetwork(from))
  return (cid) => codes(cid) !== undefined
}

/** @param isWhole - nothing of the chain may be missing from its genesis on, and the head has its state */
function faultsOf({ damaged, damagedCount, chain }: StoreReport, isWhole: boolean): string[] {
  const faults = damaged.map((cid) => `block ${cid} is damaged`)
  if (damagedCount > damaged.length) faults.push(`and ${damagedCount - damaged.length} more`)
  if (chain === undefined || !isWhole) return faults
  if (chain.lowest > chain.genesis) faults.push(`the headers below epoch ${chain.lowest} are missing`)
  if (chain.missing !== undefined) faults.push(`the state of the head lacks block ${chain.missing}`)
  return faults
}
