/**
 * Sums of the keys of a group whose members sign together, each key times its multiplier.
 *
 * The first sums are made of the keys (Pippenger). A group that goes on gets every key times its multiplier: that takes as long
 * as some {@link SUMS_BEFORE_TERMS} sums, and a sum is additions alone from then on: of those who signed, or of the others,
 * which is taken from the sum of all.
 */
import { bigIntToBytes, concatBytes, latin1 } from '../../base/bytes.ts'
import { Bls12381Engine } from './engine.ts'
import { G1Group } from './g1.ts'
import { COORDINATE_LENGTH, ELEMENT_BYTES } from './limbs.ts'
import { MultiScalar } from './multiScalar.ts'

/** Sums of one group before its terms are made. */
const SUMS_BEFORE_TERMS = 8
/** Digits of base 16 that hold a multiplier, at most 2^128. */
const MULTIPLIER_DIGITS = 33
/** Points that are worked on together. */
const STRETCH = 64

/** x | y of a point, or infinity. */
type Point = Uint8Array | 'infinity'

/** Compressed points, decoded, and the reverse. */
class Points {
  readonly #engine = new Bls12381Engine()
  readonly #g1 = new G1Group(this.#engine)

  /** @returns undefined for what is no point of the group */
  decode(keys: readonly Uint8Array[]): (Point | undefined)[] {
    return this.#engine.within(() => {
      const outs = this.#places(keys.length)
      return this.#g1.readMany(outs, keys).map((isPoint, i) => (isPoint ? this.#take(outs[i] as number) : undefined))
    })
  }

  encode(point: Point): Uint8Array {
    return this.#engine.within(() => {
      const [place] = this.#places(1) as [number]
      if (point === 'infinity') this.#g1.setInfinity(place)
      else this.#g1.readAffine(place, point)
      return this.#g1.write(place)
    })
  }

  /** Points that are not infinity times their multipliers. */
  multiply(points: readonly Uint8Array[], multipliers: readonly bigint[]): Point[] {
    const engine = this.#engine
    const g1 = this.#g1
    return engine.within(() => {
      const [from, to] = [this.#places(points.length), this.#places(points.length)]
      const [sum] = this.#places(1) as [number]
      for (const [i, point] of points.entries()) g1.readAffine(from[i] as number, point)
      // Digits are those of an odd number: an even one is one less than the next.
      const odd = multipliers.map((multiplier) => multiplier | 1n)
      g1.multiplyMany(to, from, odd, MULTIPLIER_DIGITS)
      for (const [i, out] of to.entries()) {
        if (odd[i] === multipliers[i]) continue
        g1.negate(from[i] as number, from[i] as number)
        g1.add(sum, out, from[i] as number)
        engine.copy(out, sum, g1.pointBytes)
      }
      g1.toAffine(to)
      return to.map((out) => this.#take(out))
    })
  }

  #places(count: number): number[] {
    return Array.from({ length: count }, () => this.#engine.allocate(this.#g1.pointBytes))
  }

  /** Of an affine point, or infinity. */
  #take(place: number): Point {
    if (this.#g1.isInfinity(place)) return 'infinity'
    const [x, y] = [this.#engine.readNumber(place), this.#engine.readNumber(place + ELEMENT_BYTES)]
    return concatBytes(bigIntToBytes(x, COORDINATE_LENGTH), bigIntToBytes(y, COORDINATE_LENGTH))
  }
}

let points: Points | undefined

function inStretches<T, R>(items: readonly T[], run: (some: readonly T[]) => R[]): R[] {
  const starts = Array.from({ length: Math.ceil(items.length / STRETCH) }, (_, i) => i * STRETCH)
  return starts.flatMap((start) => run(items.slice(start, start + STRETCH)))
}

/** Keys as points, by their bytes. */
class DecodedKeys {
  readonly #points: Map<string, Point | undefined>
  readonly #place: ReadonlyMap<string, number>
  readonly #sums: MultiScalar

  constructor(keys: ReadonlyMap<string, Uint8Array>, known?: DecodedKeys) {
    const fresh = [...keys].filter(([name]) => known?.has(name) !== true)
    const decoded = inStretches(fresh, (some) => tools().decode(some.map(([, key]) => key)))
    const read = new Map(fresh.map(([name], i) => [name, decoded[i]]))
    this.#points = new Map([...keys.keys()].map((name) => [name, read.has(name) ? read.get(name) : known?.point(name)]))
    const sound = [...this.#points].filter((entry): entry is [string, Uint8Array] => entry[1] instanceof Uint8Array)
    this.#place = new Map(sound.map(([name], i) => [name, i]))
    this.#sums = new MultiScalar(concatBytes(...sound.map(([, point]) => point)))
  }

  has(name: string): boolean {
    return this.#points.has(name)
  }

  /** undefined: it is no point of the group. */
  point(name: string): Point | undefined {
    return this.#points.get(name)
  }

  /** Sum of keys times numbers; one may be named more than once. */
  sum(terms: Iterable<readonly [name: string, multiplier: bigint]>): Point {
    const scalars = new Array<bigint>(this.#sums.count).fill(0n)
    for (const [name, multiplier] of terms) {
      const place = this.#place.get(name)
      if (place !== undefined) scalars[place] = (scalars[place] as bigint) + multiplier
    }
    return this.#sums.sum(scalars) ?? 'infinity'
  }
}

/** @throws WebAssembly.CompileError where there are no vector instructions */
function tools(): Points {
  points ??= new Points()
  return points
}

/** See the file's note. */
export class KeySums {
  readonly #names: readonly string[]
  readonly #multipliers: readonly bigint[]
  readonly #keys: DecodedKeys
  #count = 0
  #terms: MultiScalar | undefined
  /** Where each member's term stands; undefined: its key is infinity, or none. */
  readonly #termPlace = new Map<number, number>()

  /**
   * @param keys - compressed, 48 bytes each
   * @param multipliers - from 1 to 2^128, one for each key
   * @param before - a group whose points are taken over where keys are the same
   * @throws WebAssembly.CompileError where there are no vector instructions
   */
  constructor(keys: readonly Uint8Array[], multipliers: readonly bigint[], before?: KeySums) {
    this.#names = keys.map(latin1)
    this.#multipliers = multipliers
    const known = before === undefined ? undefined : before.#keys
    const isKnown = known !== undefined && this.#names.every((name) => known.has(name))
    this.#keys = isKnown
      ? known
      : new DecodedKeys(new Map(keys.map((key, i) => [this.#names[i] as string, key])), known)
  }

  /**
   * @param members - indices into the keys, each once
   * @returns compressed; undefined when a member's key is no point of the group
   */
  sum(members: readonly number[]): Uint8Array | undefined {
    if (members.some((member) => this.#keys.point(this.#names[member] as string) === undefined)) return undefined
    this.#count++
    return tools().encode(this.#count <= SUMS_BEFORE_TERMS ? this.#sumOfKeys(members) : this.#sumOfTerms(members))
  }

  #sumOfKeys(members: readonly number[]): Point {
    return this.#keys.sum(members.map((at) => [this.#names[at] as string, this.#multipliers[at] as bigint]))
  }

  #sumOfTerms(members: readonly number[]): Point {
    this.#terms ??= this.#makeTerms()
    const terms = this.#terms
    const isMember = new Uint8Array(terms.count)
    for (const member of members) {
      const place = this.#termPlace.get(member)
      if (place !== undefined) isMember[place] = 1
    }
    const [others, own]: [number[], number[]] = [[], []]
    for (const [place, is] of isMember.entries()) (is === 1 ? own : others).push(place)
    return (own.length <= others.length ? terms.sumOf(own) : terms.sumWithout(others)) ?? 'infinity'
  }

  /** Each key times its multiplier, which is below the order: infinity only where the key is. */
  #makeTerms(): MultiScalar {
    const sound: { readonly point: Uint8Array; readonly multiplier: bigint }[] = []
    for (const [member, name] of this.#names.entries()) {
      const point = this.#keys.point(name)
      if (!(point instanceof Uint8Array)) continue
      this.#termPlace.set(member, sound.length)
      sound.push({ point, multiplier: this.#multipliers[member] as bigint })
    }
    const terms = inStretches(sound, (some) =>
      tools().multiply(
        some.map(({ point }) => point),
        some.map(({ multiplier }) => multiplier),
      ),
    )
    return new MultiScalar(concatBytes(...(terms as Uint8Array[])))
  }
}
