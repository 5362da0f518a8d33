/** JSON of what an actor did, page by page: methods of ours, named in Lotus' manner. */
import type { Cid } from '../../codec/cid.ts'
import { bool, type Codec, cid, json, listOrEmpty, struct, text, uint } from '../../codec/description.ts'
import type { Json } from '../../codec/jsonText.ts'
import { type Message, message } from '../../types/message.ts'
import { type Receipt, receiptV1 } from '../../types/receipt.ts'
import { type ChainEpoch, chainEpoch } from '../../types/scalars.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { TRANSFER_FIELDS, type TransferForm } from './transfers.ts'

/** A transfer with its place. */
export interface ListedTransfer extends TransferForm {
  readonly height: ChainEpoch
  readonly tipset: TipsetKey
}

const listedTransfer: Codec<ListedTransfer> = struct<ListedTransfer>('petrel.ListedTransfer', [
  ['height', 'Height', chainEpoch],
  ['tipset', 'TipSet', tipsetKey],
  ...TRANSFER_FIELDS,
])

/** An executed message with its place: `tipset` holds it, and `index` is its place among the executed ones. */
export interface ListedMessage {
  readonly height: ChainEpoch
  readonly tipset: TipsetKey
  readonly index: number
  readonly cid: Cid
  readonly message: Message
  readonly receipt: Receipt
}

const listedMessage: Codec<ListedMessage> = struct<ListedMessage>('petrel.ListedMessage', [
  ['height', 'Height', chainEpoch],
  ['tipset', 'TipSet', tipsetKey],
  ['index', 'Index', uint],
  ['cid', 'Cid', cid],
  ['message', 'Message', message],
  ['receipt', 'Receipt', receiptV1],
])

/** What every page has besides its rows. */
interface PageEnd {
  /** Where the next page begins; empty: nothing was there to look at. */
  readonly position: string
  readonly more: boolean
}

/** A page of ChainListTransfers, oldest first. */
export interface TransferPage extends PageEnd {
  readonly transfers: ListedTransfer[]
}

/** A page of ChainListMessages, oldest first. */
export interface MessagePage extends PageEnd {
  readonly messages: ListedMessage[]
}

/** A page of ChainListLogs, oldest first; each as Ethereum's JSON has a log. */
export interface LogPage extends PageEnd {
  readonly logs: Json[]
}

/** `{Transfers, Position, More}`. */
export const transferPage: Codec<TransferPage> = struct<TransferPage>('petrel.TransferPage', [
  ['transfers', 'Transfers', listOrEmpty(listedTransfer)],
  ['position', 'Position', text],
  ['more', 'More', bool],
])

/** `{Messages, Position, More}`. */
export const messagePage: Codec<MessagePage> = struct<MessagePage>('petrel.MessagePage', [
  ['messages', 'Messages', listOrEmpty(listedMessage)],
  ['position', 'Position', text],
  ['more', 'More', bool],
])

/** `{Logs, Position, More}`; logs as `eth_getLogs` has them. */
export const logPage: Codec<LogPage> = struct<LogPage>('petrel.LogPage', [
  ['logs', 'Logs', listOrEmpty(json)],
  ['position', 'Position', text],
  ['more', 'More', bool],
])
