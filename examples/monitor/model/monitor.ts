/**
 * What the page shows, kept up to date: follows the head, and after each move asks anew what hangs on it. It knows no
 * document; a view is told which part changed.
 */
import { errorMessage } from '../../../src/base/errors.ts'
import type { HeadChange } from '../../../src/chain/headChange.ts'
import { type Cid, parseCid } from '../../../src/codec/cid.ts'
import { RpcClientError } from '../../../src/rpc/client/errors.ts'
import type { LightInfo } from '../../../src/rpc/signatures/light.ts'
import type { AddrInfo } from '../../../src/rpc/types/peerId.ts'
import { parseAddress } from '../../../src/types/address.ts'
import { messageCid } from '../../../src/types/message.ts'
import type { TokenAmount } from '../../../src/types/scalars.ts'
import { equalTipsetKeys, firstBlock, type Tipset, type TipsetKey, tipsetKeyText } from '../../../src/types/tipset.ts'
import { ChainWindow, type TipsetView } from './chainWindow.ts'
import type { Connect, Connection, LinkState } from './connection.ts'
import { MonitorError } from './errors.ts'
import { Evidence, type Source } from './evidence.ts'
import { Finality } from './finality.ts'
import { type Freshness, freshness } from './freshness.ts'
import { Pool } from './pool.ts'
import { loadSettings, type Settings, saveSettings, type TextStorage } from './settings.ts'
import { type Found, type MessageStage, type SenderNonce, stageOf } from './tracker.ts'
import { readAddress, type SeenTransfer, TransferLog } from './watch.ts'

/** Epochs that the table shows. */
export const SHOWN_EPOCHS = 16
/** Epochs of the base fee chart. */
export const CHART_EPOCHS = 120
/** Epochs of block counts that the finality calculation wants. */
const KEPT_EPOCHS = 905
const EXTEND_BY = 50
/** Epochs back in which messages are looked for. */
const SEARCH_EPOCHS = 2000
/** Epochs back in which transfers are looked for when an address is watched. */
const TRANSFER_EPOCHS = 60
const KEPT_TRANSFERS = 2000
const RETRY_MS = [500, 1000, 2000, 4000, 8000]
const PEERS_MS = 10_000
/** How often a light node is asked what it has proven. */
const LIGHT_MS = 2000
const MS = 1000

/** Parts of the page that change on their own. */
export type Part = 'link' | 'head' | 'epochs' | 'pool' | 'watch' | 'messages' | 'peers' | 'light'

/** What the page brings. */
export interface MonitorDeps {
  readonly connect: Connect
  readonly storage: TextStorage
  readonly nowMs: () => number
  readonly setTimer: (run: () => void, ms: number) => () => void
  readonly changed: (part: Part) => void
}

/** The chain that is shown. */
export interface ChainInfo {
  readonly network: string
  readonly agent: string
  /** Seconds per epoch. */
  readonly blockDelay: number
  readonly prefix: 'f' | 't'
  /** Of a local chain: addresses with funds, to begin with. */
  readonly suggestions: readonly string[]
  /** What the node takes for granted of storage proofs, as one line; empty: nothing, or it does not say. */
  readonly presumed: string
}

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

/** A watched address as it stands. */
export interface WatchRow {
  readonly address: string
  readonly label: string
  /** undefined: not known yet; null: there is no such actor. */
  readonly balance: TokenAmount | null | undefined
  readonly source: Source
  readonly transfers: readonly SeenTransfer[]
  /** What its pending messages would move. */
  readonly pendingOut: number
  readonly pendingIn: number
  readonly error: string | undefined
}

/** A tracked message as it stands. */
export interface TrackRow {
  readonly cid: string
  readonly stage: MessageStage
  readonly source: Source
  readonly sender: SenderNonce | undefined
  readonly value: TokenAmount | undefined
  readonly to: string | undefined
}

interface Tracked {
  row: TrackRow
}

interface BalanceState {
  balance: TokenAmount | null | undefined
  source: Source
  error: string | undefined
}

