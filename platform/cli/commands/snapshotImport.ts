/** `snapshot import` and `fetch`: a snapshot becomes the chain of the home. */
import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { ArchiveStore } from '../../../src/archive/carStore.ts'
import { ChainStore } from '../../../src/chain/chainStore.ts'
import { headKeyOf } from '../../../src/chain/openChain.ts'
import type { Cid } from '../../../src/codec/cid.ts'
import { LayeredBlockstore } from '../../../src/ipld/blockstore.ts'
import { BUILTIN_NETWORKS } from '../../../src/networks/builtinNetworks.ts'
import type { Network } from '../../../src/networks/network.ts'
import { assertUsable } from '../../../src/sync/snapshot/inspectSnapshot.ts'
import { fetchFile } from '../../server/fetchFile.ts'
import { type Home, readTextFile, writeFile } from '../../server/home.ts'
import { DATA_FILE } from '../../server/lmdbFile.ts'
import { LmdbEnvironment } from '../../server/lmdbStore.ts'
import { createLogger } from '../../server/logger.ts'
import { findNetwork } from '../../server/networkFiles.ts'
import { line } from '../../server/programIo.ts'
import { everyFewSeconds, percentText } from '../../server/progressText.ts'
import { verifyForest } from '../../server/verifyArchive.ts'
import { type CliContext, homeOf, wholeNumber } from '../context.ts'
import { CliError } from '../errors.ts'
import { formOf, inspect, networkNameOf, openWhole, printInfo } from './snapshotFile.ts'

/** The options of `snapshot fetch`, as they were typed. */
export interface FetchFlags {
  readonly out?: string
  readonly sha256?: string
  readonly size?: string
}

function nameOf(url: string): string {
  return basename(new URL(url).pathname) || 'snapshot.car'
}

/**
 * Fetches a file, going on with one that was broken off.
 * @returns its path
 * @throws CliError `USAGE`
 */
export async function download(context: CliContext, url: string, flags: FetchFlags): Promise<string> {
  const { io } = context
  const { sha256, size, out } = flags
  if (!/^https?:\/\//.test(url)) throw new CliError('USAGE', `"${url}" is no http or https URL`)
  if (sha256 !== undefined && !/^[0-9a-fA-F]{64}$/.test(sha256))
    throw new CliError('USAGE', 'sha256: expected 64 hexadecimal digits')
  const path = resolve(out ?? nameOf(url))
  const say = everyFewSeconds(context.io)
  let resumed: number | undefined
  const found = await fetchFile({
    url,
    path,
    signal: io.signal,
    ...(sha256 === undefined ? {} : { sha256 }),
    ...(size === undefined ? {} : { size: wholeNumber(size, 'size') }),
    onProgress: ({ bytes, totalBytes, resumedBytes }) => {
      if (resumed === undefined && resumedBytes > 0) line(io, `going on after ${percentText(resumedBytes, totalBytes)}`)
      resumed = resumedBytes
      say(() => `fetching: ${percentText(bytes, totalBytes)}`)
    },
  })
  line(io, `fetched ${path}: ${found.bytes} bytes, SHA-256 ${found.sha256}`)
  return path
}

/** The options of `snapshot import`, as they were typed. */
export interface ImportFlags extends FetchFlags {
  readonly network?: string
}

/** The network that the home has or that the user names; else the built-in one with this genesis. */
function importNetwork(name: string | undefined, genesis: Cid): { name: string; network: Network } {
  const chosen = name ?? networkNameOf(genesis)
  if (chosen === 'unknown')
    throw new CliError('USAGE', 'this is the chain of no network that is built in: say --network <file>')
  return { name: BUILTIN_NETWORKS.includes(chosen) ? chosen : resolve(chosen), network: findNetwork(chosen) }
}

const ELSEWHERE =
  'An import does not move it: import into another --repo. Keys, messages and tokens go there with petrel backup <file> and ' +
  'petrel --repo <other> restore <file>'

/**
 * A node goes on from the head that it kept, whatever the snapshot's is.
 * @param given - the snapshot, once it can be read; its own may be imported again as long as the chain has gone on from it
 * @throws CliError `USAGE` where the home holds a chain
 */
async function assertNoChain(home: Home, given?: { store: ArchiveStore; isOwn: boolean }): Promise<void> {
  if (!existsSync(join(home.chain, DATA_FILE))) return
  const environment = new LmdbEnvironment({ path: home.chain, readsOnly: true })
  try {
    const blocks = new LayeredBlockstore([environment.blocks, ...(given === undefined ? [] : [given.store])])
    const log = createLogger({ level: 'error', format: 'text' })
    const store = new ChainStore({ blocks, meta: environment.meta, log })
    if (!store.load()) return
    const kept = store.head().height
    const height = given && store.tipset(headKeyOf(blocks, given.store.roots)).height
    if (given?.isOwn === true && height !== undefined && kept >= height) return
    const which = height === undefined ? '' : `, that of the snapshot at epoch ${height}`
    throw new CliError('USAGE', `${home.path} holds a chain whose head is at epoch ${kept}${which}. ${ELSEWHERE}`)
  } finally {
    await environment.close()
  }
}

/**
 * Makes a snapshot, of a file or a URL, the chain of the home.
 * @throws CliError `USAGE` where the home holds one
 */
export async function importSnapshot(context: CliContext, source: string, flags: ImportFlags): Promise<void> {
  const { io } = context
  const home = homeOf(context)
  home.acquire()
  try {
    const before = JSON.parse(readTextFile(home.config) ?? '{}') as { network?: string; snapshot?: string }
    const isUrl = /^https?:\/\//.test(source)
    const path = resolve(isUrl ? (flags.out ?? join(home.snapshots, nameOf(source))) : source)
    if (before.snapshot !== undefined && before.snapshot !== path)
      throw new CliError('USAGE', `${home.path} holds the chain of ${before.snapshot}. ${ELSEWHERE}`)
    if (isUrl) {
      // Nothing is downloaded for a refusal. Where there was a snapshot before, its blocks are needed to tell.
      if (before.snapshot === undefined) await assertNoChain(home)
      await download(context, source, { ...flags, out: path })
    }
    const file = await openWhole(context, path, home)
    try {
      await assertNoChain(home, { store: file.store, isOwn: before.snapshot === path })
      if (formOf(path) === 'forest.car.zst') {
        const say = everyFewSeconds(context.io)
        await verifyForest(path, {
          home: home.snapshots,
          signal: io.signal,
          onProgress: ({ bytes, totalBytes }) => say(() => `checking: ${percentText(bytes, totalBytes)}`),
        })
      }
      const found = await inspect(context, file)
      const { name, network } = importNetwork(flags.network ?? before.network, found.genesisCid)
      assertUsable(file.store, found, network)
      writeFile(home.config, `${JSON.stringify({ ...before, network: name, snapshot: path }, undefined, 2)}\n`)
      printInfo(context, path, found)
      line(io, `imported into ${home.path}: start with petrel daemon`)
    } finally {
      await file.close()
    }
  } finally {
    home.release()
  }
}
