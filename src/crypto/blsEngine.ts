/**
 * BLS verification by Petrel's own WebAssembly: some three times as fast as mcl. It takes no constant time, so that whatever
 * touches a secret key, and what is seldom, stays with another back end. What is signed is hashed here: it is public.
 */
import { bigIntToBytes, bytesToBigInt, latin1 } from '../base/bytes.ts'
import { Lru } from '../base/lru.ts'
import { Bls12381Engine } from './bls12381/engine.ts'
import { G1Group } from './bls12381/g1.ts'
import { G2Group, LINES_BYTES } from './bls12381/g2.ts'
import { HashToG2 } from './bls12381/hashToG2.ts'
import { COORDINATE_LENGTH, ELEMENT_BYTES, type LimbForm, PAIR_BYTES } from './bls12381/limbs.ts'
import { type PreparedPair, TargetGroup } from './bls12381/pairing.ts'
import { TWELVE_BYTES } from './bls12381/towerCode.ts'
import { type BlsBackend, byKey, DST_G2 } from './blsBackend.ts'

/** Pairs of one Miller loop: 26 KB of lines each. */
const BATCH = 64
/** What is done between two steps of a verification: some 15 ms. */
const HASHES_PER_STEP = 16
const PAIRS_PER_STEP = 16
const SUMS_PER_STEP = 64
/** Points of messages that are remembered: those of a full block, 570 bytes each; and the longest message, CIDs are shorter. */
const HASHES = 10_000
const MAX_CACHED_BYTES = 64
/** Keys that are remembered, 400 bytes each: reading one is a tenth of a verification. */
const KEYS = 4096
/** Digits of base 16 of a weight, which has 16 bytes. */
const WEIGHT_DIGITS = 32
/** Bytes of an affine point of G2: x and y. */
const AFFINE_BYTES = 2 * PAIR_BYTES

/** Generator of G1, x and y. @see draft-irtf-cfrg-pairing-friendly-curves section 4.2.1 */
const G1_X = 0x17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bbn
const G1_Y = 0x08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1n

/** A point of G2 in memory's form: x and y; `infinity` has none. */
type Point2 = Int32Array | 'infinity'
/** A pair that waits for Miller's loop. */
interface WaitingPair {
  readonly key: Int32Array
  readonly point: Int32Array
}

/** Not re-entrant between two steps' ends: nothing stays in the engine's memory from one step to the next. */
class EngineBls implements BlsBackend {
  readonly name: string
  readonly #other: BlsBackend
  readonly #engine: Bls12381Engine
  readonly #g1: G1Group
  readonly #g2: G2Group
  readonly #target: TargetGroup
  readonly #hashToG2: HashToG2
  readonly #minusGenerator: Int32Array
  readonly #hashes = new Lru<string, Point2>(HASHES)
  readonly #keys = new Lru<string, Int32Array>(KEYS)

  constructor(other: BlsBackend, form?: LimbForm) {
    this.name = `own WebAssembly, ${other.name}`
    this.#other = other
    const engine = new Bls12381Engine(form)
    this.#engine = engine
    this.#g1 = new G1Group(engine)
    this.#g2 = new G2Group(engine)
    this.#target = new TargetGroup(engine)
    this.#hashToG2 = new HashToG2(engine, this.#g2, DST_G2)
    this.#minusGenerator = engine.within(() => {
      const place = engine.allocate(this.#g1.pointBytes)
      engine.writeNumber(place, G1_X)
      engine.writeNumber(place + ELEMENT_BYTES, G1_Y)
      this.#g1.finishAffine(place)
      this.#g1.negate(place, place)
      return engine.take(place, this.#g1.pointBytes)
    })
  }

  publicKey(secretKey: Uint8Array): Uint8Array | undefined {
    return this.#other.publicKey(secretKey)
  }

  sign(message: Uint8Array, secretKey: Uint8Array): Uint8Array | undefined {
    const [point] = this.#hash([message])
    const coordinates = point instanceof Int32Array ? this.#coordinates(point) : undefined
    return this.#other.sign(message, secretKey, coordinates)
  }

