/**
 * Methods of Ethereum's interface about transactions and their receipts.
 * @see lotus node/impl/eth/transaction.go
 */

import { errorMessage } from '../../base/errors.ts'
import type { Steps } from '../../base/steps.ts'
import { ChainError } from '../../chain/errors.ts'
import type { Json } from '../../codec/description.ts'
import { CodecError } from '../../codec/errors.ts'
import { ethTransactionOf } from '../../eth/ethTransactionOf.ts'
import type { HeadIndex } from '../../index/headIndex.ts'
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
    return at === undefined ? pendingJson(hash) : transactionAt(at.executed, at.index, chainId)
  }
  const receipt = async (hash: Uint8Array, limit: number, call: Walking): Promise<Json> => {
    const at = await locateOr(locate(hash, call, limit), (error) => {
      throw new RpcError('FAILED', `could not find transaction ${hexBytes(hash)}: ${errorMessage(error)}`)
    })
    return at === undefined ? null : receiptAt(at.executed, at.index, chainId, logsOf(at.executed, chainId))
  }
  const receipts = async (tipset: Tipset, call: Walking): Promise<Json> => {
    const executed = await reader.executed(tipset, call)
    const logs = logsOf(executed, chainId)
    return executed.messages.map((_, index) => receiptAt(executed, index, chainId, logs))
  }
  const atIndex = async (steps: Steps<Tipset>, index: bigint, call: Walking): Promise<Json> => {
    const executed = await reader.executed(await call.walk(steps), call)
    const { length } = executed.messages
    if (index < BigInt(length)) return transactionAt(executed, Number(index), chainId)
    throw new RpcError('FAILED', `index ${index} out of range: tipset contains ${length} messages`)
  }
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
      handler: async (block, call) => receipts(await call.walk(reader.tipset(block, true)), call),
    }),
    method({
      ...ethGetBlockReceiptsLimited,
      handler: async (block, limit, call) => {
        const tipset = await call.walk(reader.tipset(block, true))
        if (limit <= NO_LIMIT || tipset.height >= store.head().height - limit) return receipts(tipset, call)
        const key = tipset.key.map((cid) => cid.toString()).join(',')
        throw new RpcError('FAILED', `tipset {${key}} is older than the allowed lookback limit`)
      },
    }),
    method({
      ...ethGetTransactionByBlockNumberAndIndex,
      handler: (number, index, call) => atIndex(reader.tipset(number, true), index, call),
    }),
    method({
      ...ethGetTransactionByBlockHashAndIndex,
      handler: (hash, index, call) => atIndex(reader.tipsetOfHash(hash), index, call),
    }),
    method({
      ...ethGetTransactionHashByCid,
      handler: (cid) => {
        try {
          return reader.hashOfMessage(cid)
        } catch (error) {
          if (error instanceof BlockMissing || error instanceof CodecError) return null
          throw error
        }
      },
    }),
    method({
      ...ethGetMessageCidByTransactionHash,
      handler: async (hash, { walk }) => {
        if (hash === null) return null
        const known = await walk(reader.index.messageCid(hash))
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
