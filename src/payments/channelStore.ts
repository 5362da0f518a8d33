/**
 * Payment channels that the node knows, and the messages that make and fund them. What is put here outlives the process.
 * @see lotus paychmgr/store.go Store
 */
import { concatBytes, utf8 } from '../base/bytes.ts'
import type { KeyValueStore } from '../base/ports.ts'
import { bigInt } from '../codec/bigInteger.ts'
import type { Cid } from '../codec/cid.ts'
import { bool, type Codec, cid, decode, encode, list, nullable, text, tuple, uint } from '../codec/description.ts'
import type { StoreWrite } from '../mempool/groupCommit.ts'
import { type SignedVoucher, signedVoucher } from '../state/params/paych.ts'
import { type Address, address } from '../types/address.ts'
import type { TokenAmount } from '../types/scalars.ts'

const CHANNEL_PREFIX = utf8('payments/channel/')
const MESSAGE_PREFIX = utf8('payments/message/')

/** Who pays: `inbound`, the other end; `outbound`, an address of this node. Numbers as on the wire. */
export const DIRECTION = { inbound: 1, outbound: 2 } as const

/** A voucher, and whether it went to the chain (or a later one of its lane did). */
export interface VoucherRecord {
  readonly voucher: SignedVoucher
  readonly submitted: boolean
}

/** What is known of a channel. Amounts are attoFIL. */
export interface ChannelRecord {
  readonly id: string
  /** null: it is not on the chain yet. */
  readonly channel: Address | null
  /** This node's end. */
  readonly control: Address
  /** The other one. */
  readonly target: Address
  readonly direction: number
  readonly vouchers: readonly VoucherRecord[]
  readonly nextLane: number
  /** Confirmed funds; of an outbound channel. */
  readonly amount: TokenAmount
  /** What of them nobody has asked for. */
  readonly available: TokenAmount
  readonly pending: TokenAmount
  readonly pendingAvailable: TokenAmount
  /** The message that creates the channel, until it is executed. */
  readonly createMessage: Cid | null
  /** The message that adds funds, until it is executed. */
  readonly addMessage: Cid | null
  /** This node has settled it. */
  readonly settling: boolean
}

/** What a message makes of its channel. */
export interface Outcome {
  /** undefined: it is forgotten. */
  readonly record: ChannelRecord | undefined
  /** What went wrong; empty: nothing. */
  readonly error: string
}

/** What became of a message that creates a channel or adds funds. */
export interface FundsMessage {
  readonly channelId: string
  readonly executed: boolean
  /** Empty: none. */
  readonly error: string
}

const voucherRecord: Codec<VoucherRecord> = tuple<VoucherRecord>('VoucherInfo', [
  ['voucher', 'Voucher', signedVoucher],
  ['submitted', 'Submitted', bool],
])

const channelRecord: Codec<ChannelRecord> = tuple<ChannelRecord>('ChannelInfo', [
  ['id', 'ChannelID', text],
  ['channel', 'Channel', nullable(address)],
  ['control', 'Control', address],
  ['target', 'Target', address],
  ['direction', 'Direction', uint],
  ['vouchers', 'Vouchers', list(voucherRecord) as Codec<readonly VoucherRecord[]>],
  ['nextLane', 'NextLane', uint],
  ['amount', 'Amount', bigInt],
  ['available', 'AvailableAmount', bigInt],
  ['pending', 'PendingAmount', bigInt],
  ['pendingAvailable', 'PendingAvailableAmount', bigInt],
  ['createMessage', 'CreateMsg', nullable(cid)],
  ['addMessage', 'AddFundsMsg', nullable(cid)],
  ['settling', 'Settling', bool],
])

const fundsMessage: Codec<FundsMessage> = tuple<FundsMessage>('MsgInfo', [
  ['channelId', 'ChannelID', text],
  ['executed', 'Received', bool],
  ['error', 'Err', text],
])

const channelKey = (id: string): Uint8Array => concatBytes(CHANNEL_PREFIX, utf8(id))
const messageKey = (message: Cid): Uint8Array => concatBytes(MESSAGE_PREFIX, message.bytes)

/** Whether two vouchers are the same, signature and all. */
export function sameVoucher(a: SignedVoucher, b: SignedVoucher): boolean {
  const [left, right] = [encode(signedVoucher, a), encode(signedVoucher, b)]
  return left.length === right.length && left.every((byte, i) => byte === right[i])
}

/** The channels as they were last written. */
export class ChannelStore {
  readonly #store: KeyValueStore
  readonly #channels = new Map<string, ChannelRecord>()

  constructor(store: KeyValueStore) {
    this.#store = store
    for (const key of store.keys(CHANNEL_PREFIX)) {
      const data = store.get(key)
      if (data === undefined) continue
      const record = decode(channelRecord, data)
      this.#channels.set(record.id, record)
    }
  }

  all(): ChannelRecord[] {
    return [...this.#channels.values()]
  }

  byId(id: string): ChannelRecord | undefined {
    return this.#channels.get(id)
  }

  byAddress(channel: Address): ChannelRecord | undefined {
    return this.all().find((record) => record.channel?.equals(channel) === true)
  }

  put(record: ChannelRecord): void {
    const { key, value } = this.write(record)
    this.#store.put(key, value)
    this.written(record)
  }

  /** What {@link ChannelStore.put} would write; {@link ChannelStore.written} says that it is. */
  write(record: ChannelRecord): StoreWrite {
    return { key: channelKey(record.id), value: encode(channelRecord, record) }
  }

  written(record: ChannelRecord): void {
    this.#channels.set(record.id, record)
  }

  message(message: Cid): FundsMessage | undefined {
    const data = this.#store.get(messageKey(message))
    return data === undefined ? undefined : decode(fundsMessage, data)
  }

  messageWrite(message: Cid, record: FundsMessage): StoreWrite {
    return { key: messageKey(message), value: encode(fundsMessage, record) }
  }

  /** A message is executed: what it has made of its channel and what became of itself, or neither. */
  settle(id: string, message: Cid, { record, error }: Outcome): void {
    this.#store.batch([
      record === undefined ? { op: 'delete', key: channelKey(id) } : { op: 'put', ...this.write(record) },
      { op: 'put', ...this.messageWrite(message, { channelId: id, executed: true, error }) },
    ])
    if (record === undefined) this.#channels.delete(id)
    else this.written(record)
  }

  /** Resolves when it survives a crash. */
  flush(): Promise<void> {
    return this.#store.flush()
  }
}
