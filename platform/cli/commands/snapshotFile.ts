/** Opens a snapshot for a command and tells what it holds. */
import { setImmediate } from 'node:timers/promises'
import { isForestCar } from '../../../src/archive/forestCar.ts'
import { isZstd } from '../../../src/archive/zstdFrames.ts'
import type { Cid } from '../../../src/codec/cid.ts'
import { initCrypto } from '../../../src/crypto/init.ts'
import { BUILTIN_NETWORKS, builtinNetwork } from '../../../src/networks/builtinNetworks.ts'
import { inspectSnapshot, type SnapshotInfo } from '../../../src/sync/snapshot/inspectSnapshot.ts'
import { type ArchiveFile, openArchiveFile } from '../../server/archiveFile.ts'
import { openFileSource } from '../../server/fileSource.ts'
import type { Home } from '../../server/home.ts'
import { line } from '../../server/programIo.ts'
import { everyFewSeconds, percentText } from '../../server/progressText.ts'
import type { CliContext } from '../context.ts'

const MIB = 1 << 20

/** Opens an archive, and waits until all of it can be read. */
export async function openWhole(context: CliContext, path: string, home: Home): Promise<ArchiveFile> {
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
    await file.close()
    throw error
  }
}

/** The built-in network with this genesis; `unknown`: none. */
export function networkNameOf(genesis: Cid): string {
  return BUILTIN_NETWORKS.find((name) => builtinNetwork(name).genesisCid?.equals(genesis)) ?? 'unknown'
}

/** A file's form by its content: `forest.car.zst`, `car.zst` or `car`. */
export function formOf(path: string): string {
  const source = openFileSource(path)
  try {
    if (isForestCar(source)) return 'forest.car.zst'
    return isZstd(source) ? 'car.zst' : 'car'
  } finally {
    source.close()
  }
}

/** What `snapshot info` prints, also after an import. */
export function printInfo(context: CliContext, path: string, info: SnapshotInfo): void {
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

/** Reads an archive's headers down to genesis, telling of it. Ends with the program's signal. */
export async function inspect(context: CliContext, file: ArchiveFile): Promise<SnapshotInfo> {
  const say = everyFewSeconds(context.io)
  return inspectSnapshot(file.store, {
    pause: async (height) => {
      say(() => `reading headers: epoch ${height}`)
      await setImmediate()
      context.io.signal.throwIfAborted()
    },
  })
}
