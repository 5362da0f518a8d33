/**
 * `snapshot export|import|info|fetch`. An export asks the running node; without one it reads the home, or the archive
 * that it is told, directly. The others need no node.
 * @see lotus cli/chain.go ChainExportCmd; Forest src/cli/subcommands/snapshot_cmd.rs
 */
import { basename, join, resolve } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import { verifyPieces } from '../../../src/archive/carIndexBuilder.ts'
import { CarScanner } from '../../../src/archive/carScanner.ts'
import { refuseWrite } from '../../../src/archive/carStore.ts'
import { isForestCar } from '../../../src/archive/forestCar.ts'
import { isZstd } from '../../../src/archive/zstdFrames.ts'
import { MemoryStore } from '../../../src/base/memoryStore.ts'
import { ChainStore } from '../../../src/chain/chainStore.ts'
import { headKeyOf } from '../../../src/chain/openChain.ts'
import { type Cid, parseCid, readCid } from '../../../src/codec/cid.ts'
import { initCrypto } from '../../../src/crypto/init.ts'
import { type Blockstore, LayeredBlockstore } from '../../../src/ipld/blockstore.ts'
import { BUILTIN_NETWORKS, builtinNetwork } from '../../../src/networks/builtinNetworks.ts'
import type { Network } from '../../../src/networks/network.ts'
import { exportSnapshot } from '../../../src/sync/snapshot/exportSnapshot.ts'
import { assertUsable, inspectSnapshot, type SnapshotInfo } from '../../../src/sync/snapshot/inspectSnapshot.ts'
import {
  createSnapshotWriter,
  type SnapshotFormat,
  type SnapshotWriter,
  type SnapshotWriterOptions,
} from '../../../src/sync/snapshot/snapshotWriter.ts'
import { MINIMAL_STATE_ROOTS, type SnapshotSelection } from '../../../src/sync/snapshot/walkSnapshot.ts'
import type { Tipset } from '../../../src/types/tipset.ts'
import { ActorBundles } from '../../server/actorBundles.ts'
import { type ArchiveFile, openArchiveFile } from '../../server/archiveFile.ts'
import { fetchFile } from '../../server/fetchFile.ts'
import { openFileSource } from '../../server/fileSource.ts'
import { Home, readTextFile, writeFile } from '../../server/home.ts'
import { LmdbEnvironment } from '../../server/lmdbStore.ts'
import { createLogger } from '../../server/logger.ts'
import { findNetwork } from '../../server/networkFiles.ts'
import { line } from '../../server/programIo.ts'
import { everyFewSeconds, percentText } from '../../server/progressText.ts'
import { openPartial, scratchIn } from '../../server/scratchFiles.ts'
import { verifyForest } from '../../server/verifyArchive.ts'
import { nativeZstdEncoder } from '../../server/zstd.ts'
import type { JsonTipset } from '../answers.ts'
import { type CliContext, wholeNumber } from '../context.ts'
import { CliError } from '../errors.ts'
import { streamExport } from '../exportStream.ts'
import { findEndpoint, repoPath } from '../rpcClient.ts'
import { addSnapshotList, downloadNewest, type ProviderFlags } from './snapshotLists.ts'

/** Lotus' own bound: a snapshot with less cannot be validated. */
const MIN_STATE_ROOTS = 900
const MIB = 1 << 20

interface ExportFlags {
  readonly tipset?: string
  readonly minimal?: boolean
  readonly full?: boolean
  readonly recentStateroots?: string
  readonly skipOldMsgs?: boolean
  readonly format: SnapshotFormat
  readonly snapshotVersion: string
  readonly from?: string
}

/** What the flags select of a chain of this height. */
export function selectionOf(flags: ExportFlags, height: number): SnapshotSelection {
  const chosen = [flags.minimal, flags.full, flags.recentStateroots].filter((one) => one !== undefined && one !== false)
  if (chosen.length > 1) throw new CliError('USAGE', 'give one of --minimal, --full and --recent-stateroots')
  if (flags.full === true) return { recentStateRoots: height + 1, skipOldMessages: false }
  if (flags.recentStateroots === undefined) return { recentStateRoots: MINIMAL_STATE_ROOTS, skipOldMessages: true }
  const recentStateRoots = wholeNumber(flags.recentStateroots, 'recent-stateroots')
  if (recentStateRoots < MIN_STATE_ROOTS && recentStateRoots !== 0)
    throw new CliError('USAGE', `"recent-stateroots" has to be greater than ${MIN_STATE_ROOTS}`)
  return { recentStateRoots, skipOldMessages: flags.skipOldMsgs === true }
}

