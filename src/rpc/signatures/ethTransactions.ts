/** Signatures: Ethereum's transactions and receipts. */
import type { Cid } from '../../codec/cid.ts'
import { cid, type Json, json, nullable, text } from '../../codec/description.ts'
import { chainEpoch } from '../../types/scalars.ts'
import { type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'
import { type BlockParam, blockParam } from '../types/ethCall.ts'
import { ethHash, ethUint64 } from '../types/ethScalars.ts'

const limitParam = param('limit', chainEpoch)

const txHash = param('txHash', ethHash)

const txHashOrNull = param('txHash', nullable(ethHash))

export const ethGetTransactionByHash: CallSignature<readonly [Param<Uint8Array | null>], Json> = callSignature({
  name: 'EthGetTransactionByHash',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'A transaction by hash; null when it is neither on the chain nor in the pool.',
  aliases: ['eth_getTransactionByHash'],
  params: [txHashOrNull],
  result: json,
})

export const ethGetTransactionByHashLimited: CallSignature<readonly [Param<Uint8Array | null>, Param<number>], Json> =
  callSignature({
    name: 'EthGetTransactionByHashLimited',
    perm: 'read',
    versions: ['v1', 'v2'],
    summary: 'A transaction by hash, searched some epochs deep.',
    params: [txHashOrNull, limitParam],
    result: json,
  })

export const ethGetTransactionReceipt: CallSignature<readonly [Param<Uint8Array>], Json> = callSignature({
  name: 'EthGetTransactionReceipt',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'Receipt of a transaction; null when it has not been executed.',
  aliases: ['eth_getTransactionReceipt'],
  params: [txHash],
  result: json,
})

export const ethGetTransactionReceiptLimited: CallSignature<readonly [Param<Uint8Array>, Param<number>], Json> =
  callSignature({
    name: 'EthGetTransactionReceiptLimited',
    perm: 'read',
    versions: ['v1', 'v2'],
    summary: 'Receipt of a transaction, searched some epochs deep.',
    params: [txHash, limitParam],
    result: json,
  })

export const ethGetBlockReceipts: CallSignature<readonly [Param<BlockParam>], Json> = callSignature({
  name: 'EthGetBlockReceipts',
  cost: 'scan',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: "Receipts of a block's transactions.",
  aliases: ['eth_getBlockReceipts'],
  params: [param('blkParam', blockParam)],
  result: json,
})

export const ethGetBlockReceiptsLimited: CallSignature<readonly [Param<BlockParam>, Param<number>], Json> =
  callSignature({
    name: 'EthGetBlockReceiptsLimited',
    cost: 'scan',
    perm: 'read',
    versions: ['v1', 'v2'],
    summary: "Receipts of a block's transactions, at most some epochs below the head.",
    params: [param('blkParam', blockParam), limitParam],
    result: json,
  })

export const ethGetTransactionByBlockNumberAndIndex: CallSignature<readonly [Param<string>, Param<bigint>], Json> =
  callSignature({
    name: 'EthGetTransactionByBlockNumberAndIndex',
    perm: 'read',
    versions: ['v1', 'v2'],
    summary: 'A transaction by its place.',
    aliases: ['eth_getTransactionByBlockNumberAndIndex'],
    params: [param('blkNum', text), param('txIndex', ethUint64)],
    result: json,
  })

export const ethGetTransactionByBlockHashAndIndex: CallSignature<readonly [Param<Uint8Array>, Param<bigint>], Json> =
  callSignature({
    name: 'EthGetTransactionByBlockHashAndIndex',
    perm: 'read',
    versions: ['v1', 'v2'],
    summary: 'A transaction by its place.',
    aliases: ['eth_getTransactionByBlockHashAndIndex'],
    params: [param('blkHash', ethHash), param('txIndex', ethUint64)],
    result: json,
  })

export const ethGetTransactionHashByCid: CallSignature<readonly [Param<Cid>], Uint8Array | null> = callSignature({
  name: 'EthGetTransactionHashByCid',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'Hash of the transaction that a message is; null when there is no such message.',
  params: [param('cid', cid)],
  result: nullable(ethHash),
})

export const ethGetMessageCidByTransactionHash: CallSignature<readonly [Param<Uint8Array | null>], Cid | null> =
  callSignature({
    name: 'EthGetMessageCidByTransactionHash',
    perm: 'read',
    versions: ['v1', 'v2'],
    summary: 'CID of the message that a transaction is.',
    params: [txHashOrNull],
    result: nullable(cid),
  })
