/**
 * Tipsets to be synchronised to, in buckets of tipsets that follow each other.
 * @see lotus chain/sync_manager.go syncBucketSet, syncTargetBucket, syncBuffer
 */
import { createTipset, equalTipsetKeys, firstBlock, sameCids, type Tipset } from '../types/tipset.ts'
import { MAX_TARGET_BLOCKS, MAX_WAITING_TARGETS, RECENT_TARGETS } from './limits.ts'

/** Whether `a` has the more weight below it. */
export function isHeavier(a: Tipset, b: Tipset): boolean {
  return firstBlock(a).parentWeight > firstBlock(b).parentWeight
}

function sameParents(a: Tipset, b: Tipset): boolean {
  return a.height === b.height && equalTipsetKeys(firstBlock(a).parents, firstBlock(b).parents)
}

/** Equal, parent and child, or blocks of one epoch on the same parents. */
export function isRelated(a: Tipset, b: Tipset): boolean {
  return (
    equalTipsetKeys(a.key, b.key) ||
    sameCids(firstBlock(b).parents, a.key) ||
    sameCids(firstBlock(a).parents, b.key) ||
    sameParents(a, b)
  )
}

/** The blocks of two tipsets of the same epoch and parents as one, undefined where there would be too many. */
export function joined(a: Tipset, b: Tipset): Tipset | undefined {
  const known = new Set(a.key.map((cid) => cid.key))
  const more = b.blocks.filter((_block, i) => !known.has(b.key[i]?.key ?? ''))
  if (more.length === 0) return a
  if (a.blocks.length + more.length > MAX_TARGET_BLOCKS) return undefined
  return createTipset([...a.blocks, ...more])
}

/** The heaviest of some; of equals the first. */
function heaviestOf(tipsets: readonly Tipset[]): Tipset | undefined {
  let best: Tipset | undefined
  for (const candidate of tipsets) if (best === undefined || isHeavier(candidate, best)) best = candidate
  return best
}

/** Waiting targets; the lightest are dropped when there are too many. */
export class TargetBuckets {
  #buckets: Tipset[][] = []
  #size = 0

  get isEmpty(): boolean {
    return this.#buckets.length === 0
  }

  isRelated(tipset: Tipset): boolean {
    return this.#buckets.some((bucket) => bucket.some((member) => isRelated(member, tipset)))
  }

  insert(tipset: Tipset): void {
    const bucket = this.#buckets.find((candidate) => candidate.some((member) => isRelated(member, tipset)))
    if (bucket === undefined) {
      this.#buckets.push([tipset])
      this.#size++
    } else if (!this.#join(bucket, tipset)) {
      bucket.push(tipset)
      this.#size++
    }
    if (this.#size > MAX_WAITING_TARGETS) this.#dropLightest()
  }

  /** Takes out all that is related to `tipset`. */
  takeRelated(tipset: Tipset): Tipset | undefined {
    const related = this.#buckets.filter((bucket) => bucket.some((member) => isRelated(member, tipset)))
    for (const bucket of related) this.#remove(bucket)
    return heaviestOf(related.flat())
  }

  /** Takes out the bucket with the heaviest tipset, and gives that tipset. */
  takeHeaviest(): Tipset | undefined {
    const heaviest = this.heaviest()
    const bucket = heaviest === undefined ? undefined : this.#buckets.find((candidate) => candidate.includes(heaviest))
    if (bucket !== undefined) this.#remove(bucket)
    return heaviest
  }

  /** Takes everything out, the heaviest first. */
  takeAll(): Tipset[] {
    const all = this.#buckets.flat()
    this.#buckets = []
    this.#size = 0
    return all.sort((a, b) => (isHeavier(a, b) ? -1 : Number(isHeavier(b, a))))
  }

  heaviest(): Tipset | undefined {
    return heaviestOf(this.#buckets.flat())
  }

  #join(bucket: Tipset[], tipset: Tipset): boolean {
    const at = bucket.findIndex((member) => sameParents(member, tipset))
    if (at < 0) return false
    bucket[at] = joined(bucket[at] as Tipset, tipset) ?? (bucket[at] as Tipset)
    return true
  }

  #remove(bucket: Tipset[]): void {
    this.#buckets = this.#buckets.filter((candidate) => candidate !== bucket)
    this.#size -= bucket.length
  }

  #dropLightest(): void {
    let lightest: Tipset | undefined
    for (const candidate of this.#buckets.flat())
      if (lightest === undefined || isHeavier(lightest, candidate)) lightest = candidate
    const bucket = this.#buckets.find((candidate) => candidate.includes(lightest as Tipset))
    if (bucket === undefined) return
    bucket.splice(bucket.indexOf(lightest as Tipset), 1)
    this.#size--
    if (bucket.length === 0) this.#remove(bucket)
  }
}

/** The last targets that were reached. */
export class RecentTargets {
  readonly #targets: Tipset[] = []

  push(tipset: Tipset): void {
    this.#targets.push(tipset)
    if (this.#targets.length > RECENT_TARGETS) this.#targets.shift()
  }

  has(tipset: Tipset): boolean {
    return this.#targets.some((target) => equalTipsetKeys(target.key, tipset.key))
  }
}
