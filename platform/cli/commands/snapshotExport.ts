/**
 * `snapshot export`, `chain export`. The running node is asked; without one the home is read, or the archive that it is told.
 * @see lotus cli/chain.go ChainExportCmd; Forest src/cli/subcommands/snapshot_cmd.rs
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { largeBlock } from '../../../src/archive/archiveWork.ts'
import { CarScanner } from '../../../src/archive/carScanner.ts'
import { refuseWrite } from '../../../src/archive/carStore.ts'
import { unlessThrown } from '../../../src/base/errors.ts'
import { MemoryStore } from '../../../src/base/memoryStore.ts'
import { ChainStore } from '../../../src/chain/chainStore.ts'
import { headKeyOf } from '../../../src/chain/openChain.ts'
import { type Cid, parseCid, readCid } from '../../../src/codec/cid.ts'
import { initCrypto } from '../../../src/crypto/init.ts'
import { type Blockstore, getBlock, LayeredBlockstore } from '../../../src/ipld/blockstore.ts'
import { exportSnapshot } from '../../../src/sync/snapshot/exportSnapshot.ts'
import { readMetadata } from '../../../src/sync/snapshot/metadata.ts'
import {
  createSnapshotWriter,
  type SnapshotWriter,
  type SnapshotWriterOptions,
} from '../../../src/sync/snapshot/snapshotWriter.ts'
import type { Tipset } from '../../../src/types/tipset.ts'
import { ActorBundles } from '../../server/actorBundles.ts'
import { PlatformError } from '../../server/errors.ts'
import { type Home, readTextFile } from '../../server/home.ts'
import { lockHolder } from '../../server/homeLock.ts'
import { LmdbEnvironment } from '../../server/lmdbStore.ts'
import { createLogger } from '../../server/logger.ts'
import { line } from '../../server/programIo.ts'
import { everyFewSeconds, percentText } from '../../server/progressText.ts'
import { openPartial, scratchIn } from '../../server/scratchFiles.ts'
import { nativeZstdEncoder } from '../../server/zstd.ts'
import type { JsonTipset } from '../answers.ts'
import { type CliContext, homeOf, wholeNumber } from '../context.ts'
import { CliError } from '../errors.ts'
import { streamExport } from '../exportStream.ts'
import { findEndpoint } from '../rpcClient.ts'
import { type ExportFlags, selectionOf } from './exportFlags.ts'
import { f3DataOfHome, f3DataOfNode } from './snapshotF3.ts'
import { openWhole } from './snapshotFile.ts'

/** A chain without a node. */
interface OfflineChain {
  readonly store: ChainStore
  readonly blocks: Blockstore
  /** Certificates that were verified, or that the archive carries. */
  f3Data(): SnapshotWriterOptions['f3Data']
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
    const f3Data: OfflineChain['f3Data'] = () => {
      const cid = readMetadata(file.store, file.store.roots)?.f3Data
      return cid === undefined ? undefined : [cid, getBlock(file.store, cid)]
    }
    return { store, blocks: withCode(file.store, home), f3Data, close: () => file.close() }
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
      await file?.close()
      home.release()
    }
    const blocks = file === undefined ? environment.blocks : new LayeredBlockstore([environment.blocks, file.store])
    const store = new ChainStore({ blocks, meta: environment.meta, log })
    if (!store.load()) {
      await close()
      throw new CliError('USAGE', `no node has run on ${home.path} yet; give --from <archive>`)
    }
    return { store, blocks: withCode(blocks, home), f3Data: () => f3DataOfHome(environment.meta), close }
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
  f3Data: SnapshotWriterOptions['f3Data'],
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
          ...(f3Data === undefined ? {} : { f3Data }),
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

/** Exports the home's chain, or that of `--from`; no node runs. */
export async function exportOffline(context: CliContext, path: string, flags: ExportFlags): Promise<void> {
  const { io } = context
  const chain = await openOffline(context, flags.from)
  try {
    const head = offlineTipset(chain.store, flags.tipset)
    const selection = selectionOf(flags, head.height)
    const say = everyFewSeconds(context.io)
    let told = ''
    const f3Data = versionOf(flags) === 2 ? chain.f3Data() : undefined
    const bytes = await writeWhole(context, path, flags, f3Data, async (create, written) => {
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

/** Asks the running node for the chain, and writes what it sends. */
export async function exportFromNode(context: CliContext, path: string, flags: ExportFlags): Promise<void> {
  const { io } = context
  const tipset = await nodeTipset(context, flags.tipset)
  const selection = selectionOf(flags, tipset.Height)
  const endpoint = await findEndpoint(io, context.repo())
  const say = everyFewSeconds(context.io)
  let blocks = 0
  const f3Data = versionOf(flags) === 2 ? await f3DataOfNode(await context.node()) : undefined
  const bytes = await writeWhole(context, path, flags, f3Data, async (create, written) => {
    let writer: SnapshotWriter | undefined
    const scanner = new CarScanner({
      header: (roots) => {
        writer = create(roots)
      },
      section: (data, cidStart, dataStart, end) => {
        blocks++
        writer?.add(readCid(data, cidStart).cid, data.slice(dataStart, end))
      },
      large: (cid, length, offset) => largeBlock(cid, length, offset, (data) => writer?.add(cid, data)),
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

async function nodeTipset(context: CliContext, reference: string | undefined): Promise<JsonTipset> {
  const client = await context.node()
  if (reference === undefined || reference === '@head') return client.call('ChainHead')
  if (reference.startsWith('@'))
    return client.call('ChainGetTipSetByHeight', [wholeNumber(reference.slice(1), 'tipset'), null])
  return client.call('ChainGetTipSet', [reference.split(',').map((text) => ({ '/': text.trim() }))])
}

/** Whether a node runs that the user means. After a kill -9 its `api` stays where it was: who holds the home says. */
export function hasNode(context: CliContext): boolean {
  const info = context.io.env.FULLNODE_API_INFO
  const home = homeOf(context)
  if (info !== undefined && info !== '') return true
  // A damaged lock does not say that nobody has it.
  return existsSync(home.api) && (unlessThrown(() => lockHolder(home.lock) !== undefined, PlatformError) ?? true)
}
