/** Signatures: Ethereum's facts of the network. */
import { type Json, json, text } from '../../codec/description.ts'
import { type CallSignature, callSignature } from '../signature.ts'
import { ethUint64 } from '../types/ethScalars.ts'

export const web3ClientVersion: CallSignature<readonly [], string> = callSignature({
  name: 'Web3ClientVersion',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: "The node's name and version.",
  aliases: ['web3_clientVersion'],
  params: [],
  result: text,
})

export const netVersion: CallSignature<readonly [], string> = callSignature({
  name: 'NetVersion',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'The chain ID in decimal.',
  aliases: ['net_version'],
  params: [],
  result: text,
})

export const ethProtocolVersion: CallSignature<readonly [], bigint> = callSignature({
  name: 'EthProtocolVersion',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'The network version.',
  aliases: ['eth_protocolVersion'],
  params: [],
  result: ethUint64,
})

export const ethAccounts: CallSignature<readonly [], Json> = callSignature({
  name: 'EthAccounts',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'None: the node signs no Ethereum transactions.',
  aliases: ['eth_accounts'],
  params: [],
  result: json,
})
