/** The watched addresses as they stand: balances under the head, transfers up to the tipset below it. */
import { equalTipsetKeys, parseAddress, RpcClientError, type TipsetKey, type TokenAmount } from 'petrel'
import type { TipsetView } from './chainWindow.ts'
import type { Source } from './evidence.ts'
import type { Pool } from './pool.ts'
import type { Session } from './session.ts'
import type { WatchedAddress } from './settings.ts'
import { type SeenTransfer, TransferLog } from './watch.ts'

/** Epochs back in which transfers are looked for when an address is watched. */
const TRANSFER_EPOCHS = 60
const KEPT_TRANSFERS = 2000

/** Where state is read. */
export interface StatePlace {
  readonly key: TipsetKey
  readonly source: Source
}

/** What the state says of an address. */
export interface BalanceState {
  /** undefined: not known yet; null: there is no such actor. */
  readonly balance: TokenAmount | null | undefined
  /** The next nonce that the chain takes. */
  readonly nonce: bigint | undefined
  readonly source: Source
  readonly error: string | undefined
}

/** A watched address as it stands. */
export interface WatchRow extends Omit<BalanceState, 'nonce'> {
  readonly address: string
  readonly label: string
  /** A balance below this needs attention, attoFIL. */
  readonly floor: TokenAmount | undefined
  readonly transfers: readonly SeenTransfer[]
  /** Its messages that wait, and those that would move something to it. */
  readonly pendingOut: number
  readonly pendingIn: number
}

/** Balances and transfers of the watched addresses. */
export class Watchlist {
  readonly #balances = new Map<string, BalanceState>()
  readonly #ids = new Map<string, string>()
  readonly #log = new TransferLog(KEPT_TRANSFERS)
  #position: TipsetKey = []
  #transfersError: string | undefined
  #isRead = false

  /** Whether the node has told of transfers. */
  get isRead(): boolean {
    return this.#isRead
  }

  /** Why there are no transfers; undefined: there are. */
  get transfersError(): string | undefined {
    return this.#transfersError
  }

  /** @param word - of what was not asked for yet */
  rows(watched: readonly WatchedAddress[], pool: Pool, word: Source): WatchRow[] {
    const senders = pool.senders('f')
    return watched.map(({ address, label, floor }) => {
      const state = this.#balances.get(address)
      const names = this.namesOf(address)
      let pendingIn = 0
      let pendingOut = 0
      for (const { from, messages } of senders) {
        if (names.includes(from)) pendingOut += messages.length
        pendingIn += messages.filter(({ message }) => names.includes(message.message.to.toString('f'))).length
      }
      const { balance, source = word, error } = state ?? {}
      return { address, label, floor, balance, source, error, transfers: this.#log.of(address), pendingIn, pendingOut }
    })
  }

  /** All that it is called by: what was given, and its ID address. */
  namesOf(address: string): readonly string[] {
    const id = this.#ids.get(address)
    return id === undefined ? [address] : [address, id]
  }

  /** @param isSame - of the chain whose values are shown */
  open(isSame: boolean): void {
    this.#position = []
    if (isSame) return
    this.#isRead = false
    this.#log.clear()
    this.#balances.clear()
    this.#ids.clear()
  }

  drop(address: string): void {
    this.#balances.delete(address)
  }

  async readBalances(session: Session, place: StatePlace, watched: readonly WatchedAddress[]): Promise<void> {
    await Promise.all(watched.map(({ address }) => this.#readBalance(session, place, address)))
  }

  async #readBalance({ node }: Session, { key, source }: StatePlace, text: string): Promise<void> {
    const address = parseAddress(text)
    const empty = { balance: undefined, nonce: undefined, source, error: undefined }
    try {
      const { balance, nonce } = await node.StateGetActor(address, key)
      if (!this.#ids.has(text)) this.#ids.set(text, (await node.StateLookupID(address, key)).toString('f'))
      this.#balances.set(text, { ...empty, balance, nonce })
    } catch (error) {
      if (!(error instanceof RpcClientError)) throw error
      if (error.code === 'CLOSED') return
      const isMissing = error.code === 'REMOTE' && /actor not found/i.test(error.message)
      this.#balances.set(text, isMissing ? { ...empty, balance: null } : { ...empty, error: error.message })
    }
  }

  /** Up to the tipset below the head: its child's header commits to what it did. @param tipsets - of the window, oldest first */
  async readTransfers({ node, connection }: Session, tipsets: readonly TipsetView[]): Promise<void> {
    if (connection.isLight === true) {
      this.#transfersError = 'a light node executes nothing by itself'
      return
    }
    try {
      if (this.#position.length === 0) {
        const first = tipsets[Math.max(0, tipsets.length - TRANSFER_EPOCHS)]
        if (first === undefined) return
        this.#position = first.key
      }
      for (;;) {
        const { reverted, applied, position } = await node.ChainGetTransfersSince(this.#position, 1, 0)
        const isDone = equalTipsetKeys(position, this.#position)
        this.#log.apply(reverted, applied)
        this.#position = position
        this.#transfersError = undefined
        this.#isRead = true
        if (isDone || applied.length === 0) return
      }
    } catch (error) {
      if (!(error instanceof RpcClientError)) throw error
      if (error.code === 'REMOTE') this.#transfersError = error.message
    }
  }
}
