/** Signatures, VRF and beacons against values of other implementations, with and without WebAssembly. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fromBase64, fromHex, toHex } from '../../src/base/bytes.ts'
import { blake2b160, blake2b256, blake2b512 } from '../../src/crypto/blake2b.ts'
import * as bls from '../../src/crypto/bls.ts'
import { loadMclBls } from '../../src/crypto/blsMcl.ts'
import { nobleBls } from '../../src/crypto/blsNoble.ts'
import { verifyDrandChained, verifyDrandUnchained } from '../../src/crypto/drand.ts'
import { drawRandomness, TAG_ELECTION } from '../../src/crypto/drawRandomness.ts'
import { blake2s256, keccak256, ripemd160, sha256 } from '../../src/crypto/hashes.ts'
import * as secp256k1 from '../../src/crypto/secp256k1.ts'
import { computeVrf, verifyVrf } from '../../src/crypto/vrf.ts'
import { missingShared, readSharedJson } from '../support/shared.ts'

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('hashes of "abc"', () => {
  // RFC 7693 appendix A and B, FIPS 180-4, the RIPEMD-160 page of its authors, Ethereum's Keccak.
  it('equal the published values', () => {
    expect(toHex(blake2b512(ascii('abc')))).toBe(
      'ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d17d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923',
    )
    expect(toHex(blake2s256(ascii('abc')))).toBe('508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982')
    expect(toHex(sha256(ascii('abc')))).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    expect(toHex(ripemd160(ascii('abc')))).toBe('8eb208f7e05d987a9b044a8e98c6b087f15a0bfc')
    expect(toHex(keccak256(ascii('abc')))).toBe('4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45')
    expect(blake2b256(ascii('abc'))).toHaveLength(32)
    expect(blake2b160(ascii('abc'))).toHaveLength(20)
  })
})

interface SigningRow {
  readonly CidHexBytes: string
  readonly PrivateKey: string
  readonly Signature: { readonly Type: number; readonly Data: string }
}

describe.each(['noble', 'mcl-wasm'])('BLS by %s', (name) => {
  beforeAll(async () => bls.setBlsBackend(name === 'noble' ? nobleBls : await loadMclBls()))
  afterAll(() => bls.setBlsBackend(nobleBls))

  it.skipIf(missingShared('data/vectors/serialization'))('message signing vectors', () => {
    const rows = readSharedJson<SigningRow[]>('data/vectors/serialization/message_signing.json')
    expect(rows.length).toBeGreaterThan(1)
    for (const row of rows) {
      const key = fromBase64(row.PrivateKey)
      const message = fromHex(row.CidHexBytes)
      const signature = bls.sign(message, key)
      expect(signature).toEqual(fromBase64(row.Signature.Data))
      expect(bls.verify(signature, message, bls.publicKey(key))).toBe(true)
      expect(verifyVrf(computeVrf(message, key), message, bls.publicKey(key))).toBe(true)
      expect(verifyVrf(computeVrf(message, key), message.subarray(1), bls.publicKey(key))).toBe(false)
    }
    const keys = rows.map((row) => bls.publicKey(fromBase64(row.PrivateKey)))
    const messages = rows.map((row) => fromHex(row.CidHexBytes))
    const sum = bls.aggregate(rows.map((row) => fromBase64(row.Signature.Data)))
    expect(bls.verifyAggregate(sum, messages, keys)).toBe(true)
    expect(bls.verifyAggregate(sum, messages.slice(1), keys.slice(1))).toBe(false)
  })

  it('refuses empty lists, unequal lists and repeated messages', () => {
    const key = Uint8Array.from({ length: 32 }, (_, i) => (i === 0 ? 7 : 0))
    const message = ascii('twice')
    const signature = bls.sign(message, key)
    const publicKey = bls.publicKey(key)
    expect(bls.aggregate([])).toEqual(bls.BLS_EMPTY_AGGREGATE)
    expect(bls.verifyAggregate(bls.BLS_EMPTY_AGGREGATE, [], [])).toBe(false)
    expect(bls.verifyAggregate(signature, [message], [publicKey, publicKey])).toBe(false)
    const twice = bls.aggregate([signature, signature])
    expect(bls.verifyAggregate(twice, [message, message], [publicKey, publicKey])).toBe(false)
    expect(bls.verify(signature.subarray(1), message, publicKey)).toBe(false)
    expect(() => bls.aggregate([signature.subarray(1)])).toThrow(expect.objectContaining({ code: 'INVALID_SIGNATURE' }))
    expect(() => bls.sign(message, new Uint8Array(32))).toThrow(expect.objectContaining({ code: 'INVALID_SECRET_KEY' }))
    expect(() => bls.publicKey(key.subarray(1))).toThrow(expect.objectContaining({ code: 'INVALID_SECRET_KEY' }))
  })

  it('aggregates more messages than one batch holds', () => {
    const count = name === 'noble' ? 2 : 130
    const key = (i: number): Uint8Array =>
      Uint8Array.from({ length: 32 }, (_, j) => (j < 2 ? ((i + 1) >> (8 * j)) & 0xff : 0))
    const messages = Array.from({ length: count }, (_, i) => ascii(`message ${i}`))
    const keys = messages.map((_, i) => bls.publicKey(key(i)))
    const sum = bls.aggregate(messages.map((message, i) => bls.sign(message, key(i))))
    expect(bls.verifyAggregate(sum, messages, keys)).toBe(true)
    expect(bls.verifyAggregate(sum, messages, [...keys.slice(1), keys[0] as Uint8Array])).toBe(false)
  })

  // Round 1000 of quicknet as the League of Entropy publishes it.
  it('verifies quicknet', () => {
    const key = fromHex(
      '83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d1064510d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a',
    )
    const signature = fromHex(
      'b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39',
    )
    expect(verifyDrandUnchained(key, 1000, signature)).toBe(true)
    expect(verifyDrandUnchained(key, 1001, signature)).toBe(false)
    expect(verifyDrandUnchained(key, 1000, signature.subarray(1))).toBe(false)
  })

  it.skipIf(missingShared('data/vectors/consensus.json'))(
    'verifies the chained beacon of mainnet heights 1 to 3',
    () => {
      const { blocks } = readSharedJson<{ blocks: { headerCborHex: string; beaconRound: number }[] }>(
        'data/vectors/consensus.json',
      )
      const networks = readSharedJson<{ drand: { publicKey: string }[] }>('data/networks/mainnet.json')
      const key = fromHex((networks.drand[0] as { publicKey: string }).publicKey)
      const signatures = blocks.map((block) => beaconSignature(block.headerCborHex, block.beaconRound))
      for (let i = 1; i < blocks.length; i++) {
        const round = (blocks[i] as { beaconRound: number }).beaconRound
        const previous = signatures[i - 1] as Uint8Array
        expect(verifyDrandChained(key, round, previous, signatures[i] as Uint8Array)).toBe(true)
        expect(verifyDrandChained(key, round + 1, previous, signatures[i] as Uint8Array)).toBe(false)
      }
    },
  )
})

/** The entry's data: behind `82 1a <round, 4 bytes> 58 60` in the header. */
function beaconSignature(headerHex: string, round: number): Uint8Array {
  const marker = `821a${round.toString(16).padStart(8, '0')}5860`
  const at = headerHex.indexOf(marker)
  if (at < 0) throw new Error(`no entry of round ${round}`)
  return fromHex(headerHex.slice(at + marker.length, at + marker.length + 192))
}

