/**
 * Where a shown value comes from, and so how far it can be relied on.
 *
 * `proven`: the node in this tab validated the header that the value hangs on, and the value follows from that header by
 * hashes alone (or by the tab's own execution). `peer`: a peer of the tab's node said so. `server`: the node at the other
 * end of the connection said so; that the page recomputes block CIDs only shows that the server contradicts itself when
 * it does.
 */
import { type TipsetKey, tipsetKeyText } from 'petrel'

export type Source = 'proven' | 'peer' | 'server'

/** What a connection says about the node behind it. */
export interface Trust {
  /** `tab`: the node runs in this tab. */
  readonly kind: 'tab' | 'server'
  /**
   * Whether the tab's node validated this tipset itself: its headers and all before them back to what it was started from.
   * A server's word for it does not count.
   */
  isValidated(key: TipsetKey): boolean | Promise<boolean>
}

/** A node at the other end of a connection proves nothing. */
export const SERVER_TRUST: Trust = { kind: 'server', isValidated: () => false }

/**
 * The tipsets that are known to be validated. A tipset is asked for once; its ancestors follow from it by hash, since
 * {@link ChainWindow} only holds ancestors whose CIDs it recomputed.
 */
export class Evidence {
  readonly #trust: Trust
  readonly #validated = new Set<string>()

  constructor(trust: Trust) {
    this.#trust = trust
  }

  /** What is not (or not yet) proven. */
  get word(): Source {
    return this.#trust.kind === 'tab' ? 'peer' : 'server'
  }

  /** Asks the tab's node about a head; a question that fails proves nothing. */
  async check(head: TipsetKey): Promise<Source> {
    const key = tipsetKeyText(head)
    if (this.#validated.has(key)) return 'proven'
    if (this.#trust.kind !== 'tab') return this.word
    try {
      if (!(await this.#trust.isValidated(head))) return this.word
    } catch {
      return this.word
    }
    this.#validated.add(key)
    return 'proven'
  }

  /** Of the state that a tipset's headers commit to. */
  source(key: TipsetKey): Source {
    return this.#validated.has(tipsetKeyText(key)) ? 'proven' : this.word
  }

  /** Ancestors of a validated tipset are validated. */
  inherit(child: TipsetKey, parent: TipsetKey): void {
    if (this.#validated.has(tipsetKeyText(child))) this.#validated.add(tipsetKeyText(parent))
  }
}
