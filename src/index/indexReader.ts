/**
 * The port of a database that is asked about the chain. Each answer is of one snapshot and says of which chain: who asks names its own
 * newest executed tipset, and compares.
 */
import type { ActorId, ChainEpoch } from '../types/scalars.ts'
import type { IndexedChain, TipsetName } from './indexStore.ts'

/** Where an index stood when it answered. */
export interface IndexPlace {
  /** Epoch at which it begins. */
  readonly first: ChainEpoch
  readonly height: ChainEpoch
  readonly finalHeight: ChainEpoch
  readonly tipset: TipsetName
  /** CIDs of its blocks. */
  readonly key: readonly string[]
  /** Whether the tipset that was named with the question lies on its chain. */
  readonly hasAnchor: boolean
}

/** The same with what is final. */
export interface IndexStanding extends IndexPlace {
  /** CIDs of the blocks of the newest final tipset; null: it begins above that. */
  readonly finalKey: readonly string[] | null
}

/** What an index says; of an empty one nothing. */
export interface IndexAnswer<Row> {
  readonly at: IndexPlace | undefined
  readonly rows: readonly Row[]
}

/** Where a page begins or ends: behind a row of a tipset. */
export interface PagePlace {
  readonly height: ChainEpoch
  readonly tipset: TipsetName
  /** Number of the last row that is told, in its tipset. */
  readonly row: number
}

/** Rows of one actor, oldest first. */
export interface PageQuestion {
  /** undefined: who has the address is looked up. */
  readonly actor: ActorId | undefined
  readonly address: string
  /** Both inclusive. */
  readonly from: ChainEpoch
  readonly to: ChainEpoch
  /** undefined: from the first one on. */
  readonly after: PagePlace | undefined
  readonly limit: number
}

/** The rows of a page, and what is known of where it begins and ends. */
export interface PageAnswer<Row> extends IndexAnswer<Row> {
  /** Whether the tipset of `after` lies on the chain; undefined: there is no such tipset here, or none was named. */
  readonly hasAfter: boolean | undefined
  /** The newest tipset up to `to`; undefined: there is none. */
  readonly top: Pick<PagePlace, 'height' | 'tipset'> | undefined
}

/** In which tipset a row is, and its number there. */
export interface PlacedRow {
  readonly height: number
  readonly tipset: TipsetName
  readonly position: number
}

/** A transfer. Amounts and numbers of 64 bits are decimal text. */
export interface TransferRow extends PlacedRow {
  readonly key: readonly string[]
  readonly kind: string
  readonly message: string | null
  readonly execution: number
  readonly path: readonly number[]
  readonly from_actor: string
  readonly from_address: string
  readonly to_actor: string
  readonly to_address: string
  readonly value: string
  readonly method: string
}

/** What a row says of an executed message. Bytes are hexadecimal. */
export interface MessageColumns extends PlacedRow {
  readonly cid: string
  readonly from_address: string
  readonly to_address: string
  readonly nonce: string
  readonly value: string
  readonly gas_limit: string
  readonly gas_fee_cap: string
  readonly gas_premium: string
  readonly method: string
  readonly params: string
  readonly exit_code: number
  readonly gas_used: string
  readonly returned: string
  /** Empty: not known. */
  readonly events_root: string | null
  /** Empty: not known; null: signed in aggregate. */
  readonly signature: string | null
}

/** An executed message with its place. */
export interface MessageRow extends MessageColumns {
  readonly key: readonly string[]
  /** The next tipset here, which executed it; null: it is the newest one. */
  readonly child: readonly string[] | null
  readonly canonical: boolean
}

/** A message's 20 bytes on both sides. */
export interface TransactionColumns extends MessageColumns {
  readonly sender: string
  readonly recipient: string | null
}

/** A message as a transaction, with its place. */
export interface TransactionRow extends MessageRow, TransactionColumns {}

/** A tipset by its hash. */
export interface TipsetPlaceRow {
  readonly height: ChainEpoch
  readonly key: readonly string[]
  readonly canonical: boolean
}

/** All rows of a tipset that its transactions and logs are made of. */
export interface TipsetRowsAnswer {
  /** The filter of its logs, as hexadecimal; null: not known. */
  readonly bloom: string | null
  readonly transactions: readonly TransactionColumns[]
  readonly logs: readonly LogRow[]
}

/** A log. Bytes are hexadecimal. */
export interface LogRow extends PlacedRow {
  /** `position` is its index, that of the transaction here. */
  readonly transaction_index: number
  readonly transaction: string
  readonly emitter: string
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

/** Which logs. A log has to fit all of them. */
export interface LogQuestion {
  /** Both inclusive. */
  readonly from: ChainEpoch
  readonly to: ChainEpoch
  /** IDs of emitters; empty: any. */
  readonly emitters: readonly string[]
  /** Addresses as hexadecimal; empty: any. */
  readonly addresses: readonly string[]
  /** By position; undefined: any. */
  readonly topics: readonly (readonly string[] | undefined)[]
  readonly limit: number
}

/** Which message: by the CID by which blocks have it, or by sender (as it is written) and nonce. */
export type MessageQuestion = { readonly cid: string } | { readonly from: string; readonly nonce: bigint }

/**
 * Questions about messages, transactions, logs and transfers. All throw IndexError `CONNECTION_LOST`, `DATABASE_FAILED`.
 */
export interface IndexReader {
  /** Where it is, without a password. */
  readonly name: string
  /** @throws IndexError `SCHEMA_NEWER`, `SCHEMA_OLDER`, `OTHER_CHAIN`, `NOT_READABLE`, `SERVER_TOO_OLD`, `CONNECTION_LOST` */
  check(chain: IndexedChain): Promise<void>
  /** Where it stands. */
  standing(anchor: TipsetName): Promise<IndexStanding | undefined>
  /** On any chain, newest first. */
  messages(question: MessageQuestion, anchor: TipsetName): Promise<IndexAnswer<MessageRow>>
  /** By hash, on any chain, newest first. */
  transactions(hash: string, anchor: TipsetName): Promise<IndexAnswer<TransactionRow>>
  logs(question: LogQuestion, anchor: TipsetName): Promise<IndexAnswer<LogRow>>
  /** By its name, on any chain: at most one. */
  tipsets(name: TipsetName, anchor: TipsetName): Promise<IndexAnswer<TipsetPlaceRow>>
  /** What a tipset is made of, whichever chain it is on: that follows from it alone. undefined: it is not here. */
  tipset(place: Pick<PagePlace, 'height' | 'tipset'>): Promise<TipsetRowsAnswer | undefined>
  /** The messages that a block has, in its order; undefined: not here, or some of them were executed nowhere. */
  blockMessages(blockCid: string): Promise<readonly MessageColumns[] | undefined>
  pageOfTransfers(question: PageQuestion, anchor: TipsetName): Promise<PageAnswer<TransferRow>>
  pageOfMessages(question: PageQuestion, anchor: TipsetName): Promise<PageAnswer<MessageRow>>
  pageOfLogs(question: PageQuestion, anchor: TipsetName): Promise<PageAnswer<LogRow>>
  close(): Promise<void>
}
