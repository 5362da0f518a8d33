/** Bundles in a folder: found by what they hold, and no more of them read than it takes. */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ActorBundles } from '../../../platform/server/actorBundles.ts'
import { carBytes } from '../../../src/archive/car.ts'
import { utf8 } from '../../../src/base/bytes.ts'
import { type Cid, CODEC_RAW } from '../../../src/codec/cid.ts'
import { blockCid } from '../../../src/crypto/blockCid.ts'
import { initCrypto } from '../../../src/crypto/init.ts'

interface Bundle {
  readonly manifest: Cid
  readonly code: Cid
  readonly car: Uint8Array
}

function bundle(name: string): Bundle {
  const [root, module] = [utf8(`manifest of ${name}`), utf8(`module of ${name}`)]
  const [manifest, code] = [blockCid(root), blockCid(module, CODEC_RAW)]
  const blocks: [Cid, Uint8Array][] = [
    [manifest, root],
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
