/** A generated state as files that a node opens: a snapshot in each form, and the network. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openFileSource } from '../../../platform/server/fileSource.ts'
import { writeFile } from '../../../platform/server/home.ts'
import { openPartial, scratchIn } from '../../../platform/server/scratchFiles.ts'
import { nativeZstdEncoder } from '../../../platform/server/zstd.ts'
import { carSections } from '../../../src/archive/car.ts'
import { readAhead, readExactly } from '../../../src/codec/byteSource.ts'
import { stringifyJson } from '../../../src/codec/jsonText.ts'
import { networkJson } from '../../../src/networks/networkJson.ts'
import { createSnapshotWriter, type SnapshotFormat } from '../../../src/sync/snapshot/snapshotWriter.ts'
import type { GeneratedState } from './generateState.ts'
import { generatedNetwork } from './network.ts'

/** Forms of a snapshot and the names of their files. */
export const SNAPSHOT_FILES: Readonly<Record<SnapshotFormat, string>> = {
  car: 'state.car',
  zstd: 'state.car.zst',
  forest: 'state.forest.car.zst',
}
export const NETWORK_FILE = 'network.json'

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

function writeSnapshot(path: string, format: SnapshotFormat, { body, genesis, header }: GeneratedState): void {
  const source = openFileSource(body)
  const file = openPartial(path)
  const writer = createSnapshotWriter(file, {
    head: [genesis],
    format,
    version: 1,
    compress: nativeZstdEncoder,
    openScratch: scratchIn(join(path, '..')),
  })
  try {
    // First, as in every snapshot: it can be asked for while the rest is indexed.
    writer.add(genesis, header)
    const ahead = readAhead(source)
    for (const { cid, dataOffset, dataLength } of carSections({ roots: [genesis], source: ahead, start: 0 })) {
      if (!cid.equals(genesis)) writer.add(cid, readExactly(ahead, dataOffset, dataLength))
    }
    writer.finish()
    file.finish()
  } finally {
    writer.close()
    file.abandon()
    source.close()
  }
}