/** See the file's comment. */
export class Monitor {
  readonly #deps: MonitorDeps
  #settings: Settings
  #link: LinkState = { at: 'connecting' }
  #connection: Connection | undefined
  #attempt = 0
  #stopped = false
  #info: ChainInfo | undefined
  #window: ChainWindow | undefined
  #evidence = new Evidence({ kind: 'server', isValidated: () => false })
  #headSource: Source = 'server'
  #finality: Finality | undefined
  #contents = new Map<string, Contents>()
  #reorg: { readonly epochs: number; readonly at: number } | undefined
  #fault: Fault | undefined
  readonly pool = new Pool()
  #poolError: string | undefined
  #log = new TransferLog(KEPT_TRANSFERS)
  #position: TipsetKey = []
  #transfersError: string | undefined
  readonly #balances = new Map<string, BalanceState>()
  readonly #ids = new Map<string, string>()
  readonly #tracked = new Map<string, Tracked>()
  #peers: readonly AddrInfo[] | undefined
  #peersError: string | undefined
  /** Head changes are followed one after the other; of several that wait only the last counts. */
  #wanted: Tipset | undefined
  #isFollowing = false
  #cancelRetry: () => void = () => undefined
  #cancelPeers: () => void = () => undefined
  #light: LightInfo | undefined
  #cancelLight: () => void = () => undefined
  #isExtending = false
  #isPoolKnown = false

  constructor(deps: MonitorDeps) {
    this.#deps = deps
    this.#settings = loadSettings(deps.storage)
  }

  get link(): LinkState {
    return this.#link
  }

  get info(): ChainInfo | undefined {
    return this.#info
  }

  get settings(): Settings {
    return this.#settings
  }

  get head(): TipsetView | undefined {
    return this.#window?.head
  }

  get headSource(): Source {
    return this.#headSource
  }

  /** Of what no header commits to: the pool, the peers. */
  get wordSource(): Source {
    return this.#evidence.word
  }

  get window(): ChainWindow | undefined {
    return this.#window
  }

  /** undefined: blocks are still being counted. */
  get finality(): Finality | undefined {
    return this.#finality
  }

  /** The last reorganisation that was seen. */
  get reorg(): { readonly epochs: number; readonly at: number } | undefined {
    return this.#reorg
  }

  /** What keeps the shown chain from following the node's head; undefined: nothing. */
  get fault(): Fault | undefined {
    return this.#fault
  }

  get poolError(): string | undefined {
    return this.#poolError
  }

  get transfersError(): string | undefined {
    return this.#transfersError
  }

  /** undefined: not asked yet. */
  get peers(): readonly AddrInfo[] | undefined {
    return this.#peers
  }

  get peersError(): string | undefined {
    return this.#peersError
  }

  get freshness(): Freshness | undefined {
    const { head, info } = this
    if (head === undefined || info === undefined) return undefined
    return freshness(head.timestamp, this.#deps.nowMs() / MS, info.blockDelay)
  }

  /** Of a light node; undefined of any other, or not asked yet. */
  get light(): LightInfo | undefined {
    return this.#light
  }

  /** Waiting messages; undefined while nobody has told of them. */
  get waiting(): number | undefined {
    return this.#isPoolKnown ? this.pool.size : undefined
  }

  contentsOf(key: TipsetKey): Contents | undefined {
    return this.#contents.get(tipsetKeyText(key))
  }

  sourceOf(key: TipsetKey): Source {
    return this.#evidence.source(key)
  }

  get watchRows(): WatchRow[] {
    return this.#settings.watched.map(({ address, label }) => {
      const state = this.#balances.get(address)
      const names = [address, this.#ids.get(address)]
      let pendingIn = 0
      let pendingOut = 0
      for (const { from, messages } of this.pool.senders('f')) {
        if (names.includes(from)) pendingOut += messages.length
        pendingIn += messages.filter(({ message }) => names.includes(message.message.to.toString('f'))).length
      }
      return {
        address,
        label,
        balance: state?.balance,
        source: state?.source ?? this.#evidence.word,
        error: state?.error,
        transfers: this.#log.of(address),
        pendingIn,
        pendingOut,
      }
    })
  }

