/** Signatures: Ethereum's accounts. */
import { type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'
import { type BlockParam, blockParam } from '../types/ethCall.ts'
import { ethAddress, ethBigInt, ethBytes, ethUint64 } from '../types/ethScalars.ts'

const accountParam = param('address', ethAddress)

const block = param('blkParam', blockParam)

export const ethGetBalance: CallSignature<readonly [Param<Uint8Array>, Param<BlockParam>], bigint> = callSignature({
  name: 'EthGetBalance',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'Balance after a block, attoFIL.',
  aliases: ['eth_getBalance'],
  params: [accountParam, block],
  result: ethBigInt,
})

export const ethGetTransactionCount: CallSignature<readonly [Param<Uint8Array>, Param<BlockParam>], bigint> =
  callSignature({
    name: 'EthGetTransactionCount',
    perm: 'read',
    versions: ['v1', 'v2'],
    summary: 'Nonce after a block, or of the next transaction ("pending"); of a contract how many it has made.',
    aliases: ['eth_getTransactionCount'],
    params: [param('sender', ethAddress), block],
    result: ethUint64,
  })

export const ethGetCode: CallSignature<readonly [Param<Uint8Array>, Param<BlockParam>], Uint8Array> = callSignature({
  name: 'EthGetCode',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'Code of a contract after a block.',
  aliases: ['eth_getCode'],
  params: [accountParam, block],
  result: ethBytes,
})

export const ethGetStorageAt: CallSignature<
  readonly [Param<Uint8Array>, Param<Uint8Array>, Param<BlockParam>],
  Uint8Array
> = callSignature({
  name: 'EthGetStorageAt',
  cost: 'execute',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: "A slot of a contract's storage after a block.",
  aliases: ['eth_getStorageAt'],
  params: [accountParam, param('position', ethBytes), block],
  result: ethBytes,
})
