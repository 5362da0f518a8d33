import { randomUUID } from 'node:crypto'
import type { Books, Withdrawal } from './books.ts'
import type { Answer, Rpc } from './rpc.ts'

/** Epochs on top of a deposit before it counts. 200 is usual on mainnet, 900 is final. */
const CONFIDENCE = 5
/** secp256k1. */
const KEY_TYPE = 1
/** InvokeEVM: for every recipient that may be a contract, or funds can be lost. */
const INVOKE_EVM = 3844450837
/** A replacement pays at least this much of the old premium, percent. */
const REPLACE_PERCENT = 110n

const TRANSFER = { Version: 0, Nonce: 0, GasLimit: 0, GasFeeCap: '0', GasPremium: '0', Method: 0, Params: null }

/** What an exchange does with a node. */
export class Exchange {
  readonly #rpc: Rpc
  readonly #books: Books

  constructor(rpc: Rpc, books: Books) {
    this.#rpc = rpc
    this.#books = books
  }

  /** Makes the wallet that pays withdrawals, and starts reading deposits from now. */
  async open(): Promise<string> {
    const { pages } = this.#books
    if (pages.hotWallet !== '') return pages.hotWallet
    pages.hotWallet = await this.#rpc('WalletNew', KEY_TYPE)
    pages.position = (await this.#rpc('ChainGetTransfersSince', [], CONFIDENCE, 0)).Position
    this.#books.save()
    return pages.hotWallet
  }

  /** The customer's own address: whatever arrives there is theirs. */
  async depositAddress(user: string): Promise<string> {
    const { addresses } = this.#books.pages
    const known = addresses[user]
    if (known !== undefined) return known
    const address: string = await this.#rpc('WalletNew', KEY_TYPE)
    addresses[user] = address
    this.#books.save()
    return address
  }

  /**
   * Books the deposits that became deep enough, and takes back those that a reorganisation undid.
   * @returns what was booked, for people to read
   */
  async readDeposits(): Promise<string[]> {
    const { pages } = this.#books
    const owners = new Map(Object.entries(pages.addresses).map(([user, address]) => [address, user]))
    const log: string[] = []
    for (;;) {
      const steps = await this.#rpc('ChainGetTransfersSince', pages.position, CONFIDENCE, 0)
      const book = (tipset: Answer, sign: bigint): void => {
        for (const { ToAddress, Value, Kind, Message } of tipset.Transfers) {
          const user = owners.get(ToAddress)
          if (user === undefined) continue
          this.#books.add(user, sign * BigInt(Value))
          log.push(`${sign > 0n ? 'credited' : 'took back'} ${user} ${Value} (${Kind}, ${Message['/']})`)
        }
      }
      for (const tipset of steps.Reverted) book(tipset, -1n)
      for (const tipset of steps.Applied) book(tipset, 1n)
      pages.position = steps.Position
      // credits and position in one step: after a crash the same transfers are read again, or none
      this.#books.save()
      if (steps.Applied.length === 0 && steps.Reverted.length === 0) return log
    }
  }

  /** Takes the amount off the books and sends it. */
  async withdraw(user: string, to: string, value: bigint, gas: object = {}): Promise<Withdrawal> {
    const withdrawal = this.want(user, to, value)
    await this.#send(withdrawal, gas)
    return withdrawal
  }

  /** The first half alone: from here on the payment is owed. */
  want(user: string, to: string, value: bigint): Withdrawal {
    if (this.#books.balance(user) < value) throw new Error(`${user} has less than ${value}`)
    const withdrawal: Withdrawal = { id: randomUUID(), user, to, value: value.toString(), state: 'wanted' }
    this.#books.add(user, -value)
    this.#books.pages.withdrawals.push(withdrawal)
    this.#books.save()
    return withdrawal
  }

  /** Sends what a crash left unsent, or sent without a note of it: the id makes it the same message. */
  async resume(): Promise<Withdrawal[]> {
    const open = this.#books.pages.withdrawals.filter(({ state }) => state === 'wanted')
    for (const withdrawal of open) await this.#send(withdrawal, {})
    return open
  }

  async #send(withdrawal: Withdrawal, gas: object): Promise<void> {
    const { id, to, value } = withdrawal
    const method = /^[ft]4/.test(to) ? INVOKE_EVM : 0
    const message = { ...TRANSFER, From: this.#books.pages.hotWallet, To: to, Value: value, Method: method, ...gas }
    const sent = await this.#rpc('MpoolPushMessage', message, { MsgUuid: id })
    withdrawal.cid = sent.CID['/']
    withdrawal.state = 'sent'
    this.#books.save()
  }

  /** Looks which withdrawals are through. A replaced message is found under its new CID. */
  async settle(): Promise<void> {
    const head = await this.#rpc('ChainHead')
    for (const withdrawal of this.#books.pages.withdrawals) {
      if (withdrawal.state !== 'sent') continue
      const found = await this.#rpc('StateSearchMsg', { '/': withdrawal.cid })
      if (found === null || head.Height - found.Height < CONFIDENCE) continue
      withdrawal.cid = found.Message['/']
      withdrawal.state = found.Receipt.ExitCode === 0 ? 'done' : 'failed'
      if (withdrawal.state === 'failed') this.#books.add(withdrawal.user, BigInt(withdrawal.value))
      this.#books.save()
    }
  }

  /**
   * Replaces messages of ours whose fee cap is below what a message needs now: same recipient, value and nonce, more gas
   * money. The first one holds up all that come after it.
   * @returns CIDs of the replacements
   */
  async repairStuck(): Promise<string[]> {
    const { hotWallet, withdrawals } = this.#books.pages
    const repaired: string[] = []
    const pending = (await this.#rpc('MpoolPending', null)).filter(
      (message: Answer) => message.Message.From === hotWallet,
    )
    for (const { Message: old, CID } of pending) {
      const asked = { ...old, Nonce: 0, GasLimit: 0, GasFeeCap: '0', GasPremium: '0' }
      const fresh = await this.#rpc('GasEstimateMessageGas', asked, null, [])
      const [baseFee] = (await this.#rpc('ChainHead')).Blocks.map((block: Answer) => BigInt(block.ParentBaseFee))
      if (BigInt(old.GasFeeCap) > baseFee) continue
      const least = (BigInt(old.GasPremium) * REPLACE_PERCENT) / 100n + 1n
      const premium = BigInt(fresh.GasPremium) > least ? BigInt(fresh.GasPremium) : least
      const feeCap = BigInt(fresh.GasFeeCap) + premium
      const better = {
        ...old,
        GasLimit: Math.max(old.GasLimit, fresh.GasLimit),
        GasFeeCap: feeCap.toString(),
        GasPremium: premium.toString(),
      }
      const signed = await this.#rpc('WalletSignMessage', hotWallet, better)
      const cid = await this.#rpc('MpoolPush', signed)
      for (const withdrawal of withdrawals) if (withdrawal.cid === CID['/']) withdrawal.cid = cid['/']
      this.#books.save()
      repaired.push(cid['/'])
    }
    return repaired
  }
}
