import { parseCid, type TipsetKey, type TokenAmount } from 'petrel'
import { ChainFollower, type Contents, type Fault, type Reorg } from './chainFollower.ts'
import type { ChainWindow, TipsetView } from './chainWindow.ts'
import type { Connection, LinkState } from './connection.ts'
import type { MonitorDeps } from './deps.ts'
import type { Source } from './evidence.ts'
import { FeeHistory, type FeePoint, type FeeSpan } from './feeHistory.ts'
import type { Finality } from './finality.ts'
import { type Freshness, freshness } from './freshness.ts'
import { candidates, HeldUpMessages, type NonceGap, nonceGaps, type StuckMessage } from './heldUp.ts'
import { Link } from './link.ts'
import type { MonitorNode } from './methods.ts'
import { NodeNews } from './nodeNews.ts'
import type { Pool } from './pool.ts'
import { PoolWatch } from './poolWatch.ts'
import { type ChainInfo, isSameChain, openSession, type Session } from './session.ts'
import { loadSettings, type Settings, saveSettings } from './settings.ts'
import { type TrackRow, Tracks } from './tracks.ts'
import { readAddress } from './watch.ts'
import { type StatePlace, Watchlist, type WatchRow } from './watchlist.ts'

const MS = 1000

/**
 * What the page shows, kept up to date: the parts, each with an idea of its own, and what makes them ask anew. It knows no
 * document; a view is told which part changed.
 */
export class Monitor {
  readonly #deps: MonitorDeps
  #settings: Settings
  readonly #link: Link
  readonly #chain: ChainFollower
  readonly poolWatch: PoolWatch
  readonly #watchlist = new Watchlist()
  readonly #tracks = new Tracks()
  readonly #fees = new FeeHistory()
  readonly #heldUp = new HeldUpMessages()
  readonly news: NodeNews
  #session: Session | undefined
  #info: ChainInfo | undefined
  #otherChain: { readonly before: string; readonly now: string } | undefined
  #feeSpan: FeeSpan = '1h'

