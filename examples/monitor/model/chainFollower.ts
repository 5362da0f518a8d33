/** Follows the head: keeps the newest part of the chain, what is final in it, and what it says of the node. */
import {
  equalTipsetKeys,
  errorMessage,
  type HeadChange,
  RpcClientError,
  type Tipset,
  type TipsetKey,
  tipsetKeyText,
} from 'petrel'
import { ChainWindow, type TipsetView } from './chainWindow.ts'
import type { MonitorDeps } from './deps.ts'
import { MonitorError } from './errors.ts'
import type { Source } from './evidence.ts'
import { Finality } from './finality.ts'
import type { MonitorNode } from './methods.ts'
import type { Session } from './session.ts'

/** Epochs that the table shows. */
export const SHOWN_EPOCHS = 16
/** Epochs of block counts that the finality calculation wants. */
const KEPT_EPOCHS = 905
/** Tipsets that are asked for at once. */
const EXTEND_BY = 25
/** Reorganisations that are remembered. */
const KEPT_REORGS = 20

/**
 * `contradiction`: what the node gave does not fit the hashes that lead to it. `withheld`: it tells of a head whose chain it
 * does not give.
 */
export interface Fault {
  readonly kind: 'contradiction' | 'withheld'
  readonly text: string
}

/** Messages of one tipset. */
export type Contents =
  | { readonly at: 'known'; readonly count: number; readonly cids: ReadonlySet<string> }
  /** The node has the header but does not give the messages. */
  | { readonly at: 'withheld' }

/** Epochs that another chain replaced. */
export interface Reorg {
  readonly epochs: number
  /** The lowest of them. */
  readonly at: number
  /** This machine's clock, Unix milliseconds. */
  readonly seenMs: number
}

/** What the follower tells. */
export interface FollowerUser {
  /** The head moved; the next one waits until this is done. */
  moved(session: Session): Promise<void>
  /** All blocks that finality is counted from are here. */
  counted(session: Session): Promise<void>
  /** A head that nobody has told of: not shown. */
  isUntold(session: Session, head: Tipset): boolean
}

/** The head as it moves, and the window behind it. */
export class ChainFollower {
  readonly #deps: Pick<MonitorDeps, 'changed' | 'nowMs'>
  readonly #user: FollowerUser
  #session: Session | undefined
  #window: ChainWindow | undefined
  #headSource: Source = 'server'
  #finality: Finality | undefined
  readonly #contents = new Map<string, Contents>()
  #reorgs: readonly Reorg[] = []
  #fault: Fault | undefined
  /** Head changes are followed one after the other; of several that wait only the last counts. */
  #wanted: Tipset | undefined
  #isFollowing = false
  #isExtending = false

  constructor(deps: Pick<MonitorDeps, 'changed' | 'nowMs'>, user: FollowerUser) {
    this.#deps = deps
    this.#user = user
  }

  get window(): ChainWindow | undefined {
    return this.#window
  }

  get head(): TipsetView | undefined {
    return this.#window?.head
  }

  get headSource(): Source {
    return this.#headSource
  }

  /** undefined: blocks are still being counted. */
  get finality(): Finality | undefined {
    return this.#finality
  }

  /** Newest first. */
  get reorgs(): readonly Reorg[] {
    return this.#reorgs
  }

  /** What keeps the shown chain from following the node's head; undefined: nothing. */
  get fault(): Fault | undefined {
    return this.#fault
  }

  contentsOf(key: TipsetKey): Contents | undefined {
    return this.#contents.get(tipsetKeyText(key))
  }

