/**
 * Heads that sources and peers name: each is walked down to the newest final tipset, checked from there upwards, and is the head
 * when it is the heaviest. None is final, and the state that one claims is proven by nothing.
 */
import { errorMessage } from '../base/errors.ts'
import type { Logger, Timers } from '../base/ports.ts'
import { withTimeout } from '../base/waiting.ts'
import type { ChainView } from '../chain/chainView.ts'
import { networkPower } from '../chain/networkPower.ts'
import { tipsetWeight } from '../chain/weight.ts'
import { type BlockValidation, checkDistinctMiners, validateAboveFinal } from '../consensus/validateBlock.ts'
import type { BlockEdge } from '../ipld/blockFetcher.ts'
import { equalTipsetKeys, firstBlock, type Tipset, type TipsetKey, tipsetKeyText } from '../types/tipset.ts'
import { LightError } from './errors.ts'
import type { LightSource, NamedHead } from './lightSource.ts'
import { MAX_OFFERED_HEADS } from './limits.ts'
import type { SourceSet } from './sourceSet.ts'

/** Tipsets above the final one that are walked at most: further below a head F3 stands still, and the head is not followed. */
export const MAX_ABOVE = 900

/** What {@link NamedHeads} is made of. */
export interface NamedHeadsDeps {
  readonly view: ChainView
  readonly sources: SourceSet
  /** Runs what reads the chain, fetching blocks that are missing. */
  readonly edge: BlockEdge
  readonly validation: BlockValidation
  readonly timers: Timers
  readonly log: Logger
  /** Hears who named a head that was sound. */
  readonly onUseful?: (by: string) => void
}

/** What is noted of a tipset that was checked and is sound. @param name - its key's text */
function validOf(name: string): string {
  return `valid ${name}`
}

/** See the file's note. */
export class NamedHeads {
  readonly #deps: NamedHeadsDeps
  /** The newest of each who named one, by name; who did so first is first. */
  readonly #offered = new Map<string, NamedHead>()
  /** Who named heads that were sound, the last ones: strangers cannot keep theirs from being looked at. */
  readonly #useful = new Set<string>()
  readonly #checked = new Set<string>()

  constructor(deps: NamedHeadsDeps) {
    this.#deps = deps
  }