function homeOf(context: CliContext): Home {
  return new Home(resolve(repoPath(context.io, context.repo())))
}

/** Opens an archive, and waits until all of it can be read. */
async function openWhole(context: CliContext, path: string, home: Home): Promise<ArchiveFile> {
  await initCrypto()
  const say = everyFewSeconds(context.io)
  const file = await openArchiveFile(path, {
    home: home.snapshots,
    signal: context.io.signal,
    onProgress: ({ phase, bytes, totalBytes, seconds }) =>
      say(
        () =>
          `${phase}: ${percentText(bytes, totalBytes)}, ${(bytes / MIB / Math.max(seconds, 0.001)).toFixed(0)} MiB/s`,
      ),
  })
  try {
    await file.ready
    return file
  } catch (error) {
    file.close()
    throw error
  }
}

/** A chain without a node. */
interface OfflineChain {
  readonly store: ChainStore
  readonly blocks: Blockstore
  close(): Promise<void>
}

function withCode(blocks: Blockstore, home: Home): Blockstore {
  const bundles = new ActorBundles(home.actors)
  const code: Blockstore = {
    get: (cid) => bundles.block(cid),
    has: (cid) => bundles.block(cid) !== undefined,
    put: refuseWrite,
  }
  return new LayeredBlockstore([blocks, code])
}

async function openOffline(context: CliContext, from: string | undefined): Promise<OfflineChain> {
  const home = homeOf(context)
  const log = createLogger({ level: 'warn', format: 'text' })
  if (from !== undefined) {
    const file = await openWhole(context, from, home)
    const store = new ChainStore({ blocks: file.store, meta: new MemoryStore(), log })
    store.setHead(store.tipset(headKeyOf(file.store, file.store.roots)))
    return { store, blocks: withCode(file.store, home), close: () => Promise.resolve(file.close()) }
  }
  if (readTextFile(home.config) === undefined && readTextFile(join(home.path, 'network.json')) === undefined)
    throw new CliError('USAGE', `there is no chain in ${home.path}; give --repo, or --from <archive>`)
  home.acquire()
  try {
    const config = JSON.parse(readTextFile(home.config) ?? '{}') as { snapshot?: string }
    const file = config.snapshot === undefined ? undefined : await openWhole(context, config.snapshot, home)
    const environment = new LmdbEnvironment({ path: home.chain })
    const close = async (): Promise<void> => {
      await environment.close()
      file?.close()
      home.release()
    }
    const blocks = file === undefined ? environment.blocks : new LayeredBlockstore([environment.blocks, file.store])
    const store = new ChainStore({ blocks, meta: environment.meta, log })
    if (!store.load()) {
      await close()
      throw new CliError('USAGE', `no node has run on ${home.path} yet; give --from <archive>`)
    }
    return { store, blocks: withCode(blocks, home), close }
  } catch (error) {
    home.release()
    throw error
  }
}

function offlineTipset(store: ChainStore, reference: string | undefined): Tipset {
  if (reference === undefined || reference === '@head') return store.head()
  if (reference.startsWith('@'))
    return store.tipsetByHeight(wholeNumber(reference.slice(1), 'tipset'), undefined, 'previous')
  return store.tipset(reference.split(',').map((text) => parseCid(text.trim())))
}

function versionOf(flags: ExportFlags): 1 | 2 {
  return flags.snapshotVersion === '2' ? 2 : 1
}

/** Writes a file by `write`, whole or not at all. */
async function writeWhole(
  context: CliContext,
  path: string,
  flags: ExportFlags,
  write: (create: (head: readonly Cid[]) => SnapshotWriter, written: () => number) => Promise<void>,
): Promise<number> {
  await initCrypto()
  const file = openPartial(path)
  let writer: SnapshotWriter | undefined
  try {
    await write(
      (head) => {
        const options: SnapshotWriterOptions = {
          head,
          format: flags.format,
          version: versionOf(flags),
          compress: nativeZstdEncoder,
          openScratch: scratchIn(homeOf(context).snapshots),
        }
        writer = createSnapshotWriter(file, options)
        return writer
      },
      () => file.size,
    )
    file.finish()
    return file.size
  } finally {
    writer?.close()
    file.abandon()
  }
}