describe('draws', () => {
  it.skipIf(missingShared('data/vectors/consensus.json'))('equal those of mainnet heights 1 to 3', () => {
    interface Draw {
      readonly tag: number
      readonly round: number
      readonly digest: string
    }
    const { blocks } = readSharedJson<{
      blocks: { headerCborHex: string; beaconRound: number; electionDraw: Draw; winningPoStDraw: Draw }[]
    }>('data/vectors/consensus.json')
    for (const block of blocks) {
      const base = beaconSignature(block.headerCborHex, block.beaconRound)
      // The header begins with its array head (90), then the miner's address as CBOR: byte string of 3 or fewer bytes here.
      const length = Number.parseInt(block.headerCborHex.slice(3, 4), 16)
      const entropy = fromHex(block.headerCborHex.slice(2, 4 + 2 * length))
      const { electionDraw, winningPoStDraw } = block
      expect(electionDraw.tag).toBe(TAG_ELECTION)
      for (const draw of [electionDraw, winningPoStDraw]) {
        expect(toHex(drawRandomness(base, draw.tag, draw.round, entropy))).toBe(draw.digest)
      }
    }
  })
})

describe('secp256k1', () => {
  it('recovers from its own signatures and refuses malformed ones', () => {
    const key = new Uint8Array(32).fill(0x42)
    const digest = sha256(ascii('hello'))
    const signature = secp256k1.sign(digest, key)
    expect(secp256k1.recover(digest, signature)).toEqual(secp256k1.publicKey(key))
    expect(secp256k1.recover(digest, signature.subarray(0, 64))).toBeUndefined()
    expect(secp256k1.recover(digest.subarray(1), signature)).toBeUndefined()
    const unknown = signature.slice()
    unknown[64] = 4
    expect(secp256k1.recover(digest, unknown)).toBeUndefined()
    expect(() => secp256k1.sign(digest.subarray(1), key)).toThrow(expect.objectContaining({ code: 'INVALID_LENGTH' }))
    expect(() => secp256k1.publicKey(new Uint8Array(32))).toThrow(
      expect.objectContaining({ code: 'INVALID_SECRET_KEY' }),
    )
  })

  it('makes keys from the given random source', () => {
    let calls = 0
    const random = {
      fill: (out: Uint8Array) => {
        calls++
        for (let i = 0; i < out.length; i++) out[i] = (i * 31 + calls) & 0xff
      },
    }
    expect(secp256k1.publicKey(secp256k1.generateSecretKey(random))).toHaveLength(65)
    expect(bls.publicKey(bls.generateSecretKey(random))).toHaveLength(48)
    expect(() => secp256k1.generateSecretKey({ fill: (out) => out.fill(0) })).toThrow(
      expect.objectContaining({ code: 'INVALID_SECRET_KEY' }),
    )
  })
})
