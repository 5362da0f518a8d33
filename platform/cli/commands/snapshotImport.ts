/** `snapshot import` and `fetch`: a snapshot becomes the chain of the home. */
import { basename, join, resolve } from 'node:path'
import type { Cid } from '../../../src/codec/cid.ts'
import { BUILTIN_NETWORKS } from '../../../src/networks/builtinNetworks.ts'
import type { Network } from '../../../src/networks/network.ts'
import { assertUsable } from '../../../src/sync/snapshot/inspectSnapshot.ts'
import { fetchFile } from '../../server/fetchFile.ts'
import { readTextFile, writeFile } from '../../server/home.ts'
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

/**
 * Makes a snapshot, of a file or a URL, the chain of the home.
 * @throws CliError `USAGE` where the home holds that of another
 */
export async function importSnapshot(context: CliContext, source: string, flags: ImportFlags): Promise<void> {
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