async function exportOffline(context: CliContext, path: string, flags: ExportFlags): Promise<void> {
  const { io } = context
  const chain = await openOffline(context, flags.from)
  try {
    const head = offlineTipset(chain.store, flags.tipset)
    const selection = selectionOf(flags, head.height)
    const say = everyFewSeconds(context.io)
    let told = ''
    const bytes = await writeWhole(context, path, flags, async (create, written) => {
      const done = await exportSnapshot({
        blocks: chain.blocks,
        head,
        selection,
        writer: create(head.key),
        pause: async ({ height, blocks }) => {
          say(() => `exporting: epoch ${height}, ${blocks} blocks, ${percentText(written(), undefined)}`)
          await setImmediate()
          io.signal.throwIfAborted()
        },
      })
      told = `${done.blocks} blocks`
      if (done.leftOut > 0) told += `; the code of ${done.leftOut} actors is not at hand and was left out`
    })
    line(io, `exported epoch ${head.height} to ${path}: ${percentText(bytes, undefined)}, ${told}`)
  } finally {
    await chain.close()
  }
}

async function exportFromNode(context: CliContext, path: string, flags: ExportFlags): Promise<void> {
  const { io } = context
  const tipset = await nodeTipset(context, flags.tipset)
  const selection = selectionOf(flags, tipset.Height)
  const endpoint = await findEndpoint(io, context.repo())
  const say = everyFewSeconds(context.io)
  let blocks = 0
  const bytes = await writeWhole(context, path, flags, async (create, written) => {
    let writer: SnapshotWriter | undefined
    const scanner = new CarScanner({
      header: (roots) => {
        writer = create(roots)
      },
      section: (data, cidStart, dataStart, end) => {
        blocks++
        writer?.add(readCid(data, cidStart).cid, data.slice(dataStart, end))
      },
      large: (cid, length, offset) => gather(cid, length, offset, (data) => writer?.add(cid, data)),
    })
    await streamExport(
      endpoint,
      { ...selection, tipset: tipset.Cids },
      (chunk) => {
        scanner.push(chunk)
        say(() => `exporting: ${blocks} blocks, ${percentText(written(), undefined)}`)
      },
      io.signal,
    )
    scanner.finish()
    writer?.finish()
  })
  line(io, `exported epoch ${tipset.Height} to ${path}: ${percentText(bytes, undefined)}, ${blocks} blocks`)
}

/** A block above the scanner's bound, put together and checked. */
function gather(
  cid: Cid,
  length: number,
  offset: number,
  done: (data: Uint8Array) => void,
): ReturnType<typeof verifyPieces> {
  const check = verifyPieces(cid, offset)
  const data = new Uint8Array(length)
  let at = 0
  return {
    write: (piece) => {
      check.write(piece)
      data.set(piece, at)
      at += piece.length
    },
    end: () => {
      check.end()
      done(data)
    },
  }
}

async function nodeTipset(context: CliContext, reference: string | undefined): Promise<JsonTipset> {
  const client = await context.node()
  if (reference === undefined || reference === '@head') return client.call<JsonTipset>('ChainHead')
  if (reference.startsWith('@'))
    return client.call<JsonTipset>('ChainGetTipSetByHeight', [wholeNumber(reference.slice(1), 'tipset'), null])
  return client.call<JsonTipset>('ChainGetTipSet', [reference.split(',').map((text) => ({ '/': text.trim() }))])
}

/** Whether a node runs that the user means. */
function hasNode(context: CliContext): boolean {
  const info = context.io.env.FULLNODE_API_INFO
  return (info !== undefined && info !== '') || readTextFile(homeOf(context).api) !== undefined
}

function networkNameOf(genesis: Cid): string {
  return BUILTIN_NETWORKS.find((name) => builtinNetwork(name).genesisCid?.equals(genesis)) ?? 'unknown'
}

function formOf(path: string): string {
  const source = openFileSource(path)
  try {
    if (isForestCar(source)) return 'forest.car.zst'
    return isZstd(source) ? 'car.zst' : 'car'
  } finally {
    source.close()
  }
}

