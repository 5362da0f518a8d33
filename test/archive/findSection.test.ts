/** A block among the sections of a frame: found from wherever the search begins, and what is damaged is not taken for a miss. */
import { beforeAll, expect, it } from 'vitest'
import { findSection, ODD } from '../../src/archive/findSection.ts'
import { concatBytes } from '../../src/base/bytes.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { varintBytes } from '../../src/codec/varint.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { seeded } from '../support/seeded.ts'

beforeAll(async () => {
  await initCrypto()
})

interface Made {
  readonly frame: Uint8Array
  readonly sections: readonly { readonly cid: Cid; readonly at: number; readonly end: number }[]
}

function made(random: ReturnType<typeof seeded>, count: number): Made {
  const parts: Uint8Array[] = []
  let at = 0
  const sections = Array.from({ length: count }, () => {
    const data = random.bytes(random.int(400))
    const cid = blockCid(data)
    const section = concatBytes(cid.bytes, data)
    const part = concatBytes(varintBytes(section.length), section)
    parts.push(part)
    at += part.length
    return { cid, at: at - part.length, end: at }
  })
  return { frame: concatBytes(...parts), sections }
}

it('each block is found from each section on, and none that is not there', () => {
  const random = seeded('sections')
  const { frame, sections } = made(random, 25)
  for (const { at: from } of sections) {
    for (const { cid, at } of sections) expect(findSection(frame, cid, from)).toBe(at)
    expect(findSection(frame, blockCid(random.bytes(40)), from)).toBeUndefined()
  }
})

it('a frame that is cut, padded or has a wrong length is odd, where the block is not found before', () => {
  const random = seeded('odd sections')
  const { frame, sections } = made(random, 8)
  const absent = blockCid(random.bytes(40))
  const ends = new Set([0, ...sections.map(({ end }) => end)])
  for (let length = 1; length < frame.length; length++) {
    const expected = ends.has(length) ? undefined : ODD
    expect(findSection(frame.subarray(0, length), absent, 0), `${length} bytes`).toBe(expected)
  }
  expect(findSection(concatBytes(frame, new Uint8Array(3)), absent, 0)).toBe(ODD)
  expect(findSection(concatBytes(frame, Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x0f)), absent, 0)).toBe(ODD)
  expect(findSection(concatBytes(frame, Uint8Array.of(5, 1, 2, 3, 4, 5)), absent, 0)).toBe(ODD)
  for (const { cid, at } of sections) expect(findSection(concatBytes(frame, new Uint8Array(3)), cid, 0)).toBe(at)
})
