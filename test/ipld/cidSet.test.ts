import { describe, expect, it } from 'vitest'
import { type Cid, CODEC_DAG_CBOR, CODEC_RAW, createCid, HASH_BLAKE2B_256, HASH_SHA2_256 } from '../../src/codec/cid.ts'
import { CidSet } from '../../src/ipld/cidSet.ts'
import { seeded } from '../support/seeded.ts'

describe('set of CIDs', () => {
  it('holds what was added, as a plain set does, at 40 bytes a CID or fewer', () => {
    const random = seeded('CID set')
    const set = new CidSet()
    const plain = new Set<string>()
    const cids = Array.from({ length: 10_000 }, () => createCid(CODEC_DAG_CBOR, HASH_BLAKE2B_256, random.bytes(32)))
    // Some of them twice or more often, some never.
    for (let i = 0; i < 12_000; i++) {
      const cid = cids[random.int(cids.length)] as Cid
      expect(set.has(cid)).toBe(plain.has(cid.key))
      expect(set.add(cid)).toBe(!plain.has(cid.key))
      plain.add(cid.key)
    }
    expect(set.size).toBe(plain.size)
    expect(set.bytes / set.size).toBeLessThan(40)
    set.clear()
    expect(set.size).toBe(0)
  })

  it('tells codecs and hash functions of one digest apart, and takes digests of any length', () => {
    const set = new CidSet()
    const digest = new Uint8Array(32)
    const cids = [
      createCid(CODEC_DAG_CBOR, HASH_BLAKE2B_256, digest),
      createCid(CODEC_RAW, HASH_BLAKE2B_256, digest),
      createCid(CODEC_RAW, HASH_SHA2_256, digest),
      createCid(CODEC_RAW, HASH_SHA2_256, Uint8Array.of(1)),
      createCid(CODEC_RAW, HASH_SHA2_256, new Uint8Array(0)),
    ]
    for (const cid of cids) expect(set.add(cid)).toBe(true)
    for (const cid of cids) expect(set.add(cid)).toBe(false)
  })
})