function printInfo(context: CliContext, path: string, info: SnapshotInfo): void {
  const { io } = context
  const { head, genesis, states, messages, f3 } = info
  const time = new Date((head.blocks[0]?.timestamp ?? 0) * 1000).toISOString()
  context.result({
    File: path,
    Format: formOf(path),
    Version: info.version,
    Network: networkNameOf(info.genesisCid),
    Head: { Height: head.height, Time: time, Cids: head.key.map(String) },
    Genesis: info.genesisCid.toString(),
    Headers: info.headers,
    Tipsets: info.tipsets,
    States: { Tipsets: states.tipsets, Lowest: states.tipsets === 0 ? null : Number(states.lowest) },
    Messages: { Tipsets: messages.tipsets, Lowest: messages.tipsets === 0 ? null : Number(messages.lowest) },
    F3: f3 === undefined ? null : { First: Number(f3.firstInstance), Latest: Number(f3.latestInstance) },
  })
  line(io, `File:      ${path}`)
  line(io, `Format:    ${formOf(path)}, snapshot version ${info.version}`)
  line(io, `Network:   ${networkNameOf(info.genesisCid)}`)
  line(io, `Head:      epoch ${head.height}, ${time}`)
  for (const cid of head.key) line(io, `           ${cid.toString()}`)
  line(io, `Genesis:   ${info.genesisCid.toString()}, ${new Date(genesis.timestamp * 1000).toISOString()}`)
  line(io, `Headers:   ${info.headers} in ${info.tipsets} tipsets, down to genesis`)
  const reach = ({ tipsets, lowest }: SnapshotInfo['states']): string =>
    tipsets === 0 ? 'none' : `of ${tipsets} tipsets, down to epoch ${lowest}`
  line(io, `States:    ${reach(states)}`)
  line(io, `Messages:  ${reach(messages)}`)
  line(io, `F3:        ${f3 === undefined ? 'none' : `certificates ${f3.firstInstance} to ${f3.latestInstance}`}`)
}

async function inspect(context: CliContext, file: ArchiveFile): Promise<SnapshotInfo> {
  const say = everyFewSeconds(context.io)
  return inspectSnapshot(file.store, {
    pause: async (height) => {
      say(() => `reading headers: epoch ${height}`)
      await setImmediate()
      context.io.signal.throwIfAborted()
    },
  })
}

async function info(context: CliContext, path: string): Promise<void> {
  const file = await openWhole(context, path, homeOf(context))
  try {
    printInfo(context, path, await inspect(context, file))
  } finally {
    file.close()
  }
}

interface FetchFlags {
  readonly out?: string
  readonly sha256?: string
  readonly size?: string
}

