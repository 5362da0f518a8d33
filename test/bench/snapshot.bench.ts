/**
 * Opening, indexing and writing of snapshots: a recorded chain with as much filling as is asked for.
 *
 *     node test/bench/snapshot.bench.ts [megabytes]
 *
 * Every block of a file without an index is hashed while the index is made: the rate is compared with that of hashing the
 * same blocks and doing nothing else, in the same run on the same machine.
 */
import { randomFillSync } from 'node:crypto'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { type ArchiveFile, openArchiveFile } from '../../platform/server/archiveFile.ts'
import { openFileSource } from '../../platform/server/fileSource.ts'
import { nativeZstdEncoder } from '../../platform/server/zstd.ts'
import { carBlocks, carHeaderBytes, carSectionHead, carSections, readCarHeader } from '../../src/archive/car.ts'
import { concatBytes } from '../../src/base/bytes.ts'
import { memorySource, readAhead, readExactly } from '../../src/codec/byteSource.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { blake2b256 } from '../../src/crypto/blake2b.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { getCbor } from '../../src/ipld/blockstore.ts'
import { createSnapshotWriter, type SnapshotFormat } from '../../src/sync/snapshot/snapshotWriter.ts'
import { walkSnapshot } from '../../src/sync/snapshot/walkSnapshot.ts'
import { blockHeader } from '../../src/types/blockHeader.ts'
import { createTipset } from '../../src/types/tipset.ts'
import { readShared } from '../support/shared.ts'

const MEGA = 1e6
/** About the mean of a mainnet snapshot's blocks. */
const BLOCK_BYTES = 300
const LOOKUPS = 20_000
const megabytes = Number(process.argv[2] ?? '200')

function report(what: string, value: number, unit: string): void {
  console.log(`${what.padEnd(56)} ${value.toFixed(value < 10 ? 2 : 0).padStart(10)} ${unit}`)
}

const seconds = (from: number): number => (performance.now() - from) / 1000
const cpuSeconds = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / MEGA
}

await initCrypto()
const folder = mkdtempSync(join(tmpdir(), 'petrel-bench-'))
const plain = join(folder, 'plain.car')
const packed = join(folder, 'packed.car.zst')
try {
  const chain = new Uint8Array(zstdDecompressSync(readShared('data/golden/nv28/chain.car.zst')))
  const { roots } = readCarHeader(memorySource(chain))
  const recorded = new Map([...carBlocks(memorySource(chain))].map(([cid, data]) => [cid.key, data]))
  const golden = { get: (cid: Cid) => recorded.get(cid.key), has: () => true, put: () => undefined }
  const goldenHead = createTipset(roots.map((root) => getCbor(golden, blockHeader, root)))
  const blocks = [...walkSnapshot(golden, goldenHead, { recentStateRoots: 2000, skipOldMessages: true })]
  const file = openSync(plain, 'w')
  const write = (parts: readonly Uint8Array[]): void => void writeSync(file, concatBytes(...parts))
  write([carHeaderBytes(roots)])
  for (const [cid, data] of blocks.slice(0, -1)) write([carSectionHead(cid, data.length), data])
  for (let bytes = 0; bytes < megabytes * MEGA; ) {
    const parts: Uint8Array[] = []
    for (let i = 0; i < 1000; i++) {
      const data = new Uint8Array(BLOCK_BYTES)
      randomFillSync(data)
      data[0] = 0x59
      data[1] = (BLOCK_BYTES - 3) >> 8
      data[2] = (BLOCK_BYTES - 3) & 0xff
      const head = carSectionHead(blockCid(data), data.length)
      parts.push(head, data)
      bytes += head.length + data.length
    }
    write(parts)
  }
  const last = blocks.at(-1)!
  write([carSectionHead(last[0], last[1].length), last[1]])
  closeSync(file)
  const { size } = statSync(plain)
  console.log(`# ${(size / MEGA).toFixed(0)} MB, blocks of ${BLOCK_BYTES} bytes; elapsed time / processor time`)

  const source = openFileSource(plain)
  let from = performance.now()
  let cpu = cpuSeconds()
  const ahead = readAhead(source)
  for (const section of carSections({ ...readCarHeader(source), source: ahead })) {
    blake2b256(readExactly(ahead, section.dataOffset, section.dataLength))
  }
  const hashing = { elapsed: seconds(from), cpu: cpuSeconds() - cpu }
  report('BLAKE2b of every block, nothing else', size / MEGA / hashing.elapsed, 'MB/s')
  report('', size / MEGA / hashing.cpu, 'MB/cpu-s')

  /** Opens, reads the head, waits until all can be read. */
  const open = async (name: string, path: string): Promise<ArchiveFile> => {
    const begin = performance.now()
    const beginCpu = cpuSeconds()
    const opened = await openArchiveFile(path, { home: folder, smallBytes: 0 })
    getCbor(opened.store, blockHeader, opened.store.roots[0]!)
    report(`${name}: to the first answer`, seconds(begin) * 1000, 'ms')
    if (!opened.isReady) {
      await opened.ready
      report(`${name}: whole file`, size / MEGA / seconds(begin), 'MB/s')
      report('', size / MEGA / (cpuSeconds() - beginCpu), 'MB/cpu-s')
    }
    return opened
  }
  const lookUp = (name: string, { store }: ArchiveFile): void => {
    const begin = performance.now()
    for (let i = 0; i < LOOKUPS; i++) store.get(blocks[(i * 7919) % blocks.length]![0])
    report(`${name}: lookups`, LOOKUPS / seconds(begin), 'blocks/s')
  }
  await (await open('plain CAR, no index yet', plain)).close()
  const indexed = await open('plain CAR, indexed', plain)
  lookUp('plain CAR, indexed', indexed)
  report('memory', process.memoryUsage.rss() / MEGA, 'MB')

  const archive = indexed.store
  const head = createTipset(archive.roots.map((root) => getCbor(archive, blockHeader, root)))
  for (const format of ['car', 'zstd', 'forest'] as const satisfies readonly SnapshotFormat[]) {
    from = performance.now()
    cpu = cpuSeconds()
    let bytes = 0
    let count = 0
    const writer = createSnapshotWriter(
      { write: () => undefined },
      {
        head: head.key,
        format,
        version: 1,
        compress: nativeZstdEncoder,
        openScratch: () => {
          throw new Error('small')
        },
      },
    )
    for (const [cid, data] of walkSnapshot(archive, head, { recentStateRoots: 2000, skipOldMessages: true })) {
      writer.add(cid, data)
      bytes += data.length
      count++
    }
    writer.finish()
    report(`export of ${count} blocks, ${format}`, bytes / MEGA / seconds(from), 'MB/s')
  }
  await indexed.close()

  const out = openSync(packed, 'w')
  const all = openFileSource(plain)
  writeSync(out, zstdCompressSync(all.read(0, Math.min(all.size, 1e9))))
  closeSync(out)
  all.close()
  await (await open('.car.zst of one frame', packed)).close()
  const again = await open('.car.zst, compressed again', packed)
  lookUp('.car.zst, compressed again', again)
  await again.close()
  source.close()
  console.log(`kept beside it: ${readFileSync(`${plain}.petrel-index`).length} bytes of index`)
} finally {
  rmSync(folder, { recursive: true })
}
