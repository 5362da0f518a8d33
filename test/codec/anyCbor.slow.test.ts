/** @ipld/dag-cbor beside our own codec, as a second opinion on every block of every recorded chain. */
import { describe, expect, it } from 'vitest'
import { carBlocks } from '../../src/archive/car.ts'
import { equalBytes, toHex } from '../../src/base/bytes.ts'
import { asLink, readAny, writeAny } from '../../src/codec/anyCbor.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import { CborReader } from '../../src/codec/cborReader.ts'
import { CODEC_DAG_CBOR } from '../../src/codec/cid.ts'
import { scanLinks } from '../../src/ipld/links.ts'
import { goldenChains } from '../support/archives.ts'
import { readSharedUnpacked } from '../support/shared.ts'

/** The block that genesis names as its parent: its map is not in canonical order, and every network has it. */
const UNSORTED = 'bafyreiaqpwbbyjo4a42saasj36kkrpv4tsherf2e7bvezkert2a7dhonoi'

/** What our reader makes of any CBOR: the same shapes as @ipld/dag-cbor, links and bytes as text. */
function ours(reader: CborReader): unknown {
  const major = reader.peekMajor()
  if (major === 0) return String(reader.readUint())
  if (major === 1) return String(reader.readInt())
  if (major === 2) return `bytes ${toHex(reader.readBytes())}`
  if (major === 3) return `text ${reader.readText()}`
  if (major === 4) return Array.from({ length: reader.readArray() }, () => ours(reader))
  if (major === 5) {
    return Array.from({ length: reader.readMap() }, () => [`text ${reader.readText()}`, ours(reader)])
  }
  if (major === 6) return `link ${reader.readCid()}`
  return reader.peekNull() ? (reader.readNull() ?? null) : reader.readBool()
}

function theirs(value: unknown): unknown {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  if (typeof value === 'string') return `text ${value}`
  if (value instanceof Uint8Array) return `bytes ${toHex(value)}`
  if (value === null || typeof value === 'boolean') return value
  const link = asLink(value)
  if (link !== undefined) return `link ${link}`
  if (Array.isArray(value)) return value.map(theirs)
  return Object.entries(value as object).map(([key, one]) => [`text ${key}`, theirs(one)])
}

function linksOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(linksOf)
  return typeof value === 'string' && value.startsWith('link ') ? [value.slice('link '.length)] : []
}

describe.skipIf(goldenChains().length === 0)('a second opinion on CBOR', () => {
  it.each(goldenChains())('agrees on every block of %s', (chain) => {
    let blocks = 0
    for (const [cid, data] of carBlocks(memorySource(readSharedUnpacked(`data/golden/${chain}/chain.car.zst`)))) {
      if (cid.codec !== CODEC_DAG_CBOR) continue
      const reader = new CborReader(data)
      const own = ours(reader)
      reader.end()
      const value = readAny(data)
      // A cheap comparison first: expect() of tens of thousands of blocks would take minutes.
      if (JSON.stringify(own) !== JSON.stringify(theirs(value))) expect(own, cid.toString()).toEqual(theirs(value))
      if (!equalBytes(writeAny(value), data) && cid.toString() !== UNSORTED)
        expect(toHex(writeAny(value)), cid.toString()).toBe(toHex(data))
      const links = scanLinks(data).map(String)
      if (links.join() !== linksOf(own).join()) expect(links, cid.toString()).toEqual(linksOf(own))
      blocks++
    }
    expect(blocks).toBeGreaterThan(100)
  })
})
