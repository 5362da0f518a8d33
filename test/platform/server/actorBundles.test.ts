/** Bundles in a folder: found by what they hold, and no more of them read than it takes. */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ActorBundles } from '../../../platform/server/actorBundles.ts'
import { carBytes } from '../../../src/archive/car.ts'
import { utf8 } from '../../../src/base/bytes.ts'
import { type Cid, CODEC_RAW } from '../../../src/codec/cid.ts'
import { encode } from '../../../src/codec/description.ts'
import { blockCid } from '../../../src/crypto/blockCid.ts'
import { initCrypto } from '../../../src/crypto/init.ts'
import { manifestEntries, manifestRoot } from '../../../src/state/manifest.ts'

interface Bundle {
  readonly manifest: Cid
  readonly code: Cid
  readonly car: Uint8Array
}

function bundle(name: string): Bundle {
  const module = utf8(`module of ${name}`)
  const code = blockCid(module, CODEC_RAW)
  const data = encode(manifestEntries, [{ name, code }])
  const root = encode(manifestRoot, { version: 1, data: blockCid(data) })
  const manifest = blockCid(root)
  const blocks: [Cid, Uint8Array][] = [
    [manifest, root],
    [blockCid(data), data],
    [code, module],
  ]
  return { manifest, code, car: carBytes([manifest], blocks) }
}

describe('bundles of actors', () => {
  let folder: string
  beforeAll(async () => {
    await initCrypto()
    folder = mkdtempSync(join(tmpdir(), 'petrel-bundles-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('are found in any of them, also one that came later; what none has is not', () => {
    const [one, two, three] = [bundle('one'), bundle('two'), bundle('three')] as [Bundle, Bundle, Bundle]
    const bundles = new ActorBundles(folder)
    expect(bundles.includes(one.code)).toBe(false)
    for (const { car } of [one, two]) bundles.add(car)
    for (const { code, manifest } of [two, one]) {
      expect(bundles.code(code)).toBeDefined()
      expect(bundles.includes(manifest)).toBe(true)
    }
    expect(bundles.includes(three.code)).toBe(false)
    bundles.add(three.car)
    expect(bundles.code(three.code)).toEqual(utf8('module of three'))
    expect(bundles.code(three.manifest)).toBeUndefined()
  })

  it('that were cut, or changed in a bit, are named with their file; whole ones are sound', () => {
    const { car, manifest } = bundle('cut')
    const bundles = new ActorBundles(folder)
    bundles.add(car)
    expect(() => bundles.assertSound(manifest)).not.toThrow()
    expect(() => bundles.assertSound(bundle('absent').manifest)).not.toThrow()
    const path = join(folder, `${manifest}.car`)
    // The module is the last block: a byte of length, 38 of its CID, then its bytes.
    const flipped = car.map((byte, i) => (i === car.length - 1 ? byte ^ 1 : byte))
    const withoutModule = car.subarray(0, car.length - utf8('module of cut').length - 39)
    for (const [bytes, reason] of [
      [flipped, /block bafk\S+ is damaged/],
      [car.subarray(0, car.length - 5), /Cannot read CAR/],
      [withoutModule, /the code of cut is not in it/],
      [new Uint8Array(0), /Cannot read CAR/],
    ] as const) {
      writeFileSync(path, bytes)
      expect(() => bundles.assertSound(manifest)).toThrow(reason)
      expect(() => bundles.assertSound(manifest)).toThrow(`Cannot use ${path}: `)
    }
    rmSync(path)
  })

  it('of the network are looked into first, and others not before they must be', () => {
    const wanted = bundle('wanted')
    new ActorBundles(folder).add(wanted.car)
    // Links to nowhere: to look into one is an error.
    for (let i = 0; i < 8; i++) symlinkSync('nowhere', join(folder, `${bundle(`other ${i}`).manifest}.car`))
    const bundles = new ActorBundles(folder, [String(wanted.manifest)])
    expect(bundles.code(wanted.code)).toEqual(utf8('module of wanted'))
    expect(() => bundles.includes(bundle('other').code)).toThrow()
  })
})
