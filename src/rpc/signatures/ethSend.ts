/** Signatures: Ethereum's transactions that are sent. */
import { type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'
import { ethBytes, ethHash } from '../types/ethScalars.ts'

const rawParam = param('rawTx', ethBytes)

export const ethSendRawTransaction: CallSignature<readonly [Param<Uint8Array>], Uint8Array> = callSignature({
  name: 'EthSendRawTransaction',
  perm: 'read',
  runsOnce: true,
  versions: ['v1', 'v2'],
  summary: 'Takes a signed transaction (EIP-1559, EIP-155 or older) into the pool; its hash.',
  aliases: ['eth_sendRawTransaction'],
  params: [rawParam],
  result: ethHash,
})

export const ethSendRawTransactionUntrusted: CallSignature<readonly [Param<Uint8Array>], Uint8Array> = callSignature({
  name: 'EthSendRawTransactionUntrusted',
  perm: 'read',
  runsOnce: true,
  versions: ['v1', 'v2'],
  summary: 'Takes a signed transaction of a stranger; its hash.',
  params: [rawParam],
  result: ethHash,
})