async function download(context: CliContext, url: string, flags: FetchFlags): Promise<string> {
  const { io } = context
  const { sha256, size, out } = flags
  if (!/^https?:\/\//.test(url)) throw new CliError('USAGE', `"${url}" is no http or https URL`)
  if (sha256 !== undefined && !/^[0-9a-fA-F]{64}$/.test(sha256))
    throw new CliError('USAGE', 'sha256: expected 64 hexadecimal digits')
  const name = basename(new URL(url).pathname) || 'snapshot.car'
  const path = resolve(out ?? name)
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

interface ImportFlags extends FetchFlags {
  readonly network?: string
}

/** The network that the home has or that the user names; else the built-in one with this genesis. */
function importNetwork(name: string | undefined, genesis: Cid): { name: string; network: Network } {
  const chosen = name ?? networkNameOf(genesis)
  if (chosen === 'unknown')
    throw new CliError('USAGE', 'this is the chain of no network that is built in: say --network <file>')
  return { name: BUILTIN_NETWORKS.includes(chosen) ? chosen : resolve(chosen), network: findNetwork(chosen) }
}

async function importSnapshot(context: CliContext, source: string, flags: ImportFlags): Promise<void> {
  const { io } = context
  const home = homeOf(context)
  home.acquire()
  try {
    const before = JSON.parse(readTextFile(home.config) ?? '{}') as { network?: string; snapshot?: string }
    const isUrl = /^https?:\/\//.test(source)
    const path = isUrl
      ? await download(context, source, {
          out: join(home.snapshots, basename(new URL(source).pathname) || 'snapshot.car'),
          ...flags,
        })
      : resolve(source)
    if (before.snapshot !== undefined && before.snapshot !== path)
      throw new CliError('USAGE', `${home.path} holds the chain of ${before.snapshot}; give another --repo`)
    const file = await openWhole(context, path, home)
    try {
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
      file.close()
    }
  } finally {
    home.release()
  }
}

/** `chain export`, with Lotus' defaults: without a number of states only those of genesis, and all messages. */
function addChainExport(program: Command, context: CliContext): void {
  program.commands
    .find((one) => one.name() === 'chain')
    ?.command('export')
    .description('Export chain to a car file')
    .argument('<out>', 'file to write')
    .option('--tipset <reference>', 'tipset to start the export from', '@head')
    .option('--recent-stateroots <n>', 'number of recent state roots to include in the export', '0')
    .option('--skip-old-msgs', 'leave messages older than those states out')
    .action(async (path: string, flags: Pick<ExportFlags, 'tipset' | 'recentStateroots' | 'skipOldMsgs'>) => {
      if (flags.skipOldMsgs === true && flags.recentStateroots === '0')
        throw new CliError('USAGE', 'must pass recent stateroots along with skip-old-msgs')
      await exportFromNode(context, resolve(path), { ...flags, format: 'car', snapshotVersion: '1' })
    })
}

/** Adds the commands; after those of `chain`. */
export function addSnapshotCommands(program: Command, context: CliContext): void {
  addChainExport(program, context)
  const snapshot = program.command('snapshot').description('Export, import, inspect and fetch snapshots of the chain')
  snapshot
    .command('export')
    .description('Write a snapshot, from the running node or else from its home')
    .argument('<out>', 'file to write')
    .option('--tipset <reference>', '@head, @<height>, or the CIDs of a tipset with commas', '@head')
    .option('--minimal', `state and messages of the last ${MINIMAL_STATE_ROOTS} epochs, all headers (the default)`)
    .option('--full', 'all state and all messages')
    .option('--recent-stateroots <n>', `state of the last n epochs, at least ${MIN_STATE_ROOTS}`)
    .option('--skip-old-msgs', 'with --recent-stateroots: no older messages either')
    .addOption(new Option('--format <format>', 'form of the file').choices(['car', 'zstd', 'forest']).default('car'))
    .addOption(new Option('--snapshot-version <n>', '2: with a metadata block').choices(['1', '2']).default('1'))
    .option('--from <archive>', 'export from a snapshot file instead')
    .action(async (path: string, flags: ExportFlags) => {
      if (flags.skipOldMsgs === true && flags.recentStateroots === undefined)
        throw new CliError('USAGE', 'must pass recent stateroots along with skip-old-msgs')
      if (flags.from === undefined && hasNode(context)) await exportFromNode(context, resolve(path), flags)
      else await exportOffline(context, resolve(path), flags)
    })
  snapshot
    .command('import')
    .description('Check a snapshot and make it the chain of the home; it stays where it is and is read in place')
    .argument('<source>', 'file, or URL to fetch into the home')
    .option('--network <name>', 'mainnet, calibnet, butterflynet, or a network.json (default: by its genesis)')
    .option('--sha256 <hex>', 'checksum of what is fetched')
    .option('--size <bytes>', 'size of what is fetched')
    .action((source: string, flags: ImportFlags) => importSnapshot(context, source, flags))
  snapshot
    .command('info')
    .description('Tell what a snapshot holds')
    .argument('<file>')
    .action((path: string) => info(context, path))
  snapshot
    .command('fetch')
    .description('Download a snapshot; an interrupted download goes on where it stopped')
    .argument('<source>', 'URL, or a network: the newest snapshot of the known providers')
    .option('--out <file>', 'where to (default: its own name)')
    .option('--provider <url>', "another provider, with lists in the form of Forest's archive")
    .option('--sha256 <hex>', 'expected checksum')
    .option('--size <bytes>', 'expected size')
    .action(async (source: string, flags: FetchFlags & ProviderFlags) => {
      if (BUILTIN_NETWORKS.includes(source)) await downloadNewest(context, source, flags)
      else await download(context, source, flags)
    })
  addSnapshotList(snapshot, context)
}
