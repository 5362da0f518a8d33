/** The exchange's books: one JSON file, replaced in one step, so that a crash leaves the old books or the new ones. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'

/** A payment to a customer. */
export interface Withdrawal {
  /** The `MsgUuid` under which it is sent, however often. */
  readonly id: string
  readonly user: string
  readonly to: string
  /** AttoFIL. */
  readonly value: string
  state: 'wanted' | 'sent' | 'done' | 'failed'
  /** The message, once it is known. */
  cid?: string
}

/** All that must survive. */
export interface Pages {
  /** Deposit address by customer. */
  addresses: Record<string, string>
  /** AttoFIL by customer. */
  balances: Record<string, string>
  /** Where to go on reading transfers: a tipset key. */
  position: unknown[]
  withdrawals: Withdrawal[]
  /** Wallet that pays withdrawals. */
  hotWallet: string
}

/** The accounts and withdrawals of one exchange, in memory and in its file. */
export class Books {
  readonly pages: Pages
  readonly #path: string

  constructor(path: string) {
    this.#path = path
    this.pages = existsSync(path)
      ? (JSON.parse(readFileSync(path, 'utf8')) as Pages)
      : { addresses: {}, balances: {}, position: [], withdrawals: [], hotWallet: '' }
  }

  save(): void {
    const next = `${this.#path}.next`
    writeFileSync(next, JSON.stringify(this.pages, undefined, 2))
    renameSync(next, this.#path)
  }

  balance(user: string): bigint {
    return BigInt(this.pages.balances[user] ?? '0')
  }

  /** Books an amount; the caller saves. */
  add(user: string, amount: bigint): void {
    this.pages.balances[user] = (this.balance(user) + amount).toString()
  }
}