  get trackRows(): TrackRow[] {
    return this.#settings.tracked.map((cid) => this.#tracked.get(cid)?.row ?? this.#untouched(cid))
  }

  /** Prints an address with the network's letter. @param address - with the letter f */
  print(address: string): string {
    return (this.#info?.prefix ?? 'f') === 'f' ? address : `t${address.slice(1)}`
  }

  start(): void {
    void this.#connect()
  }

  stop(): void {
    this.#stopped = true
    this.#cancelRetry()
    this.#cancelPeers()
    this.#cancelLight()
    this.#connection?.close()
  }

  /** Tries at once, without the pause. */
  retry(): void {
    if (this.#link.at !== 'offline') return
    this.#cancelRetry()
    this.#attempt = 0
    void this.#connect()
  }

  /** @throws CodecError when it is no address */
  watch(text: string, label: string): void {
    const address = readAddress(text).toString('f')
    const others = this.#settings.watched.filter((one) => one.address !== address)
    this.#save({ ...this.#settings, watched: [...others, { address, label: label.trim() }] })
    this.#deps.changed('watch')
    void this.#refreshWatch()
  }

  unwatch(address: string): void {
    this.#save({ ...this.#settings, watched: this.#settings.watched.filter((one) => one.address !== address) })
    this.#balances.delete(address)
    this.#deps.changed('watch')
  }

  /** @throws CodecError when it is no CID */
  track(text: string): void {
    const cid = parseCid(text.trim()).toString()
    this.#save({ ...this.#settings, tracked: [cid, ...this.#settings.tracked.filter((one) => one !== cid)] })
    this.#deps.changed('messages')
    void this.#refreshMessages()
  }

  untrack(cid: string): void {
    this.#save({ ...this.#settings, tracked: this.#settings.tracked.filter((one) => one !== cid) })
    this.#tracked.delete(cid)
    this.#deps.changed('messages')
  }

  setConfirmations(confirmations: number): void {
    this.#save({ ...this.#settings, confirmations: Math.max(1, Math.floor(confirmations)) })
    void this.#refreshMessages()
  }

  #save(settings: Settings): void {
    this.#settings = settings
    saveSettings(this.#deps.storage, settings)
  }

  #untouched(cid: string): TrackRow {
    return {
      cid,
      stage: { at: 'searching' },
      source: this.#evidence.word,
      sender: undefined,
      value: undefined,
      to: undefined,
    }
  }

  #setLink(link: LinkState): void {
    this.#link = link
    this.#deps.changed('link')
  }

  async #connect(): Promise<void> {
    if (this.#stopped) return
    this.#setLink({ at: 'connecting' })
    let connection: Connection | undefined
    try {
      let isOver = false
      const lost = (): void => {
        isOver = true
        this.#lost(connection, 'the connection ended')
      }
      connection = await this.#deps.connect(lost)
      if (isOver || this.#stopped) {
        connection.close()
        return
      }
      this.#connection = connection
      await this.#open(connection)
      this.#attempt = 0
      this.#setLink({ at: 'live' })
    } catch (error) {
      this.#lost(connection, errorMessage(error))
    }
  }

