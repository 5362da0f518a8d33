/** Every back end gives the same bytes and the same verdicts. */
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { beforeAll, describe, expect, it } from 'vitest'
import { concatBytes, fromHex, toHex } from '../../src/base/bytes.ts'
import { unlessThrown } from '../../src/base/errors.ts'
import { FLOAT_LIMBS, INTEGER_LIMBS } from '../../src/crypto/bls12381/limbs.ts'
import type { BlsBackend } from '../../src/crypto/blsBackend.ts'
import { engineBls } from '../../src/crypto/blsEngine.ts'
import { loadMclBls } from '../../src/crypto/blsMcl.ts'
import { nobleBls } from '../../src/crypto/blsNoble.ts'
import { CryptoError } from '../../src/crypto/errors.ts'
import { type HashBackend, nobleHashes } from '../../src/crypto/hashBackend.ts'
import { loadHashWasm } from '../../src/crypto/hashWasm.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { nobleSecp256k1, type Secp256k1Backend } from '../../src/crypto/secp256k1Backend.ts'
import { loadSecp256k1Wasm } from '../../src/crypto/secp256k1Wasm.ts'

/** Small deterministic generator (mulberry32); the seed is printed with a failure. */
function generator(seed: number): (length: number) => Uint8Array {
  let state = seed
  return (length) =>
    Uint8Array.from({ length }, () => {
      state = (state + 0x6d2b79f5) | 0
      let t = Math.imul(state ^ (state >>> 15), 1 | state)
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
      return (t ^ (t >>> 14)) & 0xff
    })
}

const G2 = bls12_381.G2.Point
const ORDER_BLS = bls12_381.fields.Fr.ORDER

function littleEndian(value: bigint, length = 32): Uint8Array {
  const out = new Uint8Array(length)
  let rest = value
  for (let i = 0; i < length; i++) {
    out[i] = Number(rest & 0xffn)
    rest >>= 8n
  }
  return out
}

let hashWasm: HashBackend
let mcl: BlsBackend
/** noble first, which is slow. */
let backends: readonly BlsBackend[]
let secpWasm: Secp256k1Backend

beforeAll(async () => {
  hashWasm = await loadHashWasm()
  mcl = await loadMclBls()
  backends = [nobleBls, mcl, engineBls(mcl, FLOAT_LIMBS), engineBls(mcl, INTEGER_LIMBS)]
  secpWasm = await loadSecp256k1Wasm()
})

describe('start', () => {
  it('loads all back ends', async () => {
    expect(await initCrypto()).toEqual([])
  })
})

describe('hashes', () => {
  it('equal noble for all lengths of input around the block sizes', () => {
    const seed = 20261121
    const bytes = generator(seed)
    for (const length of [0, 1, 3, 63, 64, 65, 127, 128, 129, 135, 136, 137, 255, 256, 1000, 20000]) {
      const data = bytes(length)
      for (const size of [4, 20, 32, 64, 17]) {
        expect(toHex(hashWasm.blake2b(data, size)), `seed ${seed}, ${length} bytes`).toBe(
          toHex(nobleHashes.blake2b(data, size)),
        )
      }
      expect(toHex(hashWasm.sha256(data))).toBe(toHex(nobleHashes.sha256(data)))
      expect(toHex(hashWasm.keccak256(data))).toBe(toHex(nobleHashes.keccak256(data)))
      expect(toHex(hashWasm.ripemd160(data))).toBe(toHex(nobleHashes.ripemd160(data)))
    }
  })

  it('returns bytes of its own', () => {
    const first = hashWasm.blake2b(Uint8Array.of(1), 32)
    const copy = first.slice()
    hashWasm.blake2b(Uint8Array.of(2), 32)
    expect(first).toEqual(copy)
  })

  it('hashes views of a larger buffer', () => {
    const large = generator(7)(100)
    expect(hashWasm.sha256(large.subarray(10, 40))).toEqual(nobleHashes.sha256(large.slice(10, 40)))
    expect(hashWasm.blake2b(large.subarray(10, 40), 32)).toEqual(nobleHashes.blake2b(large.slice(10, 40), 32))
  })
})

