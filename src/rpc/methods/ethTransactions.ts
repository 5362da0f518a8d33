/**
 * Methods of Ethereum's interface about transactions and their receipts.
 * @see lotus node/impl/eth/transaction.go
 */
import { errorMessage } from '../../base/errors.ts'
import { ChainError } from '../../chain/errors.ts'
import { cid, type Json, json, nullable, text } from '../../codec/description.ts'
import { ethTransactionOf } from '../../eth/ethTransactionOf.ts'
import { BlockMissing } from '../../ipld/errors.ts'
import { chainEpoch } from '../../types/scalars.ts'
import { signedMessageCid } from '../../types/signedMessage.ts'
import type { Tipset } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import type { EthReader, Locate } from '../ethReader.ts'
import { type MethodRow, method, param } from '../method.ts'
import { logsOf, NOWHERE, receiptAt, transactionAt, transactionJson } from '../types/eth.ts'
import { blockParam } from '../types/ethCall.ts'
import { ethHash, ethUint64, hexBytes } from '../types/ethScalars.ts'

const NO_LIMIT = -1
const limitParam = param('limit', chainEpoch)

/** Rows about transactions. */
export function ethTransactionMethods(reader: EthReader, locate: Locate): MethodRow[] {
  const { chainId } = reader
  const { store } = reader.view
  const txHash = param('txHash', ethHash)
  const txHashOrNull = param('txHash', nullable(ethHash))
  const pendingJson = (hash: Uint8Array): Json => {
    const signed = reader.pendingMessage(hash)
    if (signed === undefined) return null
    const tree = reader.view.stateBefore(store.head())
    return transactionJson(
      ethTransactionOf({ kind: 'signed', message: signed.message, signed }, tree, chainId),
      NOWHERE,
    )
  }
  const byHash = async (hash: Uint8Array | null, limit: number): Promise<Json> => {
    if (hash === null) return null
    const at = await locateOr(locate(hash, limit), () => undefined)
    return at === undefined ? pendingJson(hash) : transactionAt(at.executed, at.index, chainId)
  }
  const receipt = async (hash: Uint8Array, limit: number): Promise<Json> => {
    const at = await locateOr(locate(hash, limit), (error) => {
      throw new RpcError('FAILED', `could not find transaction ${hexBytes(hash)}: ${errorMessage(error)}`)
    })
    return at === undefined ? null : receiptAt(at.executed, at.index, chainId, logsOf(at.executed, chainId))
  }
  const receipts = async (tipset: Tipset): Promise<Json> => {
    const executed = await reader.executed(tipset)
    const logs = logsOf(executed, chainId)
    return executed.messages.map((_, index) => receiptAt(executed, index, chainId, logs))
  }
  const atIndex = async (tipset: Tipset, index: bigint): Promise<Json> => {
    const executed = await reader.executed(tipset)
    const { length } = executed.messages
    if (index < BigInt(length)) return transactionAt(executed, Number(index), chainId)
    throw new RpcError('FAILED', `index ${index} out of range: tipset contains ${length} messages`)
  }
  return [
    method({
      name: 'EthGetTransactionByHash',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'A transaction by hash; null when it is neither on the chain nor in the pool.',
      aliases: ['eth_getTransactionByHash'],
      params: [txHashOrNull],
      result: json,
      handler: (hash) => byHash(hash, NO_LIMIT),
    }),
    method({
      name: 'EthGetTransactionByHashLimited',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'A transaction by hash, searched some epochs deep.',
      params: [txHashOrNull, limitParam],
      result: json,
      handler: byHash,
    }),
    method({
      name: 'EthGetTransactionReceipt',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'Receipt of a transaction; null when it has not been executed.',
      aliases: ['eth_getTransactionReceipt'],
      params: [txHash],
      result: json,
      handler: (hash) => receipt(hash, NO_LIMIT),
    }),
    method({
      name: 'EthGetTransactionReceiptLimited',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'Receipt of a transaction, searched some epochs deep.',
      params: [txHash, limitParam],
      result: json,
      handler: receipt,
    }),
    method({
      name: 'EthGetBlockReceipts',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: "Receipts of a block's transactions.",
      aliases: ['eth_getBlockReceipts'],
      params: [param('blkParam', blockParam)],
      result: json,
      handler: (block) => receipts(reader.tipset(block, true)),
    }),
    method({
      name: 'EthGetBlockReceiptsLimited',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: "Receipts of a block's transactions, at most some epochs below the head.",
      params: [param('blkParam', blockParam), limitParam],
      result: json,
      handler: (block, limit) => {
        const tipset = reader.tipset(block, true)
        if (limit <= NO_LIMIT || tipset.height >= store.head().height - limit) return receipts(tipset)
        const key = tipset.key.map((one) => one.toString()).join(',')
        throw new RpcError('FAILED', `tipset {${key}} is older than the allowed lookback limit`)
      },
    }),
    method({
      name: 'EthGetTransactionByBlockNumberAndIndex',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'A transaction by its place.',
      aliases: ['eth_getTransactionByBlockNumberAndIndex'],
      params: [param('blkNum', text), param('txIndex', ethUint64)],
      result: json,
      handler: (number, index) => atIndex(reader.tipset(number, true), index),
    }),
    method({
      name: 'EthGetTransactionByBlockHashAndIndex',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'A transaction by its place.',
      aliases: ['eth_getTransactionByBlockHashAndIndex'],
      params: [param('blkHash', ethHash), param('txIndex', ethUint64)],
      result: json,
      handler: (hash, index) => atIndex(reader.tipsetOfHash(hash), index),
    }),
    method({
      name: 'EthGetTransactionHashByCid',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'Hash of the transaction that a message is; null when there is no such message.',
      params: [param('cid', cid)],
      result: nullable(ethHash),
      handler: (one) => {
        try {
          return reader.hashOfMessage(one)
        } catch (error) {
          if (error instanceof BlockMissing) return null
          throw error
        }
      },
    }),
    method({
      name: 'EthGetMessageCidByTransactionHash',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'CID of the message that a transaction is.',
      params: [txHashOrNull],
      result: nullable(cid),
      handler: (hash) => {
        if (hash === null) return null
        const known = reader.index.messageCid(hash)
        if (known !== undefined) return known
        const pending = reader.pendingMessage(hash)
        return pending === undefined ? null : signedMessageCid(pending)
      },
    }),
  ]
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