  constructor(deps: MonitorDeps) {
    this.#deps = deps
    this.#settings = loadSettings(deps.storage)
    this.poolWatch = new PoolWatch(deps.nowMs)
    this.news = new NodeNews(deps, {
      isBehind: () => this.head === undefined || this.freshness?.at === 'stale',
      proven: (session) => this.#readWatched(session),
    })
    this.#link = new Link(deps, { opened: (connection) => this.#opened(connection), closed: () => this.#closed() })
    this.#chain = new ChainFollower(deps, {
      moved: (session) => this.#moved(session),
      counted: (session) => this.#readMessages(session),
      // A follower begins with its genesis: nobody has told it of a chain yet.
      isUntold: ({ connection }, { height }) =>
        height === 0 && connection.isFollower === true && this.news.light?.final == null,
    })
  }

  get link(): LinkState {
    return this.#link.state
  }

  get info(): ChainInfo | undefined {
    return this.#info
  }

  get settings(): Settings {
    return this.#settings
  }

  /** The node that is asked now; undefined: none. */
  get node(): MonitorNode | undefined {
    return this.#session?.node
  }

  /** The node came back with another chain than the one that was shown. */
  get otherChain(): { readonly before: string; readonly now: string } | undefined {
    return this.#otherChain
  }

  get head(): TipsetView | undefined {
    return this.#chain.head
  }

  get headSource(): Source {
    return this.#chain.headSource
  }

  /** Of what no header commits to: the pool, the peers. */
  get wordSource(): Source {
    return this.#session?.evidence.word ?? 'server'
  }

  get window(): ChainWindow | undefined {
    return this.#chain.window
  }

  /** undefined: blocks are still being counted. */
  get finality(): Finality | undefined {
    return this.#chain.finality
  }

  /** Reorganisations that were seen, newest first. */
  get reorgs(): readonly Reorg[] {
    return this.#chain.reorgs
  }

  /** What keeps the shown chain from following the node's head; undefined: nothing. */
  get fault(): Fault | undefined {
    return this.#chain.fault
  }

  get pool(): Pool {
    return this.poolWatch.pool
  }

  get areTransfersKnown(): boolean {
    return this.#watchlist.isRead
  }

  get transfersError(): string | undefined {
    return this.#watchlist.transfersError
  }

  get freshness(): Freshness | undefined {
    const { head, info } = this
    if (head === undefined || info === undefined) return undefined
    return freshness(head.timestamp, this.#deps.nowMs() / MS, info.blockDelay)
  }

  /** Messages of ours that something holds up. */
  get stuck(): readonly StuckMessage[] {
    return this.#heldUp.stuck
  }

  /** Holes in the nonces of watched senders, but those that {@link stuck} tells of. */
  get gaps(): readonly NonceGap[] {
    const told = this.stuck.filter(({ reason }) => reason.code === 'NONCE_GAP').map(({ from }) => from)
    return nonceGaps(this.pool, this.#senders()).filter(({ from }) => !told.includes(from))
  }

  get feeSpan(): FeeSpan {
    return this.#feeSpan
  }

  /** Oldest first. */
  get feePoints(): FeePoint[] {
    return this.#fees.points(this.#feeSpan, this.#info?.blockDelay ?? 1, this.window?.tipsets ?? [])
  }

  get feeError(): string | undefined {
    return this.#fees.error
  }

  contentsOf(key: TipsetKey): Contents | undefined {
    return this.#chain.contentsOf(key)
  }

  sourceOf(key: TipsetKey): Source {
    return this.#session?.evidence.source(key) ?? this.wordSource
  }

  get watchRows(): WatchRow[] {
    return this.#watchlist.rows(this.#settings.watched, this.pool, this.wordSource)
  }

  get trackRows(): TrackRow[] {
    return this.#settings.tracked.map((cid) => this.#tracks.row(cid, this.wordSource))
  }

  /** Prints an address with the network's letter. @param address - with the letter f */
  readonly print = (address: string): string => ((this.#info?.prefix ?? 'f') === 'f' ? address : `t${address.slice(1)}`)

  start(): void {
    this.#link.start()
  }

  stop(): void {
    this.#closed()
    this.#link.stop()
  }

  /** Tries at once, without the pause. */
  retry(): void {
    this.#link.retry()
  }

  /** @throws CodecError when it is no address */
  watch(text: string, label: string): void {
    const address = readAddress(text).toString('f')
    const before = this.#settings.watched.find((entry) => entry.address === address)
    const others = this.#settings.watched.filter((entry) => entry !== before)
    this.#save({ ...this.#settings, watched: [...others, { ...before, address, label: label.trim() }] })
    this.#deps.changed('watch')
    this.#again((session) => this.#readWatched(session))
  }

  unwatch(address: string): void {
    this.#save({ ...this.#settings, watched: this.#settings.watched.filter((entry) => entry.address !== address) })
    this.#watchlist.drop(address)
    this.#deps.changed('watch')
  }

  /** @throws CodecError when it is no CID */
  track(text: string): void {
    const cid = parseCid(text.trim()).toString()
    this.#save({ ...this.#settings, tracked: [cid, ...this.#settings.tracked.filter((tracked) => tracked !== cid)] })
    this.#deps.changed('messages')
    this.#again((session) => this.#readMessages(session))
  }

  untrack(cid: string): void {
    this.#save({ ...this.#settings, tracked: this.#settings.tracked.filter((tracked) => tracked !== cid) })
    this.#tracks.drop(cid)
    this.#deps.changed('messages')
  }

  setConfirmations(confirmations: number): void {
    this.#save({ ...this.#settings, confirmations: Math.max(1, Math.floor(confirmations)) })
    this.#again((session) => this.#readMessages(session))
  }

  /** @param feeLimit - attoFIL per unit of gas; undefined: none */
  setFeeLimit(feeLimit: TokenAmount | undefined): void {
    this.#save({ ...this.#settings, feeLimit })
    this.#deps.changed('attention')
  }

  /** @param floor - attoFIL; undefined: none */
  setFloor(address: string, floor: TokenAmount | undefined): void {
    const watched = this.#settings.watched.map((entry) => (entry.address === address ? { ...entry, floor } : entry))
    this.#save({ ...this.#settings, watched })
    this.#deps.changed('watch')
  }

  setNotifies(notifies: boolean): void {
    this.#save({ ...this.#settings, notifies })
    this.#deps.changed('attention')
  }

  setFeeSpan(span: FeeSpan): void {
    this.#feeSpan = span
    this.#deps.changed('fees')
    this.#again((session) => this.#readFees(session))
  }

  /** The reader has seen that the chain is another one. */
  acknowledgeChain(): void {
    this.#otherChain = undefined
    this.#deps.changed('link')
  }

  #save(settings: Settings): void {
    this.#settings = settings
    saveSettings(this.#deps.storage, settings)
  }

  /** Does something with the session that is open. */
  #again(run: (session: Session) => Promise<void>): void {
    if (this.#session !== undefined) void run(this.#session)
  }

  /** Names of the watched addresses. */
  #senders(): string[] {
    return this.#settings.watched.flatMap(({ address }) => this.#watchlist.namesOf(address))
  }

  async #opened(connection: Connection): Promise<void> {
    const session = await openSession(connection)
    const { info, node } = session
    const before = this.#info
    // Whatever was shown of another chain goes; of the same one it stays until the new head is there.
    const isSame = before !== undefined && isSameChain(before, info)
    if (before !== undefined && !isSame) this.#otherChain = { before: before.network, now: info.network }
    if (!isSame) this.#forget()
    this.#info = info
    this.#session = session
    this.#watchlist.open(isSame)
    this.#chain.open(session, isSame)
    await node.ChainNotify({
      value: (changes) => this.#chain.changes(changes),
      end: (error) => this.#link.lost(connection, error ?? 'the node ended its news'),
    })
    this.news.open(session)
    await this.poolWatch.open(session, {
      changed: (isReplaced) => {
        this.#deps.changed('pool')
        this.#deps.changed('watch')
        if (isReplaced || this.#settings.tracked.length > 0) void this.#readMessages(session)
      },
      ended: () => this.#link.lost(connection, 'the node ended its news'),
    })
  }

  #closed(): void {
    this.news.close()
    this.#session = undefined
    this.#chain.close()
  }

  #forget(): void {
    this.#tracks.clear()
    this.#fees.clear()
    this.#heldUp.clear()
    this.news.forget()
    this.poolWatch.forget()
  }

  async #moved(session: Session): Promise<void> {
    this.poolWatch.sample()
    this.#deps.changed('pool')
    await Promise.all([this.#readWatched(session), this.#readMessages(session), this.#readFees(session)])
  }

  async #readFees(session: Session): Promise<void> {
    if (this.#feeSpan === '1h' && this.window?.isWhole !== true) return
    await this.#fees.load(session, this.#feeSpan, this.window?.tipsets ?? [], () => this.#deps.changed('fees'))
  }

  async #readWatched(session: Session): Promise<void> {
    const { watched } = this.#settings
    const place = this.#placeOf(session)
    if (place !== undefined) await this.#watchlist.readBalances(session, place, watched)
    this.#deps.changed('watch')
    if (watched.length === 0) return
    await this.#watchlist.readTransfers(session, this.window?.tipsets ?? [])
    this.#deps.changed('watch')
  }

  /** Where state is read: under the head; of a light node under its final tipset, where it is proven. */
  #placeOf({ connection }: Session): StatePlace | undefined {
    const isLight = connection.isLight === true
    const key = isLight ? this.news.light?.final?.key : this.head?.key
    return key === undefined ? undefined : { key, source: isLight ? 'proven' : this.sourceOf(key) }
  }

  async #readMessages(session: Session): Promise<void> {
    const { head, pool } = this
    const { tracked, confirmations } = this.#settings
    if (head === undefined) return
    const finalDepth = this.finality?.depth ?? Number.POSITIVE_INFINITY
    const inclusion = (cid: string): ReturnType<ChainFollower['inclusion']> => this.#chain.inclusion(cid)
    await Promise.all([
      this.#tracks.read(session, { head, pool, confirmations, finalDepth, inclusion }, tracked),
      this.#heldUp.read(session, candidates(pool, tracked, this.#senders())),
    ])
    this.#deps.changed('messages')
    this.#deps.changed('attention')
  }
}
