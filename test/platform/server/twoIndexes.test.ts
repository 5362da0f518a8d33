/** Several nodes that open one archive, beside which nothing lies yet: each makes the index, and the last one that is whole stays. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ArchiveFile, type ArchiveProgress, openArchiveFile } from '../../../platform/server/archiveFile.ts'
import { carBytes } from '../../../src/archive/car.ts'
import type { Cid } from '../../../src/codec/cid.ts'
import { blockCid } from '../../../src/crypto/blockCid.ts'
import { initCrypto } from '../../../src/crypto/init.ts'

const BLOCKS = 3000

describe('an archive that several nodes index at once', () => {
  let folder = ''
  let blocks: [Cid, Uint8Array][] = []
  let bytes: Uint8Array
  beforeAll(async () => {
    await initCrypto()
    blocks = Array.from({ length: BLOCKS }, (_, i) => {
      const data = new Uint8Array(400)
      new DataView(data.buffer).setUint32(0, i)
      return [blockCid(data), data]
    })
    bytes = carBytes([(blocks[0] as [Cid, Uint8Array])[0]], blocks)
  })
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'petrel-two-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const open = (path: string, name: string, onProgress?: (progress: ArchiveProgress) => void): Promise<ArchiveFile> =>
    openArchiveFile(path, { home: join(folder, name), smallBytes: 0, ...(onProgress && { onProgress }) })
  function expectWhole({ store }: ArchiveFile): void {
    for (const [cid, data] of blocks) expect(store.get(cid)).toEqual(data)
  }
  const partials = (): string[] => readdirSync(folder).filter((name) => name.includes('.part'))

  for (const [name, pack] of [
    ['a.car', (data: Uint8Array) => data],
    ['a.car.zst', zstdCompressSync],
  ] as const) {
    it(`is read whole by both: ${name}`, async () => {
      const path = join(folder, name)
      writeFileSync(path, pack(bytes))
      let most = 0
      const look = (): void => {
        most = Math.max(most, partials().length)
      }
      const files = await Promise.all([open(path, 'one', look), open(path, 'other', look)])
      await Promise.all(files.map(({ ready }) => ready))
      // Neither writes to what the other writes to.
      expect(most).toBe(2)
      files.forEach(expectWhole)
      for (const file of files) await file.close()
      expect(partials()).toEqual([])
    })
  }

  it('is read through the index of the other where the own one was taken for a left-over', async () => {
    const path = join(folder, 'a.car')
    writeFileSync(path, bytes)
    const index = `${path}.petrel-index`
    const other = await open(path, 'other')
    await other.ready
    await other.close()
    const made = readFileSync(index)
    rmSync(index)
    let taken: string[] = []
    const file = await open(path, 'one', () => {
      if (taken.length > 0) return
      taken = partials()
      for (const name of taken) rmSync(join(folder, name))
      writeFileSync(index, made)
    })
    await file.ready
    expect(taken).toHaveLength(1)
    expectWhole(file)
    await file.close()
  })

  it('is tidied of what a kill has left, but not of what another is writing', async () => {
    const path = join(folder, 'a.car')
    writeFileSync(path, bytes)
    const [old, young] = ['a.car.petrel-index.part-00000001', 'a.car.petrel-index.part-00000002'] as const
    const hourAgo = new Date(Date.now() - 3_600_000)
    const leave = (): void => {
      for (const name of [old, young]) writeFileSync(join(folder, name), 'x')
      utimesSync(join(folder, old), hourAgo, hourAgo)
    }
    for (const name of ['when it is made', 'when it is there']) {
      leave()
      const file = await open(path, name)
      await file.ready
      await file.close()
      expect(partials()).toEqual([young])
    }
  })
})
