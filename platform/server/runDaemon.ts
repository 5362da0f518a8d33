/** What `daemon` runs in Node and Deno: a node on an opened archive, on a chain that it follows, or both. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readCarHeader } from '../../src/archive/car.ts'
import { errorMessage } from '../../src/base/errors.ts'
import { FIRST_NETWORK_VERSION } from '../../src/fvm/rules.ts'
import { chainFrom } from '../../src/index/indexStore.ts'
import { BUILTIN_NETWORKS } from '../../src/networks/builtinNetworks.ts'
import type { Network } from '../../src/networks/network.ts'
import type { ValidateMode } from '../../src/node/modes.ts'
import { openFollower } from '../../src/node/openFollower.ts'
import { type LightChain, openLight } from '../../src/node/openLight.ts'
import { presumedOf } from '../../src/node/proofs.ts'
import { loadApiSecret } from '../../src/rpc/tokens.ts'
import { ActorBundles } from './actorBundles.ts'
import { type ArchiveFile, type ArchiveProgress, openArchiveFile } from './archiveFile.ts'
import { cacheOf, cacheSizes } from './cacheSize.ts'
import { PlatformError } from './errors.ts'
import { type ChosenSnapshot, chooseNewest, fetchChosen } from './fetchSnapshot.ts'
import { openFileSource } from './fileSource.ts'
import { Home } from './home.ts'
import { assertHoldsChain, type HomeConfig, readConfig, saveConfig } from './homeConfig.ts'
import { endpointUrl, readCheckpoint } from './lightFiles.ts'
import { findNetwork, genesisImporter, NETWORK_FILE } from './networkFiles.ts'
import {
  type HostRuntime,
  inHome,
  loadCrypto,
  nodeRun,
  openDiskStores,
  openKeystore,
  processShim,
  serve,
} from './nodeRunner.ts'
import { type DaemonOptions, LATEST_SNAPSHOT, type LightOptions } from './options.ts'
import { line, type ProgramIo } from './programIo.ts'
import { everyFewSeconds, percentText, snapshotLine } from './progressText.ts'
import { ProofFiles } from './proofFiles.ts'
import { SecretFiles } from './secretFiles.ts'
import { SNAPSHOT_PROVIDERS, type SnapshotProvider, snapshotProvider } from './snapshotProviders.ts'
import { holdLittle } from './sparingHeap.ts'

/** What the command line says, else what the home remembers. A home keeps one chain. */
function chosenConfig(home: Home, options: DaemonOptions): HomeConfig & { network: string; validate: ValidateMode } {
  assertHoldsChain(home)
  const { snapshot: kept, ...before } = readConfig(home)
  // Earlier versions wrote down what was given, which may begin where the start did.
  const keptSnapshot = kept === undefined ? undefined : resolve(kept)
  const network = options.network ?? before.network
  if (network === undefined) {
    throw new PlatformError(
      'CONFIG_INVALID',
      `Cannot start: say which network, --network ${BUILTIN_NETWORKS.join('|')}|<file>`,
    )
  }
  const named = BUILTIN_NETWORKS.includes(network) ? network : resolve(network)
  // The chain that is here goes on; what was the latest once is this.
  if (options.snapshot !== undefined && /^https?:\/\//.test(options.snapshot)) {
    const message = `Cannot open ${options.snapshot} in place: petrel snapshot fetch downloads it, --snapshot takes the file`
    throw new PlatformError('CONFIG_INVALID', message)
  }
  const given = options.snapshot === LATEST_SNAPSHOT ? (keptSnapshot ?? LATEST_SNAPSHOT) : options.snapshot
  const snapshot = given === undefined || given === LATEST_SNAPSHOT ? (given ?? keptSnapshot) : resolve(given)
  if (keptSnapshot !== undefined && snapshot !== keptSnapshot) {
    const message = `Cannot open ${snapshot}: ${home.path} holds the chain of ${keptSnapshot}; give another --repo`
    throw new PlatformError('CONFIG_INVALID', message)
  }
  const validate = options.validate ?? before.validate ?? 'execute'
  if (before.validate === 'headers' && validate === 'execute') {
    const message = `Cannot execute on ${home.path}: it holds headers without their states; give another --repo`
    throw new PlatformError('CONFIG_INVALID', message)
  }
  if (before.validate !== undefined && (before.validate === 'light') !== (validate === 'light')) {
    const message = `Cannot change to ${validate} on ${home.path}: it holds the chain of ${before.validate}; give another --repo`
    throw new PlatformError('CONFIG_INVALID', message)
  }
  return { network: named, validate, ...(snapshot === undefined ? {} : { snapshot }) }
}

