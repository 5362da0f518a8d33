import type { BlockEdge } from '../ipld/blockFetcher.ts'
import { type Tipset, tipsetKeyText } from '../types/tipset.ts'

/**
 * Whose executions may fetch what they miss in their midst: those on tipsets for which somebody asks who may. Known by tipset, since equal
 * questions are one run. Where this is not known a run ends with each block that is missing, and begins again.
 */
export class FetchedRuns {
  readonly #asked = new Map<string, { readonly edge: BlockEdge; askers: number }>()

  /** @returns ends it */
  begin(tipset: Tipset, edge: BlockEdge): () => void {
    const key = tipsetKeyText(tipset.key)
    const asked = this.#asked.get(key) ?? { edge, askers: 0 }
    asked.askers++
    this.#asked.set(key, asked)
    return () => {
      if (--asked.askers === 0) this.#asked.delete(key)
    }
  }

  /** undefined: they may not. */
  edge(tipset: Tipset): BlockEdge | undefined {
    return this.#asked.get(tipsetKeyText(tipset.key))?.edge
  }
}