  verifyInG1(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
    return this.#other.verifyInG1(signature, message, publicKey)
  }

  aggregate(signatures: readonly Uint8Array[]): Uint8Array | undefined {
    return this.#other.aggregate(signatures)
  }

  sumKeys(publicKeys: readonly Uint8Array[], weights?: readonly Uint8Array[]): Uint8Array | undefined {
    return this.#other.sumKeys(publicKeys, weights)
  }

  *verifySteps(
    signature: Uint8Array,
    messages: readonly Uint8Array[],
    publicKeys: readonly Uint8Array[],
  ): Generator<undefined, boolean> {
    const signed = this.#readSignatures([signature])?.[0]
    if (signed === undefined) return false
    const groups = byKey(publicKeys)
    const keys: Int32Array[] = []
    for (let at = 0; at < groups.length; at += BATCH) {
      if (at > 0) yield
      const some = groups.slice(at, at + BATCH).map(([first]) => publicKeys[first as number] as Uint8Array)
      const read = this.#readKeys(some)
      if (read === undefined) return false
      keys.push(...read)
    }
    const hashes: Point2[] = []
    for (let at = 0; at < messages.length; at += HASHES_PER_STEP) {
      if (at > 0) yield
      hashes.push(...this.#hash(messages.slice(at, at + HASHES_PER_STEP)))
    }
    const pairs: WaitingPair[] = []
    if (signed !== 'infinity') pairs.push({ key: this.#minusGenerator, point: signed })
    // Messages under one key share a pairing: e(key, a) e(key, b) = e(key, a + b).
    let left = SUMS_PER_STEP
    for (const [i, indices] of groups.entries()) {
      const points = indices.map((at) => hashes[at] as Point2)
      if (points.length > 1 && left-- === 0) {
        yield
        left = SUMS_PER_STEP - 1
      }
      const point = points.length === 1 ? points[0] : this.#sum(points)
      if (point instanceof Int32Array) pairs.push({ key: keys[i] as Int32Array, point })
    }
    let product: Int32Array | undefined
    for (let start = 0; start < pairs.length; start += PAIRS_PER_STEP) {
      if (product !== undefined) yield
      product = this.#multiplyIn(product, pairs.slice(start, start + PAIRS_PER_STEP))
    }
    return product === undefined || this.#isOne(product)
  }

  verifyTogether(
    signatures: readonly Uint8Array[],
    messages: readonly Uint8Array[],
    publicKeys: readonly Uint8Array[],
    weights: readonly Uint8Array[],
  ): boolean {
    // Odd ones: no digit of theirs is zero. Half of all weights are left, still more than anybody can try.
    const scalars = weights.map((bytes) => bytesToBigInt(bytes.slice().reverse()) | 1n)
    const read = this.#readSignatures(signatures)
    if (read === undefined) return false
    const signed = this.#sum(read, scalars)
    const groups = byKey(publicKeys)
    const keys = this.#readKeys(groups.map(([first]) => publicKeys[first as number] as Uint8Array))
    if (keys === undefined) return false
    const single = groups.flatMap(({ length }, i) => (length === 1 ? [i] : []))
    const weighted = this.#weighKeys(
      single.map((i) => keys[i] as Int32Array),
      single.map((i) => scalars[groups[i]?.[0] as number] as bigint),
    )
    for (const [n, i] of single.entries()) keys[i] = weighted[n] as Int32Array
    const pairs: WaitingPair[] = signed === 'infinity' ? [] : [{ key: this.#minusGenerator, point: signed }]
    const hashes: Point2[] = []
    for (let at = 0; at < messages.length; at += BATCH) hashes.push(...this.#hash(messages.slice(at, at + BATCH)))
    for (const [i, indices] of groups.entries()) {
      const points = indices.map((at) => hashes[at] as Point2)
      const point =
        points.length === 1
          ? (points[0] as Point2)
          : this.#sum(
              points,
              indices.map((at) => scalars[at] as bigint),
            )
      if (point !== 'infinity') pairs.push({ key: keys[i] as Int32Array, point })
    }
    let product: Int32Array | undefined
    for (let start = 0; start < pairs.length; start += BATCH) {
      product = this.#multiplyIn(product, pairs.slice(start, start + BATCH))
    }
    return product === undefined || this.#isOne(product)
  }

  /** undefined when one is no point of the group. */
  #readSignatures(signatures: readonly Uint8Array[]): Point2[] | undefined {
    const engine = this.#engine
    const read: Point2[] = []
    for (let at = 0; at < signatures.length; at += 2) {
      const first = signatures[at] as Uint8Array
      const areSound = engine.within(() => {
        const outs = [engine.allocate(this.#g2.pointBytes), engine.allocate(this.#g2.pointBytes)] as const
        // The last one of an odd number is both.
        const [isFirst, isSecond] = this.#g2.readTwo(outs, [first, signatures[at + 1] ?? first])
        for (const out of outs.slice(0, signatures.length - at)) read.push(this.#takeG2(out))
        return isFirst && isSecond
      })
      if (!areSound) return undefined
    }
    return read
  }

  /** undefined when one is infinity or no point of the group. Those that were read last are known: senders come again. */
  #readKeys(keys: readonly Uint8Array[]): Int32Array[] | undefined {
    const engine = this.#engine
    const names = keys.map(latin1)
    const read = names.map((name) => this.#keys.get(name))
    const unknown = [...keys.keys()].filter((i) => read[i] === undefined)
    for (let at = 0; at < unknown.length; at += BATCH) {
      const some = unknown.slice(at, at + BATCH)
      const areSound = engine.within(() => {
        const outs = some.map(() => engine.allocate(this.#g1.pointBytes))
        const arePoints = this.#g1.readMany(
          outs,
          some.map((i) => keys[i] as Uint8Array),
        )
        if (arePoints.includes(false) || outs.some((out) => this.#g1.isInfinity(out))) return false
        for (const [n, i] of some.entries()) {
          const key = engine.take(outs[n] as number, this.#g1.pointBytes)
          read[i] = key
          this.#keys.set(names[i] as string, key)
        }
        return true
      })
      if (!areSound) return undefined
    }
    return read as Int32Array[]
  }

  /** Keys times odd weights. */
  #weighKeys(keys: readonly Int32Array[], weights: readonly bigint[]): Int32Array[] {
    const engine = this.#engine
    const out: Int32Array[] = []
    for (let at = 0; at < keys.length; at += BATCH) {
      engine.within(() => {
        const places = keys.slice(at, at + BATCH).map((key) => this.#put(key, this.#g1.pointBytes))
        this.#g1.multiplyMany(places, places, weights.slice(at, at + BATCH), WEIGHT_DIGITS)
        this.#g1.toAffine(places)
        for (const place of places) out.push(engine.take(place, this.#g1.pointBytes))
      })
    }
    return out
  }

  /** Messages' points. The pool checks each message of a block before the block's aggregate is checked. */
  #hash(messages: readonly Uint8Array[]): Point2[] {
    const engine = this.#engine
    const names = messages.map((message) => (message.length <= MAX_CACHED_BYTES ? latin1(message) : undefined))
    const points = names.map((name) => (name === undefined ? undefined : this.#hashes.get(name)))
    const unknown = [...points.keys()].filter((i) => points[i] === undefined)
    if (unknown.length === 0) return points as Point2[]
    engine.within(() => {
      const outs = unknown.map(() => engine.allocate(this.#g2.pointBytes))
      this.#hashToG2.hash(
        outs,
        unknown.map((i) => messages[i] as Uint8Array),
      )
      for (const [n, i] of unknown.entries()) {
        const [point, name] = [this.#takeG2(outs[n] as number), names[i]]
        points[i] = point
        if (name !== undefined) this.#hashes.set(name, point)
      }
    })
    return points as Point2[]
  }

  /** Sum of points, each times its scalar (default 1). */
  #sum(points: readonly Point2[], scalars?: readonly bigint[]): Point2 {
    const engine = this.#engine
    const g2 = this.#g2
    return engine.within(() => {
      const [sum, part, next] = [g2.pointBytes, g2.pointBytes, g2.pointBytes].map((bytes) =>
        engine.allocate(bytes),
      ) as [...[number, number, number]]
      g2.setInfinity(sum)
      const add = (place: number): void => {
        g2.add(next, sum, place)
        engine.copy(sum, next, g2.pointBytes)
      }
      for (let start = 0; start < points.length; start += BATCH) {
        engine.within(() => {
          const places: number[] = []
          const own: bigint[] = []
          for (let i = start; i < Math.min(points.length, start + BATCH); i++) {
            const point = points[i] as Point2
            if (point === 'infinity') continue
            places.push(this.#putG2(point))
            own.push(scalars?.[i] ?? 1n)
          }
          if (scalars === undefined) {
            for (const place of places) add(place)
          } else {
            g2.sum(part, places, own)
            add(part)
          }
        })
      }
      if (g2.isInfinity(sum)) return 'infinity'
      g2.toAffine(sum)
      return this.#takeG2(sum)
    })
  }

  /** product (default one) times the pairs' Miller loops. */
  #multiplyIn(product: Int32Array | undefined, pairs: readonly WaitingPair[]): Int32Array {
    const engine = this.#engine
    return engine.within(() => {
      const [out, before] = [engine.allocate(TWELVE_BYTES), engine.allocate(TWELVE_BYTES)]
      const prepared = pairs.map(({ key, point }): PreparedPair => {
        const lines = engine.allocate(LINES_BYTES)
        const at = this.#put(key, this.#g1.pointBytes)
        engine.within(() => this.#g2.prepare(lines, this.#putG2(point)))
        return [at, lines]
      })
      this.#target.millerLoop(out, prepared)
      if (product !== undefined) {
        engine.put(before, product)
        engine.call.fp12Mul(out, out, before)
      }
      return engine.take(out, TWELVE_BYTES)
    })
  }

  #isOne(product: Int32Array): boolean {
    const engine = this.#engine
    return engine.within(() => {
      const value = this.#put(product, TWELVE_BYTES)
      this.#target.finalExponentiation(value)
      return engine.equal(value, engine.one, 12)
    })
  }

  /** x.c0 | x.c1 | y.c0 | y.c1, 48 bytes each, little-endian. */
  #coordinates(point: Int32Array): Uint8Array {
    const engine = this.#engine
    return engine.within(() => {
      const at = this.#put(point, AFFINE_BYTES)
      const out = new Uint8Array(4 * COORDINATE_LENGTH)
      for (let i = 0; i < 4; i++) {
        const number = engine.readNumber(at + i * ELEMENT_BYTES)
        out.set(bigIntToBytes(number, COORDINATE_LENGTH).reverse(), i * COORDINATE_LENGTH)
      }
      return out
    })
  }

  #put(words: Int32Array, bytes: number): number {
    const at = this.#engine.allocate(bytes)
    this.#engine.put(at, words)
    return at
  }

  #putG2(point: Point2): number {
    const at = this.#engine.allocate(this.#g2.pointBytes)
    if (point === 'infinity') this.#g2.setInfinity(at)
    else {
      this.#engine.put(at, point)
      this.#g2.finishAffine(at)
    }
    return at
  }

  /** Of an affine point, or infinity. */
  #takeG2(at: number): Point2 {
    return this.#g2.isInfinity(at) ? 'infinity' : this.#engine.take(at, AFFINE_BYTES)
  }
}

/**
 * @param other - what signs
 * @param form - default: the fastest here
 * @returns the other one where there are no vector instructions
 */
export function engineBls(other: BlsBackend, form?: LimbForm): BlsBackend {
  try {
    return new EngineBls(other, form)
  } catch (error) {
    if (!(error instanceof WebAssembly.CompileError)) throw error
    return other
  }
}
