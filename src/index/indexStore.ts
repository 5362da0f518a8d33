/** The port of a database that holds the chain as rows. */
import type { Cid } from '../codec/cid.ts'
import type { Json } from '../codec/jsonText.ts'
import type { Network } from '../networks/network.ts'
import type { ChainEpoch } from '../types/scalars.ts'

/** A row: values by column. Bytes are `\x` and hexadecimal, amounts and 64-bit integers text or bigint. */
export type Row = { readonly [column: string]: Json }

/** Rows of one table. */
export interface RowBatch {
  readonly table: IndexTable
  readonly rows: readonly Row[]
}

/** The tables whose rows belong to a tipset. */
export const INDEX_TABLES = [
  'blocks',
  'messages',
  'transfers',
  'balance_changes',
  'addresses',
  'eth_transactions',
  'logs',
] as const

/** One of {@link INDEX_TABLES}. */
export type IndexTable = (typeof INDEX_TABLES)[number]

/** Whose chain the rows are. */
export interface IndexedChain {
  /** `mainnet`, `calibnet`, … */
  readonly network: string
  /** CID of the genesis block. */
  readonly genesis: string
  readonly chainId: number
}

/** The chain of a network from a genesis on. */
export function chainFrom({ networkName, name, chainId }: Network, genesis: Cid): IndexedChain {
  return { network: networkName ?? name, genesis: String(genesis), chainId }
}

/** A tipset, by the digest of its key's CID (the block hash of Ethereum's interface), as hexadecimal. */
export type TipsetName = string

/** A tipset, and where it is. */
export interface PlacedTipset {
  readonly tipset: TipsetName
  readonly height: ChainEpoch
}

/** Where an index stands. */
export interface IndexPosition extends PlacedTipset {
  /** CIDs of its blocks. */
  readonly key: readonly string[]
  readonly finalHeight: ChainEpoch
}

/** A tipset that has rows. */
export interface IndexedTipset {
  readonly height: ChainEpoch
  /** CIDs of its blocks. */
  readonly key: readonly string[]
}

/** A tipset that becomes part of the chain. */
export interface AppliedTipset {
  readonly tipset: TipsetName
  readonly height: ChainEpoch
  /** Its own row, and those that belong to it; undefined: they are there since an earlier time. */
  readonly rows: { readonly own: Row; readonly batches: Iterable<RowBatch> } | undefined
}

/** One transaction. */
export interface IndexChange {
  /** Where the index must stand; undefined: it is empty. */
  readonly from: TipsetName | undefined
  readonly reverted: readonly TipsetName[]
  /** Oldest first; of a long reorganisation made as they are written. */
  readonly applied: Iterable<AppliedTipset> | AsyncIterable<AppliedTipset>
  /** Their rows go, before others come: the index begins anew with the first of `applied`. Else none. */
  readonly forgotten: readonly TipsetName[]
  readonly position: IndexPosition
}

/** A connection that is the only one to write. */
export interface IndexSession {
  /** undefined: nothing is written yet. */
  position(): Promise<IndexPosition | undefined>
  /** Tipsets of the index's chain below an epoch, newest first. @param most - of them; fewer: there are no more */
  chain(below: ChainEpoch, most: number): Promise<readonly PlacedTipset[]>
  /** Which of these tipsets have rows. */
  known(tipsets: readonly TipsetName[]): Promise<ReadonlySet<TipsetName>>
  /**
   * All of it or nothing.
   * @throws IndexError `POSITION_MOVED`, `CONNECTION_LOST` (then it may have been written all the same), `DATABASE_FAILED`
   */
  write(change: IndexChange): Promise<void>
  /** Tipsets of the chain whose rows lack what an earlier Petrel did not write, newest first. @param below - epoch @param most - of them */
  lacking(below: ChainEpoch, most: number): Promise<readonly IndexedTipset[]>
  /** Gives such a tipset's rows what they lack, all of it or nothing. @throws as {@link IndexSession.write} */
  complete(tipset: AppliedTipset): Promise<void>
  /** Aborts when the connection ends, and with it the right to write. */
  readonly lost: AbortSignal
  close(): Promise<void>
}

/** A database. */
export interface IndexStore {
  /** Where it is, without a password. */
  readonly name: string
  /**
   * Looks, and writes nothing.
   * @throws IndexError `SCHEMA_NEWER`, `OTHER_CHAIN`, `READ_ONLY`, `NOT_OURS`, `SERVER_TOO_OLD`; `CONNECTION_LOST` where nobody answers
   */
  check(chain: IndexedChain): Promise<void>
  /**
   * Becomes the only writer, and brings the tables up to date.
   * @param onWaiting - another one writes: this one waits for its end
   * @throws as `check`; the signal's reason
   */
  open(chain: IndexedChain, signal: AbortSignal, onWaiting: () => void): Promise<IndexSession>
}
