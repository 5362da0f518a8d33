/** Signatures: Ethereum's addresses. */
import { nullable, text } from '../../codec/description.ts'
import { type Address, address } from '../../types/address.ts'
import { type Param, param } from '../method.ts'
import { type CallSignature, callSignature, type RawSignature, rawSignature } from '../signature.ts'
import { ethAddress, ethUint64 } from '../types/ethScalars.ts'

export const ethChainId: CallSignature<readonly [], bigint> = callSignature({
  name: 'EthChainId',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: "The network's EIP-155 chain ID.",
  aliases: ['eth_chainId'],
  params: [],
  result: ethUint64,
})

export const ethAddressToFilecoinAddress: CallSignature<readonly [Param<Uint8Array>], Address> = callSignature({
  name: 'EthAddressToFilecoinAddress',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'The f0 or f410 address of an Ethereum address.',
  params: [param('ethAddress', ethAddress)],
  result: address,
})

export const filecoinAddressToEthAddress: RawSignature<readonly [Param<Address>, Param<string | null>], Uint8Array> =
  rawSignature({
    name: 'FilecoinAddressToEthAddress',
    perm: 'read',
    versions: ['v1', 'v2'],
    summary: 'The Ethereum address of a Filecoin address; f1, f2, f3 are looked up in the final state.',
    params: [param('filecoinAddress', address), param('blkParam', nullable(text))],
    result: ethAddress,
  })
