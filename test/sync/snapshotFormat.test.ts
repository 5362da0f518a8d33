/** Version 2 of the snapshot format: metadata and F3 data. @see FRC-0108 */
import { beforeAll, describe, expect, it } from 'vitest'
import { carBytes } from '../../src/archive/car.ts'
import { CarStore } from '../../src/archive/carStore.ts'
import { concatBytes, fromHex, toHex } from '../../src/base/bytes.ts'
import { PetrelError } from '../../src/base/errors.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import { CborWriter } from '../../src/codec/cborWriter.ts'
import { parseCid } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { encodeF3Header, F3DataReader, f3Block, readF3Data } from '../../src/sync/snapshot/f3Data.ts'
import { decodeMetadata, encodeMetadata, readMetadata } from '../../src/sync/snapshot/metadata.ts'
import { seeded } from '../support/seeded.ts'
import { missingShared, readSharedUnpacked } from '../support/shared.ts'

const HEAD = [
  'bafy2bzacebkkjozadnddq3joc57avppp4am6xvw57t3l52eycmehxhewi4yho',
  'bafy2bzacecyosa7gbfbphpipltz6lnwhof2d5ltmsmo4raqxhgggbya7b2ta2',
].map(parseCid)

/** Every certificate of the recorded chain, as CBOR. */
function certificates(): Uint8Array[] {
  return new TextDecoder()
    .decode(readSharedUnpacked('data/golden/f3/certificates.jsonl.zst'))
    .trim()
    .split('\n')
    .map((line) => fromHex((JSON.parse(line) as { cbor: string }).cbor))
}

describe('snapshot metadata', () => {
  it('is the map of FRC-0108, in its order of keys', () => {
    const bytes = encodeMetadata({ f3Data: undefined, headTipsetKey: HEAD })
    // a3, 66 "F3Data" null, 67 "Version" 2, 6d "HeadTipsetKey" [2 CIDs]
    const expected = `a3664633446174 61f6 6756657273696f6e 02 6d48656164546970736574 4b6579 82`.replaceAll(' ', '')
    expect(toHex(bytes).startsWith(expected)).toBe(true)
    expect(decodeMetadata(bytes)).toEqual({ f3Data: undefined, version: 2, headTipsetKey: HEAD })
    const withF3 = { f3Data: HEAD[1], headTipsetKey: HEAD }
    expect(decodeMetadata(encodeMetadata(withF3))).toEqual({ ...withF3, version: 2 })
  })

  it('other roots are none; another version and an empty head are refused', () => {
    expect(decodeMetadata(Uint8Array.of(0x80))).toBeUndefined()
    const other = (version: number, cids: number): Uint8Array => {
      const writer = new CborWriter()
      writer.map(2)
      writer.text('Version')
      writer.uint(version)
      writer.text('HeadTipsetKey')
      writer.array(cids)
      for (let i = 0; i < cids; i++) writer.cid(HEAD[i % 2]!)
      return writer.finish()
    }
    expect(decodeMetadata(other(2, 1))?.headTipsetKey.length).toBe(1)
    expect(() => decodeMetadata(other(3, 1))).toThrow(/version 3/)
    expect(() => decodeMetadata(other(2, 0))).toThrow(PetrelError)
  })
})

describe.skipIf(missingShared('data/golden/f3') !== undefined)('F3 data', () => {
  beforeAll(() => initCrypto())
  const header = (count: number): Uint8Array =>
    encodeF3Header({ firstInstance: 0, latestInstance: count - 1, initialPowerTable: Uint8Array.of(0x80) })

  it('give the certificates of the recorded chain, whole and in pieces of any length', () => {
    const random = seeded('F3 pieces')
    const all = certificates()
    expect(all.length).toBeGreaterThan(100)
    const [cid, data] = f3Block(header(all.length), all)
    for (let run = 0; run < 5; run++) {
      const found: Uint8Array[] = []
      let latest = -1
      const reader = new F3DataReader({
        header: (one) => {
          latest = one.latestInstance
        },
        certificate: (bytes) => found.push(bytes),
      })
      for (let at = 0; at < data.length; ) {
        const length = 1 + random.int(run === 0 ? 50 : 5000)
        reader.write(data.subarray(at, at + length))
        at += length
      }
      reader.end()
      expect(latest).toBe(all.length - 1)
      expect(found).toEqual(all)
    }
    const metadata = encodeMetadata({ f3Data: cid, headTipsetKey: HEAD })
    const root = blockCid(metadata)
    const store = new CarStore(
      memorySource(
        carBytes(
          [root],
          [
            [root, metadata],
            [cid, data],
          ],
        ),
      ),
      { verify: 'open' },
    )
    const f3Data = readMetadata(store, store.roots)?.f3Data
    let count = 0
    readF3Data(store, f3Data!, { header: () => undefined, certificate: () => count++ })
    expect(count).toBe(all.length)
  })

  it('that are cut, or lack a certificate, or hold garbage are refused', () => {
    const random = seeded('damaged F3 data')
    const all = certificates().slice(0, 5)
    const read = (data: Uint8Array): void => {
      const reader = new F3DataReader({ header: () => undefined, certificate: () => undefined })
      reader.write(data)
      reader.end()
    }
    const [, whole] = f3Block(header(5), all)
    read(whole)
    expect(() => read(f3Block(header(6), all)[1])).toThrow(/5 certificates, expected 6/)
    expect(() => read(new Uint8Array(0))).toThrow(/end early/)
    expect(() => read(concatBytes(whole, new Uint8Array(10)))).toThrow(/an item of 0 bytes/)
    for (let run = 0; run < 50; run++) {
      expect(() => read(whole.subarray(0, random.int(whole.length)))).toThrow(PetrelError)
      try {
        read(random.bytes(200))
      } catch (error) {
        expect(error).toBeInstanceOf(PetrelError)
      }
    }
  })
})