describe('secp256k1', () => {
  it('signs with the same bytes and recovers the same keys', () => {
    const seed = 77
    const bytes = generator(seed)
    for (let i = 0; i < 12; i++) {
      const key = bytes(32)
      const digest = bytes(32)
      const signature = nobleSecp256k1.sign(digest, key) as Uint8Array
      expect(toHex(secpWasm.sign(digest, key) as Uint8Array), `seed ${seed}`).toBe(toHex(signature))
      const rs = signature.subarray(0, 64)
      for (let recovery = 0; recovery < 4; recovery++) {
        expect(secpWasm.recover(digest, rs, recovery)).toEqual(nobleSecp256k1.recover(digest, rs, recovery))
      }
      expect(secpWasm.publicKey(key)).toEqual(nobleSecp256k1.publicKey(key))
    }
  })

  it('takes a high s and refuses what is out of range', () => {
    const key = generator(5)(32)
    const digest = generator(6)(32)
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
    const signature = nobleSecp256k1.sign(digest, key) as Uint8Array
    const s = BigInt(`0x${toHex(signature.subarray(32, 64))}`)
    const high = signature.slice(0, 64)
    high.set(fromHex((order - s).toString(16).padStart(64, '0')), 32)
    const zero = new Uint8Array(64)
    const over = new Uint8Array(64).fill(0xff)
    for (const backend of [nobleSecp256k1, secpWasm]) {
      expect(backend.recover(digest, high, (signature[64] as number) ^ 1), backend.name).toEqual(backend.publicKey(key))
      expect(backend.recover(digest, zero, 0), backend.name).toBeUndefined()
      expect(backend.recover(digest, over, 0), backend.name).toBeUndefined()
      expect(backend.publicKey(new Uint8Array(32)), backend.name).toBeUndefined()
      expect(backend.publicKey(fromHex(order.toString(16))), backend.name).toBeUndefined()
      expect(backend.sign(digest, new Uint8Array(32)), backend.name).toBeUndefined()
    }
  })
})

/** All steps of a verification. */
function verified(backend: BlsBackend, ...given: Parameters<BlsBackend['verifySteps']>): boolean {
  const steps = backend.verifySteps(...given)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    // Whatever else is done meanwhile must not show.
    backend.publicKey(Uint8Array.of(9, ...new Uint8Array(31)))
    backend.sign(Uint8Array.of(1, 2, 3), Uint8Array.of(9, ...new Uint8Array(31)))
  }
}

