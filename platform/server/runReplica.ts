/** What `replica` runs in Node and Deno: answers from an index, and from blocks that others have. What it keeps is a cache of them. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { openRemoteArchive } from '../../src/archive/remoteArchive.ts'
import { errorMessage, PetrelError } from '../../src/base/errors.ts'
import { BlockBound } from '../../src/ipld/blockBound.ts'
import type { BlockSource } from '../../src/ipld/blockFetcher.ts'
import { BUILTIN_NETWORKS } from '../../src/networks/builtinNetworks.ts'
import type { NodePorts } from '../../src/node/nodePorts.ts'
import { openReplica } from '../../src/node/openReplica.ts'
import { looksLikeHeader } from '../../src/sync/gc/headerBlock.ts'
import { openArchiveFile } from './archiveFile.ts'
import { cacheSizes } from './cacheSize.ts'
import { fetchReason, PlatformError } from './errors.ts'
import { Home } from './home.ts'
import { REPLICA, readConfig, saveConfig } from './homeConfig.ts'
import { endpointUrl } from './lightFiles.ts'
import { findNetwork, genesisImporter, NETWORK_FILE } from './networkFiles.ts'
import {
  type DiskStores,
  type HostRuntime,
  inHome,
  loadCrypto,
  nodeRun,
  openDiskStores,
  processShim,
  serve,
} from './nodeRunner.ts'
import type { NetOptions, ReplicaOptions } from './options.ts'
import type { ProgramIo } from './programIo.ts'
import { S3_SCHEME, s3Keys, s3Url, signedFetch } from './s3.ts'
import { nativeZstd } from './zstd.ts'

const MEBI = 1024 * 1024

/** Who has the blocks. */
interface BlockPlaces {
  readonly endpoints: readonly string[]
  readonly archive: string | undefined
  /** Archives behind HTTP, in buckets (`s3://`) too. */
  readonly remote: readonly string[]
  readonly net: NetOptions | undefined
}

/** @throws PlatformError `CONFIG_INVALID` */
function placesOf(blocks: readonly string[]): BlockPlaces {
  const endpoints: string[] = []
  const archives: string[] = []
  const remote: string[] = []
  const peers: string[] = []
  for (const place of blocks) {
    if (place.startsWith(S3_SCHEME)) remote.push(place)
    else if (/^https?:\/\/[^?]*\.(car|zst)($|\?)/.test(place)) remote.push(place)
    else if (/^https?:\/\//.test(place)) endpoints.push(endpointUrl(place))
    else if (place.startsWith('/') && place.includes('/p2p/')) peers.push(place)
    else archives.push(resolve(place))
  }
  const [archive, another] = archives
  if (another !== undefined) throw new PlatformError('CONFIG_INVALID', 'not supported: --blocks with two archives')
  if (archive !== undefined && !existsSync(archive)) {
    throw new PlatformError('CONFIG_INVALID', `Cannot find the archive ${archive}`)
  }
  const net = { listen: ['/ip4/127.0.0.1/tcp/0'], announce: [], hide: [], bootstrap: peers, upnp: false }
  return { endpoints, archive, remote, net: peers.length === 0 ? undefined : net }
}

/**
 * A cache deletes blocks, and a chain cannot get all of its own again.
 * @throws PlatformError `CONFIG_INVALID`
 */
function assertCache(home: Home): void {
  const ofChains = [home.config, join(home.path, NETWORK_FILE)]
  if (readConfig(home).kind === REPLICA || !ofChains.some((file) => existsSync(file))) return
  const text = `Cannot run a replica on ${home.path}: it holds a chain, and a cache deletes blocks; give another --repo`
  throw new PlatformError('CONFIG_INVALID', text)
}

/** A server that does not answer is named with its reason. */
function refused(cause: unknown): never {
  if (cause instanceof PetrelError) throw cause
  throw new PlatformError('CONFIG_INVALID', `Cannot read the archive: ${fetchReason(cause)}`, {}, { cause })
}

/**
 * Whatever it fetches is deleted again when there is too much, but for headers: walks over the chain step on each of them.
 * @returns what ends that
 */
function boundedCache(
  { own, ownBytes }: DiskStores,
  maxBytes: number,
  { timers, log }: NodePorts,
): () => Promise<void> {
  const bound = new BlockBound(
    { blocks: own, bytes: ownBytes },
    { maxBytes, stays: (cid) => looksLikeHeader(own, cid) },
    timers,
  )
  bound.start((error) => log.warn('old blocks are not deleted', { reason: errorMessage(error) }))
  return () => bound.stop()
}

/** Runs `replica` until the signal comes. */
export async function runReplica(options: ReplicaOptions, io: ProgramIo, runtime: HostRuntime): Promise<void> {
  // What cannot work is refused before anything is written.
  const { endpoints, archive: path, remote, net } = placesOf(options.blocks)
  const network = findNetwork(options.network)
  const named = BUILTIN_NETWORKS.includes(options.network) ? options.network : resolve(options.network)
  const importGenesis = genesisImporter(options.network, options.genesis)
  assertCache(new Home(options.repo))
  await loadCrypto(runtime.ports)
  const archives = new Map<string, BlockSource>()
  for (const place of remote) {
    const isS3 = place.startsWith(S3_SCHEME)
    const [url, get] = isS3 ? [s3Url(place, io.env), signedFetch(s3Keys(io.env))] : [place, fetch]
    archives.set(place, await openRemoteArchive(url, get, nativeZstd, io.signal).catch(refused))
  }
  await inHome(options, runtime, io, async (home, closers) => {
    const archive =
      path === undefined ? undefined : await openArchiveFile(path, { home: home.snapshots, signal: io.signal })
    if (archive !== undefined) {
      closers.add(() => archive.close())
      await archive.ready
    }
    const stores = openDiskStores(home, archive?.store, cacheSizes(options.cacheMib), runtime.ports.log)
    closers.add(() => stores.close())
    const run = nodeRun({ options: { ...options, net }, io, runtime, home }, false)
    await serve(run, async (shutdown) => {
      const shim = await processShim(run, stores, { chain: home.chain, archive: path, proofs: undefined }, shutdown)
      const { PostgresReader } = await import('./index/postgresReader.ts')
      const reader = new PostgresReader(options.indexUrl, runtime.ports.timers)
      const { writer } = options
      const chain = { network, reader, importGenesis, endpoints, archives, writer, signal: io.signal }
      const open = await openReplica(chain, shim)
      // Not before what is here is known to be of the index's chain. From now on no other node takes it for a chain.
      saveConfig(home, { network: named, kind: REPLICA })
      closers.add(boundedCache(stores, options.diskCacheMib * MEBI, runtime.ports))
      return open
    })
  })
}
