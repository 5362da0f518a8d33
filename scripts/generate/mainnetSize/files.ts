/** A generated state as files that a node opens: a snapshot in each form, and the network. */

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openFileSource } from '../../../platform/server/fileSource.ts'
import { writeFile } from '../../../platform/server/home.ts'
import { openPartial, scratchIn } from '../../../platform/server/scratchFiles.ts'
import { nativeZstdEncoder } from '../../../platform/server/zstd.ts'
import { type CarSection, carSections, readCarHeader } from '../../../src/archive/car.ts'
import { type ByteSource, readAhead, readExactly } from '../../../src/codec/byteSource.ts'
import type { Cid } from '../../../src/codec/cid.ts'
import { stringifyJson } from '../../../src/codec/jsonText.ts'
import { getBlock } from '../../../src/ipld/blockstore.ts'
import type { CollectableBlocks } from '../../../src/ipld/collectable.ts'
import { networkJson } from '../../../src/networks/networkJson.ts'
import { createSnapshotWriter, type SnapshotFormat } from '../../../src/sync/snapshot/snapshotWriter.ts'
import type { Tipset } from '../../../src/types/tipset.ts'
import type { GeneratedState } from './generateState.ts'
import { generatedNetwork } from './network.ts'

/** Forms of a snapshot and the names of their files. */
export const SNAPSHOT_FILES: Readonly<Record<SnapshotFormat, string>> = {
  car: 'state.car',
  zstd: 'state.car.zst',
  forest: 'state.forest.car.zst',
}
/** A chain with the state that it stands on. */
export const CHAIN_FILE = 'chain.forest.car.zst'
export const NETWORK_FILE = 'network.json'
/** Blocks of the store that are looked for at a time. */
const SCANNED = 4096

/** Writes what is not there yet of: `network.json`, one snapshot of each form. */
export function writeFiles(folder: string, state: GeneratedState, say: (text: string) => void): void {
  const network = { ...generatedNetwork(), genesisCid: state.genesis }
  writeFile(join(folder, NETWORK_FILE), `${stringifyJson(networkJson(network))}\n`)
  for (const [format, name] of Object.entries(SNAPSHOT_FILES) as [SnapshotFormat, string][]) {
    const path = join(folder, name)
    if (existsSync(path)) continue
    writeSnapshot(path, format, state)
    say(`${name}: written`)
  }
}

interface Content {
  readonly path: string
  readonly roots: readonly Cid[]
  readonly format: SnapshotFormat
  /** Written first: a reader can ask for them while the rest is indexed. */
  readonly front: Iterable<readonly [Cid, Uint8Array]>
  /** A file with the others. */
  readonly rest: string
  /** Its sections, the front among them or not. */
  readonly sections: (source: ByteSource) => Iterable<CarSection>
}

function write({ path, roots, format, front, rest, sections }: Content): void {
  const source = openFileSource(rest)
  const file = openPartial(path)
  const writer = createSnapshotWriter(file, {
    head: roots,
    format,
    version: 1,
    compress: nativeZstdEncoder,
    openScratch: scratchIn(dirname(path)),
  })
  try {
    for (const [cid, data] of front) writer.add(cid, data)
    const ahead = readAhead(source)
    for (const { cid, dataOffset, dataLength } of sections(ahead)) {
      writer.add(cid, readExactly(ahead, dataOffset, dataLength))
    }
    writer.finish()
    file.finish()
  } finally {
    writer.close()
    file.abandon()
    source.close()
  }
}

function writeSnapshot(path: string, format: SnapshotFormat, { body, genesis, header }: GeneratedState): void {
  function* sections(source: ByteSource): Iterable<CarSection> {
    for (const section of carSections({ roots: [], source, start: 0 })) if (!section.cid.equals(genesis)) yield section
  }
  write({ path, roots: [genesis], format, front: [[genesis, header]], rest: body, sections })
}

/** Writes a chain with all its states, and the state that it stands on. */
export function writeChain(folder: string, head: Tipset, own: CollectableBlocks): void {
  function* blocks(): Iterable<readonly [Cid, Uint8Array]> {
    for (const cid of head.key) yield [cid, getBlock(own, cid)]
    for (let some = own.scan(undefined, SCANNED); some.length > 0; some = own.scan(some.at(-1), SCANNED)) {
      for (const cid of some) if (!head.key.some((block) => block.equals(cid))) yield [cid, getBlock(own, cid)]
    }
  }
  const rest = join(folder, SNAPSHOT_FILES.car)
  const sections = (source: ByteSource): Iterable<CarSection> => carSections(readCarHeader(source))
  write({ path: join(folder, CHAIN_FILE), roots: head.key, format: 'forest', front: blocks(), rest, sections })
}
