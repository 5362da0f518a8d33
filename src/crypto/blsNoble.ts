import { bls12_381 } from '@noble/curves/bls12-381.js'
import { bytesToBigInt, latin1 } from '../base/bytes.ts'
import type { BlsBackend } from './blsBackend.ts'
import { DST_G1, DST_G2 } from './blsBackend.ts'

const { G1, G2, longSignatures, shortSignatures, fields, pairingBatch } = bls12_381

function littleEndian(bytes: Uint8Array): bigint {
  return bytesToBigInt(Uint8Array.from(bytes).reverse())
}

/** The scalar of a little-endian key, or undefined when it is zero or not below the group order. */
function scalar(secretKey: Uint8Array): bigint | undefined {
  const value = littleEndian(secretKey)
  return value > 0n && value < fields.Fr.ORDER ? value : undefined
}

type G1Point = typeof G1.Point.BASE
type G2Point = typeof G2.Point.BASE

/** `assertValidity` covers curve and subgroup; noble refuses infinity there, so it is decided before. */
function decodeG1(bytes: Uint8Array): G1Point {
  const point = G1.Point.fromBytes(bytes)
  if (!point.is0()) point.assertValidity()
  return point
}

function decodeG2(bytes: Uint8Array): G2Point {
  const point = G2.Point.fromBytes(bytes)
  if (!point.is0()) point.assertValidity()
  return point
}

type Pair = { g1: G1Point; g2: G2Point }

/** Whether the product of pairings is one; pairs with infinity contribute one. */
function productIsOne(pairs: readonly Pair[]): boolean {
  const proper = pairs.filter((pair) => !pair.g1.is0() && !pair.g2.is0())
  return fields.Fp12.eql(pairingBatch(proper), fields.Fp12.ONE)
}

/** BLS12-381 in pure JavaScript: always there. */
export const nobleBls: BlsBackend = {
  name: 'noble',
  publicKey(secretKey) {
    const key = scalar(secretKey)
    if (key === undefined) return undefined
    return G1.Point.BASE.multiply(key).toBytes(true)
  },
  sign(message, secretKey) {
    const key = scalar(secretKey)
    if (key === undefined) return undefined
    return longSignatures.hash(message, DST_G2).multiply(key).toBytes(true)
  },
  *verifySteps(signature, messages, publicKeys) {
    try {
      const byKey = new Map<string, Pair>()
      for (let i = 0; i < messages.length; i++) {
        if (i > 0) yield
        const name = latin1(publicKeys[i] as Uint8Array)
        const pair = byKey.get(name)
        const g1 = pair?.g1 ?? decodeG1(publicKeys[i] as Uint8Array)
        if (g1.is0()) return false
        const hash = longSignatures.hash(messages[i] as Uint8Array, DST_G2)
        byKey.set(name, { g1, g2: pair === undefined ? hash : pair.g2.add(hash) })
      }
      const pairs = [{ g1: G1.Point.BASE.negate(), g2: decodeG2(signature) }, ...byKey.values()]
      let product = fields.Fp12.ONE
      for (const pair of pairs) {
        yield
        if (!pair.g1.is0() && !pair.g2.is0()) product = fields.Fp12.mul(product, pairingBatch([pair], false))
      }
      return fields.Fp12.eql(fields.Fp12.finalExponentiate(product), fields.Fp12.ONE)
    } catch {
      return false
    }
  },
  aggregate(signatures) {
    try {
      let sum = G2.Point.ZERO
      for (const signature of signatures) sum = sum.add(decodeG2(signature))
      return sum.toBytes(true)
    } catch {
      return undefined
    }
  },
  verifyTogether(signatures, messages, publicKeys, weights) {
    try {
      let sum = G2.Point.ZERO
      const byKey = new Map<string, Pair>()
      for (let i = 0; i < signatures.length; i++) {
        const weight = littleEndian(weights[i] as Uint8Array)
        sum = sum.add(decodeG2(signatures[i] as Uint8Array).multiplyUnsafe(weight))
        const hash = longSignatures.hash(messages[i] as Uint8Array, DST_G2).multiplyUnsafe(weight)
        const name = latin1(publicKeys[i] as Uint8Array)
        const pair = byKey.get(name)
        const g1 = pair?.g1 ?? decodeG1(publicKeys[i] as Uint8Array)
        if (g1.is0()) return false
        byKey.set(name, { g1, g2: pair === undefined ? hash : pair.g2.add(hash) })
      }
      return productIsOne([{ g1: G1.Point.BASE.negate(), g2: sum }, ...byKey.values()])
    } catch {
      return false
    }
  },
  sumKeys(publicKeys, weights) {
    try {
      let sum = G1.Point.ZERO
      for (let i = 0; i < publicKeys.length; i++) {
        const key = decodeG1(publicKeys[i] as Uint8Array)
        const weight = weights?.[i]
        sum = sum.add(weight === undefined ? key : key.multiplyUnsafe(littleEndian(weight)))
      }
      return sum.toBytes(true)
    } catch {
      return undefined
    }
  },
  verifyInG1(signature, message, publicKey) {
    try {
      const g2 = decodeG2(publicKey)
      if (g2.is0()) return false
      return productIsOne([
        { g1: shortSignatures.hash(message, DST_G1), g2 },
        { g1: decodeG1(signature).negate(), g2: G2.Point.BASE },
      ])
    } catch {
      return false
    }
  },
}
