/**
 * Methods of Ethereum's interface about transactions and their receipts.
 * @see lotus node/impl/eth/transaction.go
 */

import { errorMessage } from '../../base/errors.ts'
import { ChainError } from '../../chain/errors.ts'
import { parseCid } from '../../codec/cid.ts'
import type { Json } from '../../codec/description.ts'
import { CodecError } from '../../codec/errors.ts'
import { ethTransactionOf } from '../../eth/ethTransactionOf.ts'
import type { HeadIndex } from '../../index/headIndex.ts'
import { knownMessage } from '../../index/indexedSearch.ts'
import { indexedTransaction, transactionOfRow } from '../../index/indexedTransaction.ts'
import type { TransactionRow } from '../../index/indexReader.ts'
import { BlockMissing } from '../../ipld/errors.ts'
import { signedMessageCid } from '../../types/signedMessage.ts'
import type { Tipset } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import type { EthReader, Locate, Walking } from '../ethReader.ts'
import { type MethodRow, method } from '../method.ts'
import {
  ethGetBlockReceipts,
  ethGetBlockReceiptsLimited,
  ethGetMessageCidByTransactionHash,
  ethGetTransactionByBlockHashAndIndex,
  ethGetTransactionByBlockNumberAndIndex,
  ethGetTransactionByHash,
  ethGetTransactionByHashLimited,
  ethGetTransactionHashByCid,
  ethGetTransactionReceipt,
  ethGetTransactionReceiptLimited,
} from '../signatures/ethTransactions.ts'
import { logsOf, NOWHERE, type Place, receiptAt, transactionAt, transactionJson } from '../types/eth.ts'
import { hexBytes, hexNumber } from '../types/ethScalars.ts'

const NO_LIMIT = -1

/** Rows about transactions. */
export function ethTransactionMethods(reader: EthReader, locate: Locate, index: HeadIndex | undefined): MethodRow[] {
  const { chainId } = reader
  const { store } = reader.view
  const pendingJson = (hash: Uint8Array): Json => {
    const signed = reader.pendingMessage(hash)
    if (signed === undefined) return null
    const tree = reader.view.stateBefore(store.head())
    return transactionJson(
      ethTransactionOf({ kind: 'signed', message: signed.message, signed }, tree, chainId),
      NOWHERE,
    )
  }
  const byHash = async (hash: Uint8Array | null, limit: number, call: Walking): Promise<Json> => {
    if (hash === null) return null
    const row = index === undefined ? undefined : await indexedTransaction(index, hash, limit)
    if (row !== undefined) return transactionJson(transactionOfRow(row, chainId), placeOf(row))
    const at = await locateOr(locate(hash, call, limit), () => undefined)
    return at === undefined
      ? pendingJson(hash)
      : reader.told(at.tipset, call, (block) => transactionAt(block, at.index))
  }
  const receipt = async (hash: Uint8Array, limit: number, call: Walking): Promise<Json> => {
    const at = await locateOr(locate(hash, call, limit), (error) => {
      throw new RpcError('FAILED', `could not find transaction ${hexBytes(hash)}: ${errorMessage(error)}`)
    })
    return at === undefined ? null : reader.told(at.tipset, call, (block) => receiptAt(block, at.index, logsOf(block)))
  }
  const receipts = (tipset: Tipset, call: Walking): Promise<Json> =>
    reader.told(tipset, call, (block): Json => {
      const logs = logsOf(block)
      return block.messages.map((_, index) => receiptAt(block, index, logs))
    })
  const atIndex = (tipset: Tipset, index: bigint, call: Walking): Promise<Json> =>
    reader.told(tipset, call, (block) => {
      const { length } = block.messages
      if (index < BigInt(length)) return transactionAt(block, Number(index))
      throw new RpcError('FAILED', `index ${index} out of range: tipset contains ${length} messages`)
    })
  return [
    method({
      ...ethGetTransactionByHash,
      handler: (hash, call) => byHash(hash, NO_LIMIT, call),
    }),
    method({
      ...ethGetTransactionByHashLimited,
      handler: byHash,
    }),
    method({
      ...ethGetTransactionReceipt,
      handler: (hash, call) => receipt(hash, NO_LIMIT, call),
    }),
    method({
      ...ethGetTransactionReceiptLimited,
      handler: receipt,
    }),
    method({
      ...ethGetBlockReceipts,
      handler: async (block, call) => receipts(await reader.find(block, true, call), call),
    }),
    method({
      ...ethGetBlockReceiptsLimited,
      handler: async (block, limit, call) => {
        const tipset = await reader.find(block, true, call)
        if (limit <= NO_LIMIT || tipset.height >= store.head().height - limit) return receipts(tipset, call)
        const key = tipset.key.map((cid) => cid.toString()).join(',')
        throw new RpcError('FAILED', `tipset {${key}} is older than the allowed lookback limit`)
      },
    }),
    method({
      ...ethGetTransactionByBlockNumberAndIndex,
      handler: async (number, index, call) => atIndex(await reader.find(number, true, call), index, call),
    }),
    method({
      ...ethGetTransactionByBlockHashAndIndex,
      handler: async (hash, index, call) => atIndex(await reader.findHash(hash, call), index, call),
    }),
    method({
      ...ethGetTransactionHashByCid,
      handler: async (cid) => {
        try {
          return reader.hashOfMessage(cid, await knownMessage(store.blocks, index, cid))
        } catch (error) {
          if (error instanceof BlockMissing || error instanceof CodecError) return null
          throw error
        }
      },
    }),
    method({
      ...ethGetMessageCidByTransactionHash,
      handler: async (hash, call) => {
        if (hash === null) return null
        const row = index === undefined ? undefined : await indexedTransaction(index, hash)
        if (row !== undefined) return parseCid(row.cid)
        const known = await reader.messageCid(hash, call)
        if (known !== undefined) return known
        const pending = reader.pendingMessage(hash)
        return pending === undefined ? null : signedMessageCid(pending)
      },
    }),
  ]
}

function placeOf({ tipset, height, position }: TransactionRow): Place {
  return { blockHash: `0x${tipset}`, blockNumber: hexNumber(height), transactionIndex: hexNumber(position) }
}

/** @param replaced - what a transaction is whose nonce went to another one */
async function locateOr<T>(search: Promise<T>, replaced: (error: ChainError) => undefined): Promise<T | undefined> {
  try {
    return await search
  } catch (error) {
    if (error instanceof ChainError && error.code === 'MESSAGE_REPLACED') return replaced(error)
    throw error
  }
}
