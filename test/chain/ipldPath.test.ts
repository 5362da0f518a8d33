/** Paths of ChainGetNode. What Lotus answers is in golden/live (npm run golden); here is what leads nowhere, and `@` segments. */
import { describe, expect, it } from 'vitest'
import { fromHex, utf8 } from '../../src/base/bytes.ts'
import { ipldAt } from '../../src/chain/ipldPath.ts'
import { bigInt } from '../../src/codec/bigInteger.ts'
import { type Cid, CODEC_RAW } from '../../src/codec/cid.ts'
import { encode } from '../../src/codec/description.ts'
import { MemoryBlockstore, putBlock } from '../../src/ipld/blockstore.ts'
import { Hamt } from '../../src/ipld/hamt.ts'
import { actorV5 } from '../../src/types/actor.ts'
import { idAddress } from '../../src/types/address.ts'

const blocks = new MemoryBlockstore()
const deps = { blocks, stateJson: () => ({ Big: '5', List: [1, 2.5], Text: 'x' }) }
const at = (path: string): { cid: Cid; json: unknown } => ipldAt(path, deps, { addressPrefix: 't' })

const leaf = putBlock(blocks, fromHex('83f54201020a'))
const raw = putBlock(blocks, utf8('plain'), CODEC_RAW)
/** {"a": [1, leaf], "b": {"c": raw}} */
const root = ((): Cid => {
  const link = (cid: Cid): string =>
    `d82a5827 00${[...cid.bytes].map((one) => one.toString(16).padStart(2, '0')).join('')}`
  return putBlock(blocks, fromHex(`a2616182 01${link(leaf)} 6162a16163${link(raw)}`.replaceAll(' ', '')))
})()

describe('ChainGetNode', () => {
  it('walks maps, lists and links', () => {
    expect(at(`/ipfs/${root}/a/1`)).toEqual({ cid: leaf, json: [true, { '/': { bytes: 'AQI' } }, 10] })
    expect(at(`${root}/b/c`)).toEqual({ cid: raw, json: 'plain' })
    expect(at(`/ipld/${root}`).json).toEqual({ a: [1, { '/': String(leaf) }], b: { c: { '/': String(raw) } } })
  })

  // Reasons of go-ipld-legacy v0.3.0 (node.go) and of lotus lib/oldpath (path.go).
  it.each([
    [`${root}/a/0`, 'non-link found at given path'],
    [`${root}/a/2`, 'error traversing segement "2" on node at "a": array index out of range'],
    [
      `${root}/a/x`,
      'error traversing segement "x" on node at "a": the segment cannot be parsed as a number and the node is a list',
    ],
    [`${root}/d`, 'error traversing segement "d" on node at "": no such link found'],
    [`${root}/a/0/1`, 'error traversing at "a/0": tried to resolve through object that had no links'],
    [`${root}/a/1/7`, 'array index out of range'],
    ['/ipfs/', 'not enough path components'],
    ['/ipns/x', 'unknown namespace "ipns"'],
    ['nothing', 'parsing path: '],
    [`${root}/@A:x`, 'parsing amt index'],
    [`${root}/@A:${'9'.repeat(21)}`, 'value out of range'],
    [`${root}/@Hi:-${'9'.repeat(1_000_000)}`, 'value out of range'],
    [`${root}/@Ha:x`, 'parsing addr'],
  ])('refuses %s', (path, reason) => {
    expect(() => at(path)).toThrow(reason)
  })

  it('looks keys up in a HAMT of the first actors, and reads states', () => {
    const tree = Hamt.empty(blocks, actorV5, { pointerMaps: true })
    const actor = { code: raw, head: leaf, nonce: 1n, balance: 2n, delegatedAddress: null }
    tree.set(idAddress(5n).bytes, actor)
    const map = tree.flush()
    const found = at(`/ipld/${map}/@Ha:f05`)
    expect(found.json).toEqual([{ '/': String(raw) }, { '/': String(leaf) }, 1, { '/': { bytes: 'AAI' } }, null])
    expect(blocks.get(found.cid)).toEqual(encode(actorV5, actor))
    expect(at(`/ipld/${map}/@Ha:f05/@state`).json).toEqual({ Big: '5', List: [1, 2.5], Text: 'x' })
    expect(() => at(`/ipld/${map}/@Ha:f06`)).toThrow('resolve hamt: not found')
    expect(encode(bigInt, 2n)).toEqual(fromHex('420002'))
  })
})
