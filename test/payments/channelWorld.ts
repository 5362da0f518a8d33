/** A chain of payment channels that does what it is told: messages are executed when the test says so. */
import type { Logger } from '../../src/base/ports.ts'
import { ChainError } from '../../src/chain/errors.ts'
import { type Cid, CODEC_DAG_CBOR, createCid, HASH_BLAKE2B_256 } from '../../src/codec/cid.ts'
import { encode } from '../../src/codec/description.ts'
import { ChannelSettler } from '../../src/payments/channelSettler.ts'
import { ChannelVouchers } from '../../src/payments/channelVouchers.ts'
import { type ChannelState, PaymentChannels, type PaymentChannelsDeps } from '../../src/payments/paymentChannels.ts'
import type { PaymentDraft } from '../../src/payments/paymentDraft.ts'
import { voucherBytes } from '../../src/payments/vouchers.ts'
import { execReturn } from '../../src/state/params/init.ts'
import type { SignedVoucher } from '../../src/state/params/paych.ts'
import { type Address, actorAddress, idAddress } from '../../src/types/address.ts'
import { generateKey, type Key, signWith } from '../../src/wallet/key.ts'
import { FailingStore } from '../support/failingStore.ts'

const nothing = (): void => undefined

let keys = 0
/** A key that no other call gives. */
export function newKey(): Key {
  keys++
  return generateKey('secp256k1', { fill: (bytes) => bytes.fill(keys) })
}

export function signed(voucher: SignedVoucher, key: Key): SignedVoucher {
  return { ...voucher, signature: signWith(key, voucherBytes(voucher)) }
}

/** Two parties with a channel, and what they pushed. */
export class ChannelWorld {
  readonly store = new FailingStore()
  readonly from: Key = newKey()
  readonly to: Key = newKey()
  readonly channel: Address = actorAddress(Uint8Array.of(1))
  readonly pushed: PaymentDraft[] = []
  readonly #waits = new Map<string, { resolve: (exitCode: number) => void; reject: (error: Error) => void }>()
  /** Channels that are not on the chain any more, and those that no message is sent to. */
  readonly gone = new Set<Address>()
  readonly refused = new Set<Address>()
  readonly warnings: string[] = []
  readonly #log: Logger = {
    ...{ debug: nothing, info: nothing, error: nothing },
    warn: (text) => void this.warnings.push(text),
  }
  /** Keys that the node has. */
  readonly wallet: Key[] = [this.from]
  onChain: { balance: bigint; lanes: ChannelState['lanes']; isSettling: boolean } = {
    balance: 0n,
    lanes: new Map(),
    isSettling: false,
  }
  /** Of calls. */
  exitCode = 0
  channels!: PaymentChannels
  vouchers!: ChannelVouchers
  settler!: ChannelSettler

  constructor() {
    this.restart()
  }

  /** A new process on the same store. */
  restart(): void {
    this.#waits.clear()
    const deps: PaymentChannelsDeps = {
      store: this.store,
      state: (channel) => {
        if (this.gone.has(channel)) throw new ChainError('ACTOR_NOT_FOUND', 'actor not found')
        return { fromKey: this.from.address, to: idAddress(102n), toKey: this.to.address, ...this.onChain }
      },
      code: () => this.cid(200),
      push: (draft, writes) => {
        if (this.refused.has(draft.to)) return Promise.reject(new TypeError('not enough funds'))
        this.pushed.push(draft)
        const message = this.cid(this.pushed.length)
        for (const { key, value } of writes?.(message) ?? []) this.store.put(key, value)
        return Promise.resolve(message)
      },
      wait: (message) =>
        new Promise((resolve, reject) => {
          this.#waits.set(message.key, {
            resolve: (exitCode) =>
              resolve({
                receipt: { exitCode, return: this.#created(), gasUsed: 0n, eventsRoot: null },
              }),
            reject,
          })
        }),
      call: () => Promise.resolve(this.exitCode),
      addressText: (one) => one.toString(),
      log: this.#log,
    }
    this.channels = new PaymentChannels(deps)
    this.vouchers = new ChannelVouchers(this.channels, deps, {
      has: (one) => Promise.resolve(this.wallet.some(({ address }) => address.equals(one))),
      sign: (one, data) => {
        const key = this.wallet.find(({ address }) => address.equals(one))
        return key === undefined ? Promise.reject(new TypeError('no key')) : Promise.resolve(signWith(key, data))
      },
    })
    this.settler = new ChannelSettler(this.channels, this.vouchers, deps)
    this.channels.start()
  }

  cid(number: number): Cid {
    return createCid(CODEC_DAG_CBOR, HASH_BLAKE2B_256, new Uint8Array(32).fill(number))
  }

  /** Whether somebody waits for a message that was sent. */
  isAwaited(number: number): boolean {
    return this.#waits.has(this.cid(number).key)
  }

  /** Executes a message that was sent. */
  done(number: number, exitCode = 0): void {
    const { key } = this.cid(number)
    this.#waits.get(key)?.resolve(exitCode)
    this.#waits.delete(key)
  }

  /** The nonce of a message that was sent went to another one, for good. */
  replaced(number: number): void {
    const { key } = this.cid(number)
    this.#waits.get(key)?.reject(new ChainError('MESSAGE_REPLACED', 'message was replaced: by another'))
    this.#waits.delete(key)
  }

  /** The same, and goes on when the channels have taken note. */
  async execute(number: number, exitCode = 0): Promise<void> {
    this.done(number, exitCode)
    await this.channels.waitReady(this.cid(number), new AbortController().signal).catch(nothing)
  }

  /** A channel of that many attoFIL, all reserved. */
  async open(amount: bigint): Promise<void> {
    await this.channels.get(this.from.address, this.to.address, amount, { reserve: true, offChain: false })
    await this.execute(this.pushed.length)
    this.onChain = { ...this.onChain, balance: amount }
  }

  voucher(terms: Partial<SignedVoucher>): SignedVoucher {
    return {
      channelAddr: this.channel,
      timeLockMin: 0n,
      timeLockMax: 0n,
      secretHash: new Uint8Array(0),
      extra: null,
      lane: 0,
      nonce: 1,
      amount: 1n,
      minSettleHeight: 0n,
      merges: [],
      signature: null,
      ...terms,
    }
  }

  #created(): Uint8Array {
    return encode(execReturn, { idAddress: idAddress(1000n), robustAddress: this.channel })
  }
}