  /** The tipset of the window that holds a message; undefined: none. */
  inclusion(cid: string): { height: number; tipset: TipsetKey } | undefined {
    const tipset = this.#window?.tipsets.findLast(({ key }) => {
      const contents = this.contentsOf(key)
      return contents?.at === 'known' && contents.cids.has(cid)
    })
    return tipset === undefined ? undefined : { height: tipset.height, tipset: tipset.key }
  }

  /** @param isSame - of the chain that is shown: what is shown of it stays until the new head is there */
  open(session: Session, isSame: boolean): void {
    this.#session = session
    if (!isSame) this.#forget()
    this.#window ??= new ChainWindow(
      {
        tipset: (key) => this.#node().ChainGetTipSet(key),
        below: (child, count) => loadBelow(this.#node(), child, count),
      },
      session.info.prefix,
      KEPT_EPOCHS,
    )
  }

  close(): void {
    this.#session = undefined
  }

  changes(changes: readonly HeadChange[]): void {
    const last = changes.findLast(({ kind }) => kind !== 'revert')
    if (last === undefined) return
    this.#wanted = last.tipset
    if (!this.#isFollowing) void this.#followAll()
  }

  #forget(): void {
    this.#window = undefined
    this.#contents.clear()
    this.#finality = undefined
    this.#reorgs = []
    this.#fault = undefined
  }

  #node(): MonitorNode {
    if (this.#session === undefined) throw new RpcClientError('CLOSED', 'there is no connection')
    return this.#session.node
  }

  async #followAll(): Promise<void> {
    this.#isFollowing = true
    try {
      while (this.#wanted !== undefined) {
        const head = this.#wanted
        this.#wanted = undefined
        await this.#follow(head)
      }
    } finally {
      this.#isFollowing = false
    }
  }

  async #follow(head: Tipset): Promise<void> {
    const session = this.#session
    const window = this.#window
    if (window === undefined || session === undefined || this.#user.isUntold(session, head)) return
    const before = window.head
    try {
      const source = await session.evidence.check(head.key)
      const { reverted } = await window.follow(head, SHOWN_EPOCHS)
      this.#fault = undefined
      this.#headSource = source
      inherit(session, window)
      const lowest = reverted.at(-1)
      if (before !== undefined && lowest !== undefined) {
        const reorg = { epochs: before.height - lowest.height + 1, at: lowest.height, seenMs: this.#deps.nowMs() }
        this.#reorgs = [reorg, ...this.#reorgs].slice(0, KEPT_REORGS)
      }
    } catch (error) {
      this.#report(error)
      return
    }
    if (window.isWhole) this.#finality = Finality.of(window)
    this.#deps.changed('head')
    this.#deps.changed('epochs')
    const { isLight } = session.connection
    if (isLight !== true) await this.#readContents(window, session)
    await this.#user.moved(session)
    // A light node would have to fetch it all.
    if (!window.isWhole && isLight !== true) void this.#extend(window, session)
  }

  #report(error: unknown): void {
    if (error instanceof MonitorError) this.#fault = { kind: 'contradiction', text: error.message }
    else if (error instanceof RpcClientError && error.code === 'CLOSED') return
    else this.#fault = { kind: 'withheld', text: errorMessage(error) }
    this.#deps.changed('head')
  }

  async #extend(window: ChainWindow, session: Session): Promise<void> {
    if (this.#isExtending) return
    this.#isExtending = true
    try {
      while (!window.isWhole && this.#window === window && this.#session === session) {
        await window.extend(EXTEND_BY)
        this.#deps.changed('epochs')
      }
      if (this.#window !== window || this.#session !== session) return
      inherit(session, window)
      this.#finality = Finality.of(window)
      this.#deps.changed('head')
      this.#deps.changed('epochs')
      await this.#user.counted(session)
    } catch (error) {
      this.#report(error)
    } finally {
      this.#isExtending = false
    }
  }

  async #readContents(window: ChainWindow, { node }: Session): Promise<void> {
    const shown = window.epochs(SHOWN_EPOCHS).flatMap(({ tipset }) => (tipset === undefined ? [] : [tipset]))
    const missing = shown.filter(({ key }) => this.contentsOf(key)?.at !== 'known')
    await Promise.all(
      missing.map(async ({ key }) => {
        try {
          const messages = await node.ChainGetMessagesInTipset(key)
          const cids = new Set(messages.map(({ cid }) => cid.toString()))
          this.#contents.set(tipsetKeyText(key), { at: 'known', count: messages.length, cids })
        } catch (error) {
          if (!(error instanceof RpcClientError) || error.code !== 'REMOTE') return
          this.#contents.set(tipsetKeyText(key), { at: 'withheld' })
        }
      }),
    )
    const kept = new Set(window.tipsets.map(({ key }) => tipsetKeyText(key)))
    for (const key of this.#contents.keys()) if (!kept.has(key)) this.#contents.delete(key)
    this.#deps.changed('epochs')
  }
}

/** What is below a validated tipset by hash is validated with it. */
function inherit({ evidence }: Session, { tipsets }: ChainWindow): void {
  for (let i = tipsets.length - 1; i > 0; i--) {
    evidence.inherit((tipsets[i] as TipsetView).key, (tipsets[i - 1] as TipsetView).key)
  }
}

/** Asked for by height, many at once: one after the other a slow link would take minutes. The window checks that they link. */
async function loadBelow(node: MonitorNode, { height, key }: TipsetView, count: number): Promise<Tipset[]> {
  const heights = Array.from({ length: Math.min(count, height) }, (_, i) => height - 1 - i)
  const answers = await Promise.all(heights.map((below) => node.ChainGetTipSetByHeight(below, key)))
  // At a null round the tipset below it comes.
  return answers.filter((tipset, i) => i === 0 || !equalTipsetKeys(tipset.key, (answers[i - 1] as Tipset).key))
}