  #lost(connection: Connection | undefined, reason: string): void {
    if (this.#stopped || (connection !== this.#connection && this.#link.at === 'live')) return
    if (this.#link.at === 'offline') return
    this.#connection = undefined
    this.#cancelPeers()
    this.#cancelLight()
    connection?.close()
    this.#setLink({ at: 'offline', reason })
    const pause = RETRY_MS[Math.min(this.#attempt++, RETRY_MS.length - 1)] as number
    this.#cancelRetry = this.#deps.setTimer(() => void this.#connect(), pause)
  }

  async #open(connection: Connection): Promise<void> {
    const { node, trust } = connection
    const [version, network] = await Promise.all([node.Version(), node.StateNetworkName()])
    const prefix = network === 'mainnet' ? 'f' : 't'
    const suggestions = await node.DevnetAccounts().then(
      (accounts) => accounts.slice(0, 3).map(({ address }) => address.toString('f')),
      () => [],
    )
    const presumed = await node.SyncPresumed().catch(() => '')
    const info: ChainInfo = {
      network,
      agent: `${version.agent} ${version.version}`.trim(),
      blockDelay: Math.max(1, version.blockDelay),
      prefix,
      suggestions,
      presumed,
    }
    // Whatever was shown of another chain goes; of the same one it stays until the new head is there.
    if (this.#info?.network !== network) this.#forget()
    this.#info = info
    this.#evidence = new Evidence(trust)
    const loader = {
      tipset: (key: TipsetKey) => node.ChainGetTipSet(key),
      below: (child: TipsetView, count: number) => loadBelow(node, child, count),
    }
    this.#window = new ChainWindow(loader, prefix, KEPT_EPOCHS)
    this.#position = []
    await node.ChainNotify({
      value: (changes) => this.#headChanged(changes),
      end: (error) => this.#lost(connection, error === undefined ? 'the node ended its news' : errorMessage(error)),
    })
    if (connection.isLight === true) this.#askLight(connection)
    await this.#openPool(connection)
    this.#askPeers(connection)
  }

  #forget(): void {
    this.#contents.clear()
    this.#finality = undefined
    this.#reorg = undefined
    this.#log.clear()
    this.#balances.clear()
    this.#tracked.clear()
    this.#light = undefined
    this.#isPoolKnown = false
    this.pool.reset([])
  }

  async #openPool(connection: Connection): Promise<void> {
    const { node } = connection
    try {
      await node.MpoolSub({
        value: (update) => {
          const replaced = this.pool.update(update)
          this.#deps.changed('pool')
          this.#deps.changed('watch')
          if (replaced !== undefined || this.#settings.tracked.length > 0) void this.#refreshMessages()
        },
        end: () => this.#lost(connection, 'the node ended its news'),
      })
      this.pool.reset(await node.MpoolPending([]))
      this.#poolError = undefined
      this.#isPoolKnown = true
    } catch (error) {
      if (!(error instanceof RpcClientError) || error.code !== 'REMOTE') throw error
      this.#poolError = error.message
    }
    this.#deps.changed('pool')
  }

  #askPeers(connection: Connection): void {
    const again = (): void => {
      if (this.#connection === connection) this.#cancelPeers = this.#deps.setTimer(ask, PEERS_MS)
    }
    const ask = (): void => {
      connection.node.NetPeers().then(
        (peers) => {
          this.#peers = peers
          this.#peersError = undefined
          this.#deps.changed('peers')
          again()
        },
        (error: unknown) => {
          this.#peers = undefined
          this.#peersError = errorMessage(error)
          this.#deps.changed('peers')
          again()
        },
      )
    }
    ask()
  }

  /** What is proven moves when a certificate comes, whatever the head does. */
  #askLight(connection: Connection): void {
    const ask = async (): Promise<void> => {
      try {
        const before = this.#light?.final?.instance
        this.#light = await connection.node.LightStatus()
        this.#deps.changed('light')
        this.#deps.changed('head')
        if (this.#light.final?.instance !== before) await this.#refreshWatch()
      } catch (error) {
        if (!(error instanceof RpcClientError)) throw error
      }
      if (this.#connection === connection) this.#cancelLight = this.#deps.setTimer(() => void ask(), LIGHT_MS)
    }
    void ask()
  }

  #headChanged(changes: readonly HeadChange[]): void {
    const last = changes.findLast(({ kind }) => kind !== 'revert')
    if (last === undefined) return
    this.#wanted = last.tipset
    if (!this.#isFollowing) void this.#followAll()
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
    const window = this.#window
    const connection = this.#connection
    if (window === undefined || connection === undefined) return
    // A follower begins with its genesis: nobody has told it of a chain yet.
    if (head.height === 0 && connection.isFollower === true && this.#light?.final == null) return
    const before = window.head
    try {
      const source = await this.#evidence.check(head.key)
      const { reverted } = await window.follow(head, SHOWN_EPOCHS)
      this.#fault = undefined
      this.#headSource = source
      this.#inherit(window)
      const lowest = reverted.at(-1)
      if (before !== undefined && lowest !== undefined) {
        this.#reorg = { epochs: before.height - lowest.height + 1, at: lowest.height }
      }
    } catch (error) {
      this.#report(error)
      return
    }
    this.#finality = window.isWhole ? Finality.of(window) : this.#finality
    this.#deps.changed('head')
    this.#deps.changed('epochs')
    if (connection.isLight !== true) await this.#readContents(window, connection)
    await Promise.all([this.#refreshWatch(), this.#refreshMessages()])
    // A light node would have to fetch it all.
    if (!window.isWhole && connection.isLight !== true) void this.#extend(window)
  }

  /** What is below a validated tipset by hash is validated with it. */
  #inherit(window: ChainWindow): void {
    const { tipsets } = window
    for (let i = tipsets.length - 1; i > 0; i--) {
      this.#evidence.inherit((tipsets[i] as TipsetView).key, (tipsets[i - 1] as TipsetView).key)
    }
  }

  #report(error: unknown): void {
    if (error instanceof MonitorError) this.#fault = { kind: 'contradiction', text: error.message }
    else if (error instanceof RpcClientError && error.code === 'CLOSED') return
    else this.#fault = { kind: 'withheld', text: errorMessage(error) }
    this.#deps.changed('head')
  }

  async #extend(window: ChainWindow): Promise<void> {
    if (this.#isExtending) return
    this.#isExtending = true
    try {
      while (!window.isWhole && this.#window === window && this.#connection !== undefined) {
        await window.extend(EXTEND_BY)
        this.#deps.changed('epochs')
      }
      if (this.#window !== window) return
      this.#inherit(window)
      this.#finality = Finality.of(window)
      this.#deps.changed('head')
      this.#deps.changed('epochs')
      await this.#refreshMessages()
    } catch (error) {
      this.#report(error)
    } finally {
      this.#isExtending = false
    }
  }

  async #readContents(window: ChainWindow, { node }: Connection): Promise<void> {
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

  async #refreshWatch(): Promise<void> {
    const connection = this.#connection
    if (connection === undefined) return
    const at = this.#stateAt(connection)
    if (at !== undefined) {
      await Promise.all(this.#settings.watched.map(({ address }) => this.#readBalance(connection, at, address)))
    }
    this.#deps.changed('watch')
    if (this.#settings.watched.length === 0) return
    if (connection.isLight === true) {
      this.#transfersError = 'a light node executes nothing by itself'
      return
    }
    await this.#readTransfers(connection)
    this.#deps.changed('watch')
  }

  /** Where state is read: under the head; of a light node under its final tipset, where it is proven. */
  #stateAt({ isLight }: Connection): { readonly key: TipsetKey; readonly source: Source } | undefined {
    const key = isLight === true ? this.#light?.final?.key : this.head?.key
    if (key === undefined) return undefined
    return { key, source: isLight === true ? 'proven' : this.sourceOf(key) }
  }

  async #readBalance(
    { node }: Connection,
    { key, source }: { readonly key: TipsetKey; readonly source: Source },
    text: string,
  ): Promise<void> {
    const address = parseAddress(text)
    const state: BalanceState = { balance: undefined, source, error: undefined }
    try {
      state.balance = (await node.StateGetActor(address, key)).balance
      if (!this.#ids.has(text)) this.#ids.set(text, (await node.StateLookupID(address, key)).toString('f'))
    } catch (error) {
      if (!(error instanceof RpcClientError)) throw error
      if (error.code === 'REMOTE' && /actor not found/i.test(error.message)) state.balance = null
      else if (error.code === 'CLOSED') return
      else state.error = error.message
    }
    this.#balances.set(text, state)
  }

  /** Up to the tipset below the head: its child's header commits to what it did. */
  async #readTransfers({ node }: Connection): Promise<void> {
    const { window } = this
    if (window === undefined) return
    try {
      if (this.#position.length === 0) {
        const { tipsets } = window
        this.#position = (tipsets[Math.max(0, tipsets.length - TRANSFER_EPOCHS)] as TipsetView).key
      }
      for (;;) {
        const { reverted, applied, position } = await node.ChainGetTransfersSince(this.#position, 1, 0)
        const isDone = equalTipsetKeys(position, this.#position)
        this.#log.apply(reverted, applied)
        this.#position = position
        this.#transfersError = undefined
        if (isDone || applied.length === 0) return
      }
    } catch (error) {
      if (!(error instanceof RpcClientError)) throw error
      if (error.code === 'REMOTE') this.#transfersError = error.message
    }
  }

  async #refreshMessages(): Promise<void> {
    const connection = this.#connection
    const { head, window } = this
    if (connection === undefined || head === undefined || window === undefined) return
    await Promise.all(this.#settings.tracked.map((cid) => this.#readMessage(connection, window, head, cid)))
    this.#deps.changed('messages')
  }

  async #readMessage(connection: Connection, window: ChainWindow, head: TipsetView, text: string): Promise<void> {
    const before = this.#tracked.get(text)?.row ?? this.#untouched(text)
    const known = await this.#knownMessage(connection, text, before)
    try {
      const stage = await stageOf(text, known.sender, {
        head: head.height,
        pool: this.pool,
        inclusion: (cid) => this.#inclusion(window, cid),
        find: () => this.#find(connection, head.key, parseCid(text)),
        confirmations: this.#settings.confirmations,
        finalDepth: this.#finality?.depth ?? Number.POSITIVE_INFINITY,
      })
      const source = 'tipset' in stage ? this.sourceOf(stage.tipset) : this.#evidence.word
      this.#tracked.set(text, { row: { ...known, stage, source } })
    } catch (error) {
      if (!(error instanceof RpcClientError)) throw error
    }
  }

  /** Sender, nonce and value: of the pool, else asked for once. */
  async #knownMessage({ node }: Connection, cid: string, before: TrackRow): Promise<TrackRow> {
    if (before.sender !== undefined) return before
    const message =
      this.pool.find(cid)?.message.message ?? (await node.ChainGetMessage(parseCid(cid)).catch(() => undefined))
    if (message === undefined) return before
    return {
      ...before,
      sender: { from: message.from.toString('f'), nonce: message.nonce },
      value: message.value,
      to: message.to.toString('f'),
    }
  }

  #inclusion(window: ChainWindow, cid: string): { height: number; tipset: TipsetKey } | undefined {
    const tipset = window.tipsets.findLast(({ key }) => {
      const contents = this.contentsOf(key)
      return contents?.at === 'known' && contents.cids.has(cid)
    })
    return tipset === undefined ? undefined : { height: tipset.height, tipset: tipset.key }
  }

  async #find({ node }: Connection, from: TipsetKey, cid: Cid): Promise<Found | undefined> {
    try {
      const found = await node.StateSearchMsg(from, cid, SEARCH_EPOCHS, true)
      if (found === null) return undefined
      const { message, height, tipset, receipt } = found
      const isSame = message.equals(cid) || (await isUnsignedForm(node, cid, message))
      return {
        cid: (isSame ? cid : message).toString(),
        height,
        tipset,
        exitCode: receipt.exitCode,
        gasUsed: receipt.gasUsed,
      }
    } catch (error) {
      // A node that never saw the message cannot look for it.
      if (error instanceof RpcClientError && error.code === 'REMOTE') return undefined
      throw error
    }
  }
}

/** A signed message was asked for by the CID that it has without its signature. */
async function isUnsignedForm(node: Connection['node'], asked: Cid, found: Cid): Promise<boolean> {
  return messageCid(await node.ChainGetMessage(found)).equals(asked)
}

async function loadBelow(node: Connection['node'], child: TipsetView, count: number): Promise<Tipset[]> {
  const out: Tipset[] = []
  let key = child.parents
  // The parents of genesis are no tipset.
  for (let i = 0, height = child.height; i < count && height > 0; i++) {
    const tipset = await node.ChainGetTipSet(key)
    out.push(tipset)
    key = firstBlock(tipset).parents
    height = tipset.height
  }
  return out
}