describe('BLS12-381', () => {
  it('signs with the same bytes, verifies across, aggregates equally', () => {
    const bytes = generator(99)
    const keys = [1, 2, 3].map(() => littleEndian(BigInt(`0x${toHex(bytes(32))}`) % ORDER_BLS))
    const messages = [bytes(38), bytes(200), bytes(5000)]
    const signatures = keys.map((key, i) => nobleBls.sign(messages[i] as Uint8Array, key) as Uint8Array)
    const publicKeys = keys.map((key) => nobleBls.publicKey(key) as Uint8Array)
    keys.forEach((key, i) => {
      for (const backend of backends) {
        // Twice: what a message is hashed to may be known then.
        for (let times = 0; times < 2; times++) {
          expect(backend.sign(messages[i] as Uint8Array, key), backend.name).toEqual(signatures[i])
        }
        expect(backend.publicKey(key), backend.name).toEqual(publicKeys[i])
      }
    })
    const sum = nobleBls.aggregate(signatures) as Uint8Array
    expect(mcl.aggregate(signatures)).toEqual(sum)
    for (const backend of backends) {
      expect(verified(backend, sum, messages, publicKeys), backend.name).toBe(true)
      expect(verified(backend, sum, [...messages].reverse(), publicKeys), backend.name).toBe(false)
      expect(
        verified(backend, signatures[0] as Uint8Array, messages.slice(0, 1), publicKeys.slice(0, 1)),
        backend.name,
      ).toBe(true)
    }
  })

  it('signs no point that is not of the group', () => {
    const key = littleEndian(5n)
    const coordinates = ({ x, y }: ReturnType<typeof G2.BASE.toAffine>): Uint8Array =>
      concatBytes(...[x.c0, x.c1, y.c0, y.c1].map((number) => littleEndian(number, 48)))
    expect(mcl.sign(Uint8Array.of(1), key, coordinates(G2.BASE.toAffine()))).toEqual(G2.BASE.multiply(5n).toBytes(true))
    // On the curve: the smallest x that has a root.
    let outside = G2.BASE
    for (let x = 1n; outside === G2.BASE; x++) {
      const { Fp2 } = bls12_381.fields
      const [at, b] = [Fp2.fromBigTuple([x, 0n]), Fp2.fromBigTuple([4n, 4n])]
      const square = Fp2.add(Fp2.pow(at, 3n), b)
      const root = unlessThrown(() => Fp2.sqrt(square), Error)
      if (root !== undefined) outside = G2.fromAffine({ x: at, y: root })
    }
    expect(outside.isTorsionFree()).toBe(false)
    for (const point of [coordinates(outside.toAffine()), new Uint8Array(192).fill(1)]) {
      expect(() => mcl.sign(Uint8Array.of(1), key, point)).toThrow(CryptoError)
    }
  })

  it('aggregates of a few keys and of many, in steps: 40 messages', () => {
    const bytes = generator(7)
    for (const [keyCount, some] of [
      [2, backends],
      [40, backends.slice(1)],
    ] as const) {
      const keys = Array.from({ length: keyCount }, () => littleEndian(BigInt(`0x${toHex(bytes(32))}`) % ORDER_BLS))
      const messages = Array.from({ length: 40 }, () => bytes(38))
      const keyOf = (i: number): Uint8Array => keys[i % keyCount] as Uint8Array
      const publicKeys = messages.map((_, i) => mcl.publicKey(keyOf(i)) as Uint8Array)
      const sum = mcl.aggregate(messages.map((one, i) => mcl.sign(one, keyOf(i)) as Uint8Array)) as Uint8Array
      const wrong = [...messages.slice(0, 39), bytes(38)]
      for (const backend of some) {
        expect(verified(backend, sum, messages, publicKeys), backend.name).toBe(true)
        // Again, with what was remembered.
        expect(verified(backend, sum, messages, publicKeys), backend.name).toBe(true)
        expect(verified(backend, sum, wrong, publicKeys), backend.name).toBe(false)
        expect(verified(backend, sum, messages, [...publicKeys].reverse()), backend.name).toBe(false)
      }
    }
  })

  it('verify many together, and refuse them when one is wrong', () => {
    const seed = 4711
    const bytes = generator(seed)
    const keys = [1, 2].map(() => littleEndian(BigInt(`0x${toHex(bytes(32))}`) % ORDER_BLS))
    // More than one batch of mcl's; two keys in turn.
    const many = Array.from({ length: 70 }, (_, i) => {
      const key = keys[i % 2] as Uint8Array
      const message = bytes(40)
      return { message, signature: mcl.sign(message, key)!, publicKey: mcl.publicKey(key)!, weight: bytes(16) }
    })
    const run = (backend: BlsBackend, all: typeof many): boolean =>
      backend.verifyTogether(
        all.map((one) => one.signature),
        all.map((one) => one.message),
        all.map((one) => one.publicKey),
        all.map((one) => one.weight),
      )
    const fast = backends.slice(1)
    for (const backend of fast) expect(run(backend, many), `${backend.name} seed ${seed}`).toBe(true)
    const few = many.slice(0, 4)
    const swapped = few.map((one, i) => ({ ...one, signature: few[i ^ 2]!.signature }))
    const infinity = Uint8Array.from({ length: 96 }, (_, i) => (i === 0 ? 0xc0 : 0))
    for (const backend of backends) {
      expect(run(backend, few), backend.name).toBe(true)
      expect(run(backend, swapped), backend.name).toBe(false)
      expect(run(backend, [few[0]!, { ...few[1]!, message: bytes(40) }]), backend.name).toBe(false)
      expect(run(backend, [{ ...few[0]!, signature: infinity }]), backend.name).toBe(false)
      expect(run(backend, [few[0]!, { ...few[1]!, signature: infinity }]), backend.name).toBe(false)
      expect(run(backend, [few[0]!, { ...few[1]!, signature: new Uint8Array(96) }]), backend.name).toBe(false)
      expect(run(backend, [{ ...few[0]!, publicKey: infinity.slice(0, 48) }]), backend.name).toBe(false)
    }
    const wrong = [...many.slice(0, 69), { ...many[69]!, message: bytes(40) }]
    for (const backend of fast) expect(run(backend, wrong), backend.name).toBe(false)
  })

  it('sum keys with weights alike', () => {
    const bytes = generator(12)
    const keys = [5n, 6n, 7n].map((key) => nobleBls.publicKey(littleEndian(key))!)
    const weights = [bytes(17), bytes(16), Uint8Array.of(1)]
    expect(mcl.sumKeys(keys)).toEqual(nobleBls.publicKey(littleEndian(18n)))
    expect(nobleBls.sumKeys(keys)).toEqual(mcl.sumKeys(keys))
    expect(nobleBls.sumKeys(keys, weights)).toEqual(mcl.sumKeys(keys, weights))
    for (const backend of backends) expect(backend.sumKeys([new Uint8Array(48)]), backend.name).toBeUndefined()
  })

  it('agree on which secret keys there are', () => {
    const limit = (1n << 256n) - 1n
    for (const value of [0n, 1n, ORDER_BLS - 1n, ORDER_BLS, ORDER_BLS + 1n, limit]) {
      const expected = nobleBls.publicKey(littleEndian(value))
      expect(mcl.publicKey(littleEndian(value)), String(value)).toEqual(expected)
      expect(expected === undefined).toBe(value === 0n || value >= ORDER_BLS)
    }
  })

  it('agree on malformed, infinite and foreign points', () => {
    const message = generator(3)(38)
    const key = littleEndian(12345n)
    const publicKey = nobleBls.publicKey(key) as Uint8Array
    const signature = nobleBls.sign(message, key) as Uint8Array
    const infinity = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (i === 0 ? 0xc0 : 0))
    const change = (bytes: Uint8Array, at: number, value: number): Uint8Array => {
      const out = bytes.slice()
      out[at] = value
      return out
    }
    // A point of the curve outside the subgroup: x = 4 and the smallest x of G2 that has a root, found by trying.
    const outside = smallOrderFreePoint()
    const badSignatures = [
      infinity(96),
      change(infinity(96), 95, 1),
      change(infinity(96), 0, 0xe0),
      change(signature, 0, (signature[0] as number) & 0x7f),
      change(signature, 0, (signature[0] as number) ^ 0x20),
      change(signature, 95, (signature[95] as number) ^ 1),
      new Uint8Array(96).fill(0xff),
      new Uint8Array(96),
    ]
    for (const backend of backends) {
      expect(verified(backend, signature, [message], [publicKey]), backend.name).toBe(true)
      for (const [i, bad] of badSignatures.entries()) {
        expect(verified(backend, bad, [message], [publicKey]), `${backend.name} ${i}`).toBe(false)
      }
      for (const bad of [
        infinity(48),
        outside,
        new Uint8Array(48),
        change(publicKey, 0, (publicKey[0] as number) & 0x7f),
      ]) {
        expect(verified(backend, signature, [message], [bad]), `${backend.name} ${toHex(bad)}`).toBe(false)
        expect(verified(backend, infinity(96), [message], [bad]), `${backend.name} ${toHex(bad)}`).toBe(false)
      }
      expect(backend.aggregate([]), backend.name).toEqual(infinity(96))
      expect(backend.aggregate([signature, infinity(96)]), backend.name).toEqual(signature)
      expect(backend.aggregate([signature, new Uint8Array(96)]), backend.name).toBeUndefined()
    }
  })
})

/** Compressed G1 point on the curve whose order is not the group's. */
function smallOrderFreePoint(): Uint8Array {
  const { Fp } = bls12_381.fields
  for (let x = 1n; ; x++) {
    try {
      Fp.sqrt(Fp.add(Fp.mul(Fp.mul(x, x), x), 4n))
    } catch {
      continue
    }
    const bytes = fromHex(x.toString(16).padStart(96, '0'))
    bytes[0] = 0x80
    return bytes
  }
}