/**
 * A chain served as another network's has the wrong chain ID and rules. The chain itself is looked at when it is opened; this is before
 * hours of a download. A file that is gone says nothing.
 * @param name - of the network that was asked for
 * @throws PlatformError `CONFIG_INVALID`
 */
function assertKeptNetwork(home: Home, name: string, network: Network): void {
  // A local chain's home has its network beside it.
  const { network: kept = join(home.path, NETWORK_FILE) } = readConfig(home)
  if (kept === name || !(BUILTIN_NETWORKS.includes(kept) || existsSync(kept))) return
  const { genesisCid } = findNetwork(kept)
  if (genesisCid !== null && network.genesisCid?.equals(genesisCid) === true) return
  const message = `Cannot follow ${name} on ${home.path}: it holds the chain of ${kept}; give another --repo, or --network ${kept}`
  throw new PlatformError('CONFIG_INVALID', message)
}

/** Runs `daemon` until the signal comes. */
export async function runDaemon(given: DaemonOptions, io: ProgramIo, runtime: HostRuntime): Promise<void> {
  // What cannot work is refused before anything is written.
  const unwritten = new Home(given.repo)
  const before = chosenConfig(unwritten, given)
  const options = { ...given, cacheMib: cacheOf(given.cacheMib, before.validate === 'execute') }
  if (before.validate !== 'execute') holdLittle()
  const network = findNetwork(before.network)
  assertKeptNetwork(unwritten, before.network, network)
  assertCanStart(network, before)
  assertArchive(before.snapshot)
  assertIndexed(before, options)
  if (options.proofs === 'verify') requireKeys(network, unwritten)
  const lightOptions = lightChain(options.light)
  const importGenesis = genesisImporter(before.network, options.genesis)
  const chosen = before.snapshot === LATEST_SNAPSHOT ? await chooseLatest(network, unwritten, options, io) : undefined
  await inHome(options, runtime, io, async (home, closers) => {
    let config = before
    if (chosen !== undefined) {
      await assertKeystore(home, options, runtime)
      await assertIndexOf(network, options, runtime)
      const snapshot = await fetchLatest(chosen, io)
      // Whatever keeps this start from its end, the next one opens this file, though there be a newer one by then.
      saveConfig(home, { network: before.network, snapshot })
      config = { ...before, snapshot }
    }
    await loadCrypto(runtime.ports)
    const newest = network.manifests.at(-1)
    if (newest !== undefined) new ActorBundles(home.actors).assertSound(newest.manifestCid)
    const archive = config.snapshot === undefined ? undefined : await openArchive(config.snapshot, home, io)
    if (archive !== undefined) closers.add(() => archive.close())
    const stores = openDiskStores(home, archive?.store, cacheSizes(options.cacheMib), runtime.ports.log)
    closers.add(() => stores.close())
    // Of a light node almost nothing is on disk.
    const places =
      config.validate === 'light'
        ? undefined
        : {
            chain: home.chain,
            messages: home.messages,
            archive: config.snapshot,
            actors: home.actors,
            ready: archive?.ready,
          }
    const run = nodeRun({ options, io, runtime, home }, places !== undefined)
    await serve(
      run,
      async (shutdown) => {
        const proofs = options.proofs === 'receipts' ? undefined : home.proofs
        const read = { chain: home.chain, archive: config.snapshot, proofs }
        const shim = await processShim(
          run,
          stores,
          read,
          shutdown,
          config.validate === 'execute' && options.net !== undefined,
        )
        const { signal } = io
        const open =
          config.validate === 'light'
            ? await openLight({ network, importGenesis, ...lightOptions, signal }, shim)
            : await openFollower(
                { network, mode: config.validate, syncPeers: options.syncPeers, importGenesis, archive, signal },
                shim,
              )
        saveConfig(home, config)
        return open
      },
      places,
    )
  })
}

const ZSTD_MAGIC = [0x28, 0xb5, 0x2f, 0xfd]

/** @throws PlatformError `CONFIG_INVALID`: no such file, or one that is no archive */
function assertArchive(path: string | undefined): void {
  if (path === undefined || path === LATEST_SNAPSHOT) return
  if (!existsSync(path)) throw new PlatformError('CONFIG_INVALID', `Cannot find the snapshot ${path}`)
  const file = openFileSource(path)
  try {
    const start = file.read(0, ZSTD_MAGIC.length)
    if (ZSTD_MAGIC.every((byte, i) => start[i] === byte)) return
    readCarHeader(file)
  } catch (cause) {
    const message = `Cannot open ${path}: it is no archive (.car or .car.zst): ${errorMessage(cause)}`
    throw new PlatformError('CONFIG_INVALID', message, { path }, { cause })
  } finally {
    file.close()
  }
}

