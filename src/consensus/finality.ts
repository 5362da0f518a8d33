/**
 * Which tipsets are final: by the calculator of FRC-0089, by F3's certificates, or by 900 epochs alone.
 * @see lotus chain/ecfinality/cache.go; node/impl/full/chain_v2.go; node/impl/eth/tipsetresolver.go
 */
import type { ChainStore } from '../chain/chainStore.ts'
import { BlockMissing } from '../ipld/errors.ts'
import { equalTipsetKeys, type Tipset } from '../types/tipset.ts'
import { EC_FINALITY_WINDOW, finalityDepth, reorgProbability } from './ecFinality.ts'

/** What the calculator says about a head. */
export interface EcFinality {
  /** Epochs below the head; undefined: the chain is too young or has too few blocks. */
  readonly depth: number | undefined
  /** The tipset at that depth. */
  readonly tipset: Tipset | undefined
}

/** Everything that is known about finality. */
export interface FinalityStatus {
  readonly ec: EcFinality
  /** By certificate; undefined without F3, or while it is further behind than 900 epochs. */
  readonly f3: Tipset | undefined
  readonly finalized: Tipset
  readonly head: Tipset
}

/** The chain, F3 if there is one, and the network's distances in epochs. */
export interface FinalityDeps {
  readonly store: ChainStore
  /** Epochs after which a tipset is final whatever happens (900). */
  readonly chainFinality: number
  /** Epochs behind the head that "safe" stands for, at least (200). */
  readonly safeDistance: number
  /** The newest tipset that a certificate made final. */
  readonly f3?: () => Tipset | undefined
  /** Calls back with each newer certificate. @returns what ends that */
  readonly onF3?: (listener: () => void) => () => void
  /** The headers that blocks would be counted by are not at hand, and not to be fetched: a light node. */
  readonly byCertificatesAlone?: boolean
}

/** Answers about finality; the calculator runs once per head. */
export class Finality {
  readonly #deps: FinalityDeps
  #blocks: readonly number[] | undefined
  #head: Tipset | undefined
  #ec: EcFinality | undefined

  constructor(deps: FinalityDeps) {
    this.#deps = deps
  }

  /** What the calculator says about the head. */
  ec(): EcFinality {
    if (this.#deps.byCertificatesAlone === true) return { depth: undefined, tipset: undefined }
    const head = this.#atHead()
    if (this.#ec === undefined) {
      const depth = this.#blocks === undefined ? undefined : finalityDepth(this.#blocks)
      const tipset = depth === undefined ? undefined : this.#behind(head, depth)
      this.#ec = { depth, tipset }
    }
    return this.#ec
  }

  /**
   * The probability, at most, that a tipset of the head's chain is reorganised away by an adversary.
   * @param height - of the tipset
   * @returns undefined where the calculator has too little to go by
   */
  probability(height: number): number | undefined {
    if (this.#deps.byCertificatesAlone === true) return undefined
    const head = this.#atHead()
    const depth = head.height - height
    return this.#blocks === undefined || depth < 1 || depth >= this.#blocks.length
      ? undefined
      : reorgProbability(this.#blocks, depth)
  }

  /** Final without F3. */
  ecFinalized(): Tipset {
    if (this.#deps.byCertificatesAlone === true) return this.#deps.f3?.() ?? this.#deps.store.genesis()
    return this.ec().tipset ?? this.#behind(this.#deps.store.head(), this.#deps.chainFinality)
  }

  /** Final by either. */
  finalized(): Tipset {
    const ec = this.ecFinalized()
    const f3 = this.#deps.f3?.()
    return f3 !== undefined && f3.height > ec.height ? f3 : ec
  }

  /** Calls back when a certificate may have made more final; heads, which do so too, are the store's to tell. @returns what ends that */
  onCertificate(listener: () => void): () => void {
    return this.#deps.onF3?.(listener) ?? (() => undefined)
  }

  /** Final, or so far behind the head that it nearly is. */
  safe(): Tipset {
    const { store, safeDistance } = this.#deps
    const head = store.head()
    const finalized = this.finalized()
    if (this.#deps.byCertificatesAlone === true) return finalized
    return finalized.height >= head.height - safeDistance ? finalized : this.#behind(head, safeDistance)
  }

  status(): FinalityStatus {
    const head = this.#deps.store.head()
    const f3 = this.#deps.f3?.()
    const near = f3 !== undefined && head.height - f3.height <= this.#deps.chainFinality ? f3 : undefined
    const ec = this.ecFinalized()
    return { ec: this.ec(), f3: near, finalized: near !== undefined && near.height > ec.height ? near : ec, head }
  }

  #behind(head: Tipset, distance: number): Tipset {
    return this.#deps.store.tipsetByHeight(Math.max(0, head.height - distance), head, 'previous')
  }

  /** Counts the blocks of each epoch anew where the head is another. */
  #atHead(): Tipset {
    const head = this.#deps.store.head()
    if (this.#head !== undefined && equalTipsetKeys(this.#head.key, head.key)) return head
    this.#ec = undefined
    this.#blocks = this.#blockCounts(head)
    this.#head = head
    return head
  }

  /** Oldest first; undefined on a chain shorter than the window, or whose headers are not all at hand. */
  #blockCounts(head: Tipset): number[] | undefined {
    if (head.height < EC_FINALITY_WINDOW - 1) return undefined
    const counts: number[] = []
    try {
      for (let tipset = head; ; ) {
        counts.push(tipset.blocks.length)
        if (counts.length >= EC_FINALITY_WINDOW) break
        const parent = this.#deps.store.parent(tipset)
        for (let nulls = tipset.height - parent.height - 1; nulls > 0 && counts.length < EC_FINALITY_WINDOW; nulls--) {
          counts.push(0)
        }
        if (counts.length >= EC_FINALITY_WINDOW) break
        tipset = parent
      }
    } catch (error) {
      if (error instanceof BlockMissing) return undefined
      throw error
    }
    return counts.reverse()
  }
}
