import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type FileSource, openFileSource } from '../../../platform/server/fileSource.ts'

const folder = mkdtempSync(join(tmpdir(), 'petrel-source-'))
const path = join(folder, 'file')
const BYTES = 4 * 1024 * 1024
const SMALL = 128
writeFileSync(path, new Uint8Array(BYTES))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What reads at these places take of the file, bytes: each array once. */
function taken(source: FileSource, offsets: Iterable<number>): number {
  const arrays = new Set<ArrayBufferLike>()
  for (const offset of offsets) arrays.add(source.read(offset, SMALL).buffer)
  return [...arrays].reduce((sum, { byteLength }) => sum + byteLength, 0)
}

describe('what reads of a file take', () => {
  it('a few reads that go on, as a lookup in an index makes, take little', () => {
    const source = openFileSource(path)
    const lookup = (at: number): number[] => [at, at + SMALL, at, at + SMALL, at + 2 * SMALL]
    const places = Array.from({ length: 100 }, (_, i) => ((i * 7919) % 97) * 40_000)
    expect(taken(source, places.flatMap(lookup))).toBeLessThan(100 * 3 * 4096)
    source.close()
  })

  it('a long walk takes the file once, in large blocks', () => {
    const source = openFileSource(path)
    const arrays = new Set<ArrayBufferLike>()
    for (let at = 0; at < BYTES; at += SMALL) arrays.add(source.read(at, SMALL).buffer)
    const sizes = [...arrays].map(({ byteLength }) => byteLength)
    expect(sizes.reduce((a, b) => a + b)).toBe(BYTES)
    expect(sizes.length).toBeLessThan(25)
    source.close()
  })
})
