/**
 * A message of the chain as an Ethereum transaction.
 * @see lotus node/impl/eth/utils.go newEthTxFromSignedMessage, ethTxFromNativeMessage; rpc-wire section 15
 */
import type { StateTree } from '../state/stateTree.ts'
import type { Address } from '../types/address.ts'
import type { ChainMessage } from '../types/chainMessage.ts'
import { chainMessageCid } from '../types/chainMessage.ts'
import { transactionHash, transactionOfSignedMessage } from '../types/ethTransaction.ts'
import { EamMethod, EvmMethod } from '../types/methodNumbers.ts'
import { SIGNATURE_DELEGATED } from '../types/signature.ts'
import { EAM_ADDRESS } from '../types/singletons.ts'
import { ethAddressOf, NOBODY } from './ethActorAddress.ts'
import { nativeCallData, unwrapPayload } from './nativeAbi.ts'

const CODEC_CBOR = 0x51

/** A transaction as the interface shows it, without its place in a block. */
export interface EthTransactionView {
  readonly hash: Uint8Array
  readonly chainId: bigint
  readonly nonce: bigint
  readonly from: Uint8Array
  readonly to: Uint8Array | undefined
  readonly value: bigint
  /** 0: untyped; 2: EIP-1559, and every native message. */
  readonly type: 0 | 2
  readonly input: Uint8Array
  readonly gas: bigint
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  /** Native messages have an empty list, signed transactions none. */
  readonly isNative: boolean
  readonly v: bigint
  readonly r: bigint
  readonly s: bigint
}

/** Ethereum's hash of a delegated message; undefined: it is another one, whose hash is in its CID. */
export function delegatedHash(message: ChainMessage, chainId: bigint): Uint8Array | undefined {
  const isDelegated = message.kind === 'signed' && message.signed.signature.type === SIGNATURE_DELEGATED
  return isDelegated ? transactionHash(transactionOfSignedMessage(message.signed, chainId)) : undefined
}

/** Ethereum's hash of a delegated message, else the digest of the message's CID. */
export function ethHashOf(message: ChainMessage, chainId: bigint): Uint8Array {
  return delegatedHash(message, chainId) ?? chainMessageCid(message).digest
}

/** @param tree - the state after the tipset that holds the message */
export function ethTransactionOf(sent: ChainMessage, tree: StateTree, chainId: bigint): EthTransactionView {
  const { from, to } = sent.message
  const addressOf = (address: Address): Uint8Array => ethAddressOf(tree, address) ?? NOBODY
  return ethTransactionBetween(sent, { from: addressOf(from), to: () => addressOf(to) }, chainId)
}

/** The same where the 20 bytes of sender and recipient are known. */
export function ethTransactionBetween(
  sent: ChainMessage,
  { from, to }: { readonly from: Uint8Array; readonly to: () => Uint8Array },
  chainId: bigint,
): EthTransactionView {
  const { message } = sent
  if (sent.kind === 'signed' && sent.signed.signature.type === SIGNATURE_DELEGATED) {
    const tx = transactionOfSignedMessage(sent.signed, chainId)
    return {
      hash: transactionHash(tx),
      chainId: tx.chainId,
      nonce: tx.nonce,
      from,
      to: tx.to,
      value: tx.value,
      type: tx.kind === 'eip1559' ? 2 : 0,
      input: tx.input,
      gas: tx.gasLimit,
      maxFeePerGas: tx.maxFeePerGas,
      maxPriorityFeePerGas: tx.maxPriorityFeePerGas,
      isNative: false,
      v: tx.v,
      r: tx.r,
      s: tx.s,
    }
  }
  const codec = message.params.length > 0 ? CODEC_CBOR : 0
  const isCreation = message.to.equals(EAM_ADDRESS) && message.method === EamMethod.CreateExternal
  const special =
    message.method === EvmMethod.InvokeContract || isCreation ? unwrapPayload(message.params, codec) : undefined
  return {
    hash: chainMessageCid(sent).digest,
    chainId,
    nonce: message.nonce,
    from,
    to: isCreation && special !== undefined ? undefined : to(),
    value: message.value,
    type: 2,
    input: special ?? nativeCallData(message.method, codec, message.params),
    gas: message.gasLimit,
    maxFeePerGas: message.gasFeeCap,
    maxPriorityFeePerGas: message.gasPremium,
    isNative: true,
    v: 0n,
    r: 0n,
    s: 0n,
  }
}