/** @throws PlatformError `CONFIG_INVALID`: what moved is known to who executes */
function assertIndexed({ validate }: HomeConfig, { index }: DaemonOptions): void {
  if (index === undefined || validate === 'execute') return
  throw new PlatformError('CONFIG_INVALID', `not supported: --index with --validate ${validate}; it needs execute`)
}

/** Whom a light node asks, and where it begins. */
function lightChain({
  sources,
  pushesToSources,
  checkpoint,
}: LightOptions): Pick<LightChain, 'endpoints' | 'checkpoint'> {
  return {
    endpoints: sources.map((text) => ({ url: endpointUrl(text), pushes: pushesToSources })),
    checkpoint: checkpoint === undefined ? undefined : readCheckpoint(checkpoint),
  }
}

/** @throws PlatformError `CONFIG_INVALID` when a key is not there that was asked to be used */
function requireKeys(network: Network, home: Home): void {
  const presumed = presumedOf(network, new ProofFiles(home.proofs))
  if (presumed !== undefined)
    throw new PlatformError('CONFIG_INVALID', `Cannot start with --proofs verify: ${presumed}`)
}

/** @throws PlatformError `CONFIG_INVALID` when this chain cannot be followed from its genesis */
function assertCanStart({ name, genesisNetworkVersion }: Network, { snapshot, validate }: HomeConfig): void {
  if (snapshot !== undefined || validate === 'light' || genesisNetworkVersion >= FIRST_NETWORK_VERSION) return
  const message =
    `Cannot follow ${name} from its genesis: network versions below ${FIRST_NETWORK_VERSION} are not executed here. ` +
    `Start from a snapshot: --snapshot ${LATEST_SNAPSHOT} fetches the newest, --snapshot <file> opens one; or start at a ` +
    'checkpoint: --validate light'
  throw new PlatformError('CONFIG_INVALID', message)
}

/** What a download of hours would be for nothing without. @throws WalletError, a wrong passphrase's among them */
async function assertKeystore(home: Home, { passphrase }: DaemonOptions, { ports }: HostRuntime): Promise<void> {
  await loadApiSecret(await openKeystore(new SecretFiles(home.keystore), passphrase, ports), ports.random)
}

/** The same. @throws IndexError for a database that is not for this chain */
async function assertIndexOf(network: Network, { index }: DaemonOptions, { ports }: HostRuntime): Promise<void> {
  const { genesisCid } = network
  if (index === undefined || genesisCid === null) return
  const { assertIndex } = await import('./index/openIndex.ts')
  await assertIndex(index, chainFrom(network, genesisCid), ports)
}

function providersOf({ snapshotProvider: list }: DaemonOptions): readonly SnapshotProvider[] {
  return list === undefined ? SNAPSHOT_PROVIDERS : [snapshotProvider(list)]
}

function chooseLatest(
  { name }: Network,
  { snapshots }: Home,
  options: DaemonOptions,
  { signal }: ProgramIo,
): Promise<ChosenSnapshot> {
  return chooseNewest({ network: name, folder: snapshots, signal, providers: providersOf(options) })
}

/** @returns the file's path, in the home's folder of snapshots */
function fetchLatest(chosen: ChosenSnapshot, io: ProgramIo): Promise<string> {
  const say = everyFewSeconds(io)
  line(io, `snapshot ${snapshotLine(chosen.snapshot)}`)
  return fetchChosen(chosen, io.signal, ({ bytes, totalBytes }) =>
    say(() => `fetching: ${percentText(bytes, totalBytes)}`),
  )
}

/** Opens a snapshot; where it has no index, one is made while the node already answers from what it can read. */
async function openArchive(path: string, home: Home, io: ProgramIo): Promise<ArchiveFile> {
  const progress = progressLines(io)
  const onFailure = (error: unknown): void => {
    if (!io.signal.aborted) line(io, `ERROR: ${errorMessage(error)}`)
  }
  const { signal } = io
  const file = await openArchiveFile(path, { home: home.snapshots, signal, onProgress: progress, onFailure })
  file.ready.catch(onFailure)
  return file
}

/** A line for every tenth of the way. */
function progressLines(io: ProgramIo): (progress: ArchiveProgress) => void {
  let tenths = 0
  return ({ phase, bytes, totalBytes, seconds }) => {
    const now = Math.floor((10 * bytes) / Math.max(1, totalBytes))
    if (now === tenths) return
    tenths = now
    line(io, `${phase} the snapshot: ${10 * now} % after ${seconds.toFixed(0)} s`)
  }
}