  /**
   * Keeps a head to be looked at, in place of an older one of who names it.
   * @param by - who names it
   * @returns whether it is new
   */
  offer(head: NamedHead, by: string): boolean {
    const name = tipsetKeyText(head.key)
    if (this.#checked.has(validOf(name))) this.#wasUseful(by)
    if (head.key.length === 0 || this.#checked.has(name)) return false
    this.#offered.delete(by)
    this.#offered.set(by, head)
    if (this.#offered.size > MAX_OFFERED_HEADS) this.#forgetOne()
    return true
  }

  #forgetOne(): void {
    const all = [...this.#offered.keys()]
    this.#offered.delete(all.find((by) => !this.#useful.has(by)) ?? (all[0] as string))
  }

  #wasUseful(by: string): void {
    this.#useful.delete(by)
    this.#useful.add(by)
    this.#deps.onUseful?.(by)
    const [oldest] = this.#useful
    if (this.#useful.size > MAX_OFFERED_HEADS) this.#useful.delete(oldest as string)
  }

  /**
   * Looks at all that are named now, side by side: one that nobody has keeps no other waiting.
   * @param ms - for all of them; what was fetched by then is there the next time
   * @param asksSources - whether those that can be asked for their head are asked
   * @throws the signal's reason
   */
  async follow(final: Tipset, ms: number, asksSources: boolean, signal: AbortSignal): Promise<void> {
    const late = (): LightError => new LightError('NO_ANSWER', 'no time is left for the heads that were named')
    const asked = asksSources ? this.#deps.sources.inOrder() : []
    try {
      await withTimeout(this.#deps.timers, ms, late, (inner) => this.#followAll(final, asked, inner), signal)
    } catch (error) {
      signal.throwIfAborted()
      this.#deps.log.debug('not every named head was looked at', { reason: errorMessage(error) })
    }
    if (this.#checked.size > MAX_ABOVE * MAX_OFFERED_HEADS) this.#checked.clear()
  }

  async #followAll(final: Tipset, asked: readonly LightSource[], signal: AbortSignal): Promise<void> {
    const { sources, view } = this.#deps
    const offered = [...this.#offered]
    this.#offered.clear()
    const seen = new Set<string>()
    const look = async (named: NamedHead, by?: string): Promise<void> => {
      const name = tipsetKeyText(named.key)
      if (seen.has(name) || named.height <= final.height || named.height <= view.store.head().height) return
      seen.add(name)
      this.#checked.add(name)
      try {
        await this.#walk(named.key, final, signal)
        if (by !== undefined) this.#wasUseful(by)
      } catch (error) {
        // What there was no time for is looked at when it is named again.
        if (signal.aborted) this.#checked.delete(name)
        this.#deps.log.debug('a named head was not taken', { height: named.height, reason: errorMessage(error) })
      }
    }
    const answered = asked.map(async (source) => {
      const { head } = source
      // A source that fails is blamed where it is asked.
      const named = head && (await sources.ask(source, (inner) => head(inner), signal).catch(() => undefined))
      if (named !== undefined) await look(named)
    })
    await Promise.all([...offered.map(([by, named]) => look(named, by)), ...answered])
  }

  /** Walks a named head down to the final tipset, checks upwards, and takes it when it is heavier. */
  async #walk(key: TipsetKey, final: Tipset, signal: AbortSignal): Promise<void> {
    const { edge, view } = this.#deps
    const chain = await edge(() => this.#chainDownTo(key, final), signal)
    for (const tipset of chain) {
      const name = validOf(tipsetKeyText(tipset.key))
      if (this.#checked.has(name)) continue
      await edge(() => this.#check(tipset, final), signal)
      this.#checked.add(name)
    }
    const top = chain.at(-1)
    if (top === undefined) return
    // In one run, the change last: another head may be taken meanwhile.
    await edge(() => {
      signal.throwIfAborted()
      const { store } = view
      const head = store.head()
      const present = this.#chainDownTo(head.key, final)
      if (this.#weightAbove(chain, final) <= this.#weightAbove(present, final)) return
      store.setHead(top)
    }, signal)
  }

  /**
   * What tipsets above the final one weigh, all by the power that the final state has: by the states that they claim, a block
   * could give itself any weight.
   */
  #weightAbove(chain: readonly Tipset[], final: Tipset): bigint {
    const { view } = this.#deps
    const { qualityAdjusted } = networkPower(view.store.blocks, view.codes, view.stateBefore(final))
    const own = (tipset: Tipset): bigint => tipsetWeight(tipset, qualityAdjusted) - firstBlock(tipset).parentWeight
    return chain.reduce((sum, tipset) => sum + own(tipset), 0n)
  }

  /** Lowest first, without the final tipset. @throws LightError `SOURCE_LIED` */
  #chainDownTo(key: TipsetKey, final: Tipset): Tipset[] {
    const { store } = this.#deps.view
    const out: Tipset[] = []
    for (let at = store.tipset(key); ; at = store.parent(at)) {
      if (equalTipsetKeys(at.key, final.key)) return out.reverse()
      if (at.height <= final.height) {
        throw new LightError('SOURCE_LIED', `a head whose chain contradicts what is final at epoch ${final.height}`)
      }
      if (out.length >= MAX_ABOVE) throw new LightError('NO_ANSWER', 'a head too far above what is final')
      out.push(at)
    }
  }

  /** @throws ValidationError */
  #check(tipset: Tipset, final: Tipset): void {
    const { validation, view } = this.#deps
    checkDistinctMiners(tipset)
    const base = view.store.parent(tipset)
    const state = view.stateBefore(final)
    const lookback = (): { tipset: Tipset; state: typeof state } => ({ tipset: final, state })
    for (const header of tipset.blocks) validateAboveFinal({ header, base }, { ...validation, lookback })
  }
}
