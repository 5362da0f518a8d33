/** Signatures: Ethereum's blocks and addresses. */
import { bool, type Json, json, text } from '../../codec/description.ts'
import { type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'
import { ethHash, ethUint64 } from '../types/ethScalars.ts'

const hashParam = param('blkHash', ethHash)

const blockNumber = param('blkNum', text)

const fullParam = param('fullTxInfo', bool)

export const ethBlockNumber: CallSignature<readonly [], bigint> = callSignature({
  name: 'EthBlockNumber',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'Height of the last executed tipset.',
  aliases: ['eth_blockNumber'],
  params: [],
  result: ethUint64,
})

export const ethGetBlockByNumber: CallSignature<readonly [Param<string>, Param<boolean>], Json> = callSignature({
  name: 'EthGetBlockByNumber',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'A block by number or tag.',
  aliases: ['eth_getBlockByNumber'],
  params: [blockNumber, fullParam],
  result: json,
})

export const ethGetBlockByHash: CallSignature<readonly [Param<Uint8Array>, Param<boolean>], Json> = callSignature({
  name: 'EthGetBlockByHash',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'A block by hash.',
  aliases: ['eth_getBlockByHash'],
  params: [hashParam, fullParam],
  result: json,
})

export const ethGetBlockTransactionCountByNumber: CallSignature<readonly [Param<string>], bigint> = callSignature({
  name: 'EthGetBlockTransactionCountByNumber',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'Number of transactions of a block.',
  aliases: ['eth_getBlockTransactionCountByNumber'],
  params: [blockNumber],
  result: ethUint64,
})

export const ethGetBlockTransactionCountByHash: CallSignature<readonly [Param<Uint8Array>], bigint> = callSignature({
  name: 'EthGetBlockTransactionCountByHash',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'Number of transactions of a block.',
  aliases: ['eth_getBlockTransactionCountByHash'],
  params: [hashParam],
  result: ethUint64,
})
