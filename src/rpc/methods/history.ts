/** Methods that list what an actor did: ours, for exchanges. */
import type { Steps } from '../../base/steps.ts'
import { type ChainView, resolveId } from '../../chain/chainView.ts'
import { parseCid } from '../../codec/cid.ts'
import type { Json } from '../../codec/jsonText.ts'
import { ethBlockOf } from '../../eth/ethBlock.ts'
import type { ExecutedTipset } from '../../eth/executedTipset.ts'
import type { HeadIndex } from '../../index/headIndex.ts'
import { messageOfRow, receiptOfRow } from '../../index/indexedMessage.ts'
import type { LogRow, MessageRow, TransferRow } from '../../index/indexReader.ts'
import { pagePlaceText } from '../../index/pagePlace.ts'
import { type NumberedRow, type Page, type PageSource, readPage } from '../../index/pages.ts'
import type { AddressedTransfers, TransferReader } from '../../transfers/tipsetTransfers.ts'
import type { Transfer } from '../../transfers/transfer.ts'
import { type Address, idAddress, parseAddress } from '../../types/address.ts'
import { chainMessageCid } from '../../types/chainMessage.ts'
import type { ActorId, ChainEpoch } from '../../types/scalars.ts'
import { type EthMethodsDeps, keptExecuted } from '../ethReader.ts'
import { indexedLog } from '../indexedLogs.ts'
import { type CallContext, type MethodRow, method } from '../method.ts'
import { chainListLogs, chainListMessages, chainListTransfers } from '../signatures/history.ts'
import { printedLogs } from '../types/eth.ts'
import type { ListedMessage, ListedTransfer } from '../types/history.ts'

/** What the methods need. */
export interface HistoryMethodsDeps extends Pick<EthMethodsDeps, 'view' | 'vm' | 'index' | 'edge'> {
  readonly transfers: TransferReader
}

/** Rows of `ChainListTransfers`, `ChainListMessages`, `ChainListLogs`. */
export function historyMethods({ transfers, ...deps }: HistoryMethodsDeps): MethodRow[] {
  const { view, index } = deps
  const sources = {
    transfers: transferSource(view, transfers, index),
    messages: messageSource(deps),
    logs: logSource(deps),
  }
  const page =
    <Row extends TransferRow | MessageRow | LogRow, T, R>(
      source: PageSource<Row, T>,
      shape: (rows: T[], end: { position: string; more: boolean }) => R,
    ) =>
    async (
      address: Address,
      from: ChainEpoch,
      to: ChainEpoch,
      position: string,
      limit: number,
      call: CallContext,
    ): Promise<R> => {
      const addressText = (account: Address): string => view.addressText(account)
      const found: Page<T> = await readPage({ address, from, to, position, limit }, source, {
        ...{ store: view.store, addressText, index, call },
      })
      const { position: end, more } = found
      return shape([...found.rows], { position: end === undefined ? '' : pagePlaceText(end), more })
    }
  return [
    method({
      ...chainListTransfers,
      handler: page(sources.transfers, (rows, end) => ({ transfers: rows, ...end })),
    }),
    method({
      ...chainListMessages,
      handler: page(sources.messages, (rows, end) => ({ messages: rows, ...end })),
    }),
    method({
      ...chainListLogs,
      handler: page(sources.logs, (rows, end) => ({ logs: rows, ...end })),
    }),
  ]
}

type Index = HeadIndex | undefined
type Deps = Omit<HistoryMethodsDeps, 'transfers'>

/** Only asked where there is an index. */
function readerOf(index: Index): HeadIndex['reader'] {
  return (index as HeadIndex).reader
}

function transferSource(
  view: ChainView,
  transfers: TransferReader,
  index: Index,
): PageSource<TransferRow, ListedTransfer> {
  return {
    ask: (question, anchor) => readerOf(index).pageOfTransfers(question, anchor),
    fromRow: (row) => ({
      ...{ height: row.height, tipset: row.key.map(parseCid), kind: row.kind },
      ...{ message: row.message === null ? null : parseCid(row.message), index: row.execution, path: [...row.path] },
      ...{ from: idAddress(BigInt(row.from_actor)), fromAddress: parseAddress(row.from_address) },
      ...{ to: idAddress(BigInt(row.to_actor)), toAddress: parseAddress(row.to_address) },
      ...{ value: BigInt(row.value), method: BigInt(row.method) },
    }),
    ofTipset: async (tipset, address, call) => {
      const all = await transfers.read(tipset, call)
      const actor = resolveId(view.stateTree(all.root), address)
      return numbered(all.transfers, ({ from, to }) => from === actor || to === actor).map(({ number, row }) => ({
        number,
        row: listed(row, all),
      }))
    },
  }
}

function listed(transfer: Transfer, { height, tipset, addressOf }: AddressedTransfers): ListedTransfer {
  const { kind, message, index, path, from, to, value, method } = transfer
  const named = (actor: ActorId): Address => addressOf.get(actor) ?? idAddress(actor)
  return {
    ...{ height, tipset, kind, message, index, path: [...path] },
    ...{ from: idAddress(from), fromAddress: named(from), to: idAddress(to), toAddress: named(to) },
    ...{ value, method },
  }
}

function numbered<T>(all: readonly T[], wanted: (row: T) => boolean): NumberedRow<T>[] {
  return all.flatMap((row, number) => (wanted(row) ? [{ number, row }] : []))
}

function messageSource({ index, ...deps }: Deps): PageSource<MessageRow, ListedMessage> {
  return {
    ask: (question, anchor) => readerOf(index).pageOfMessages(question, anchor),
    fromRow: (row) => {
      const message = messageOfRow(row)
      return {
        ...{ height: row.height, tipset: row.key.map(parseCid), index: row.position, cid: parseCid(row.cid) },
        ...{ message: message.message, receipt: receiptOfRow(row) },
      }
    },
    ofTipset: async (tipset, address, call) => call.walk(messagesOf(await keptExecuted(deps, tipset, call), address)),
  }
}

/** Those that an actor sent or was sent. A step each: whom they are from and to is looked up in the state. */
function* messagesOf(
  { tipset, tree, messages }: ExecutedTipset,
  address: Address,
): Steps<NumberedRow<ListedMessage>[]> {
  const actor = resolveId(tree, address)
  const found: NumberedRow<ListedMessage>[] = []
  if (actor === undefined) return found
  for (const [number, { message, receipt }] of messages.entries()) {
    yield
    const { from, to } = message.message
    if (resolveId(tree, from) !== actor && resolveId(tree, to) !== actor) continue
    const place = { height: tipset.height, tipset: tipset.key, index: number, cid: chainMessageCid(message) }
    found.push({ number, row: { ...place, message: message.message, receipt } })
  }
  return found
}

function logSource({ index, ...deps }: Deps): PageSource<LogRow, Json> {
  return {
    ask: (question, anchor) => readerOf(index).pageOfLogs(question, anchor),
    fromRow: indexedLog,
    ofTipset: async (tipset, address, call) => {
      const executed = await keptExecuted(deps, tipset, call)
      const actor = resolveId(executed.tree, address)
      const logs = (await call.walk(printedLogs(ethBlockOf(executed, BigInt(deps.view.network.chainId))))).flat()
      return logs
        .filter(({ emitter, isIndexed }) => isIndexed && emitter === actor)
        .map(({ logIndex, json }) => ({ number: logIndex, row: json }))
    },
  }
}
