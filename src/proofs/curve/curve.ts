/**
 * BLS12-381 as proofs need it, behind one interface. Every back end gives the same results to the byte; the pairing is
 * the one of blst (which the reference uses): SnarkPack's proofs contain values of it.
 *
 * Compressed points are in the ZCash form. Decoding checks range, curve and subgroup, and takes infinity; whether that is
 * allowed is for the caller to say.
 */

declare const group: unique symbol

/** A point of G1, in its back end's own form. */
export interface G1 {
  readonly [group]: 'G1'
}

/** A point of G2. */
export interface G2 {
  readonly [group]: 'G2'
}

/** An element of the field of twelve coordinates; of the target group when it comes from a pairing. */
export interface Gt {
  readonly [group]: 'Gt'
}

/** One factor of a product of pairings. */
export type Pair = readonly [G1, G2]

/** Points of G1 that are summed again and again with other scalars: those of a verifying key. */
export interface InputPoints {
  /** Number of points. */
  readonly count: number
  /** Whether every point satisfies the equation of the curve. */
  allOnCurve(): boolean
  /** Sum of the points times scalars below r, one for each. */
  sum(scalars: readonly bigint[]): G1
}

/** Bytes of a compressed point of G1; uncompressed twice that. */
export const G1_LENGTH = 48
/** Bytes of a compressed point of G2; uncompressed twice that. */
export const G2_LENGTH = 96
/** Bytes of the twelve coordinates. */
export const GT_LENGTH = 576

/** Bits of a weight. */
export const WEIGHT_BITS = 132

/** One implementation. Not re-entrant; nothing here waits. Scalars are below r, exponents too. */
export interface Curve {
  readonly name: string
  /** @returns undefined when these are not the 48 bytes of a point of G1 */
  readG1(bytes: Uint8Array): G1 | undefined
  /** The same of several, which may be faster. */
  readManyG1(points: readonly Uint8Array[]): (G1 | undefined)[]
  /** @returns undefined when these are not the 96 bytes of a point of G2 */
  readG2(bytes: Uint8Array): G2 | undefined
  readManyG2(points: readonly Uint8Array[]): (G2 | undefined)[]
  /**
   * Coordinates as they are, unchecked: see {@link isInG1}.
   * @param bytes - x | y, 48 bytes each, big-endian, below p; not infinity
   */
  affineG1(bytes: Uint8Array): G1
  /** @param bytes - x.c1 | x.c0 | y.c1 | y.c0, 48 bytes each, big-endian, below p; not infinity */
  affineG2(bytes: Uint8Array): G2
  /** @param bytes - one point after the other as {@link affineG1} takes them; that they are on the curve is not checked */
  inputPoints(bytes: Uint8Array): InputPoints
  /** Whether the point is on the curve and in the subgroup. */
  isInG1(point: G1): boolean
  isInG2(point: G2): boolean
  /** Compressed. */
  writeG1(point: G1): Uint8Array
  writeG2(point: G2): Uint8Array
  isInfinityG1(point: G1): boolean
  isInfinityG2(point: G2): boolean
  negateG1(point: G1): G1
  /** Each point times its weight, an odd number below 2^{@link WEIGHT_BITS}; the points are of the group and not infinity. */
  weighG1(points: readonly G1[], weights: readonly bigint[]): G1[]
  /** Sum of points times scalars, for a few points. None gives infinity. */
  sumG1(points: readonly G1[], scalars: readonly bigint[]): G1
  sumG2(points: readonly G2[], scalars: readonly bigint[]): G2
  /** Product of pairings; a pair with infinity is one. */
  pairing(pairs: readonly Pair[]): Gt
  /** @param bytes - 12 coordinates of 48 bytes, little-endian, in the order of the tower, each below p */
  readGt(bytes: Uint8Array): Gt
  /** As {@link readGt} takes it. */
  writeGt(value: Gt): Uint8Array
  equalGt(a: Gt, b: Gt): boolean
  isOneGt(value: Gt): boolean
  /** Whether the value has the order r. Only for values of which x^(p^6+1) = 1 is known. */
  isInGt(value: Gt): boolean
  /** value / conjugate of value, where the conjugate (of the upper half of coordinates) is its power p^6. */
  overConjugate(value: Gt): Gt
  /** Product of values of the target group raised to exponents. None gives one. */
  productGt(values: readonly Gt[], exponents: readonly bigint[]): Gt
}
