/**
 * Ethereum transactions as messages, and back. A message by an f410 sender is signed as the Ethereum transaction that it
 * stands for; how long the signature is says which kind: 65 bytes EIP-1559, 66 with prefix 01 untyped without chain ID
 * ("homestead"), longer with prefix 02 untyped with chain ID (EIP-155).
 * @see lotus chain/types/ethtypes/eth_transactions.go, eth_1559_transactions.go, eth_legacy_155_transactions.go,
 * eth_legacy_homestead_transactions.go; FRC-0089 and FIP-0091
 */
import { bigIntToBytes, bytesToBigInt, concatBytes, EMPTY_BYTES } from '../base/bytes.ts'
import { CborReader } from '../codec/cborReader.ts'
import { CborWriter } from '../codec/cborWriter.ts'
import { encodeRlp, type RlpItem } from '../codec/rlp.ts'
import { keccak256 } from '../crypto/hashes.ts'
import { recover } from '../crypto/secp256k1.ts'
import type { Address } from './address.ts'
import { TypesError } from './errors.ts'
import { addressToEthAddress, ethAddressToAddress } from './ethAddress.ts'
import type { Message } from './message.ts'
import { EamMethod, EvmMethod } from './methodNumbers.ts'
import { SIGNATURE_DELEGATED, type Signature } from './signature.ts'
import type { SignedMessage } from './signedMessage.ts'
import { EAM_ADDRESS } from './singletons.ts'

/** Type byte before the RLP of an EIP-1559 transaction. */
export const EIP1559_TYPE = 0x02
const EIP1559_SIGNATURE_LENGTH = 65
const HOMESTEAD_PREFIX = 0x01
const HOMESTEAD_SIGNATURE_LENGTH = 66
const EIP155_PREFIX = 0x02

/** `homestead` and `eip155` are the legacy forms, without and with a chain ID in `v`; no access lists in any. @see FIP-0091 */
type EthTransactionKind = 'eip1559' | 'homestead' | 'eip155'

/** A transaction of any kind that Filecoin takes. */
export interface EthTransaction {
  readonly kind: EthTransactionKind
  /** 0 for homestead. */
  readonly chainId: bigint
  readonly nonce: bigint
  /** 20 bytes; undefined creates a contract. */
  readonly to: Uint8Array | undefined
  /** AttoFIL. */
  readonly value: bigint
  /** Call data or creation code. */
  readonly input: Uint8Array
  readonly gasLimit: bigint
  /** AttoFIL per gas; in untyped transactions both are the gas price. */
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  /** 0 or 1 (EIP-1559), 27 or 28 (homestead), 2 x chain ID + 35 or 36 (EIP-155); 0 while unsigned. */
  readonly v: bigint
  readonly r: bigint
  readonly s: bigint
}

/** The error of what is no such transaction. */
export function refuse(message: string): TypesError {
  return new TypesError('INVALID_TRANSACTION', message)
}

/** Big-endian without leading zeros; nonce and gas limit are 64 bits wide in the reference. */
function integer(value: bigint): Uint8Array {
  if (value < 0n) throw refuse('Cannot encode transaction: a number is negative')
  return bigIntToBytes(value)
}

function fields(tx: EthTransaction): RlpItem[] {
  const to = tx.to ?? EMPTY_BYTES
  if (tx.kind === 'eip1559') {
    return [
      integer(tx.chainId),
      integer(tx.nonce),
      integer(tx.maxPriorityFeePerGas),
      integer(tx.maxFeePerGas),
      integer(tx.gasLimit),
      to,
      integer(tx.value),
      tx.input,
      [],
    ]
  }
  return [integer(tx.nonce), integer(tx.maxFeePerGas), integer(tx.gasLimit), to, integer(tx.value), tx.input]
}

function typed(tx: EthTransaction, items: readonly RlpItem[]): Uint8Array {
  const rlp = encodeRlp(items)
  return tx.kind === 'eip1559' ? concatBytes(Uint8Array.of(EIP1559_TYPE), rlp) : rlp
}

/** What is signed: keccak-256 of these bytes. */
export function unsignedTransactionBytes(tx: EthTransaction): Uint8Array {
  const items = fields(tx)
  if (tx.kind === 'eip155') items.push(integer(tx.chainId), EMPTY_BYTES, EMPTY_BYTES)
  return typed(tx, items)
}

/** The transaction as `eth_sendRawTransaction` takes it. */
export function signedTransactionBytes(tx: EthTransaction): Uint8Array {
  return typed(tx, [...fields(tx), integer(tx.v), integer(tx.r), integer(tx.s)])
}

/** Hash by which Ethereum knows the signed transaction, 32 bytes. */
export function transactionHash(tx: EthTransaction): Uint8Array {
  return keccak256(signedTransactionBytes(tx))
}

/** The recovery bit 0 or 1 that `v` stands for; undefined when it does not fit the kind. */
export function recoveryBit(tx: EthTransaction): number | undefined {
  const base = tx.kind === 'eip1559' ? 0n : tx.kind === 'homestead' ? 27n : tx.chainId * 2n + 35n
  return tx.v === base ? 0 : tx.v === base + 1n ? 1 : undefined
}

/** r ‖ s ‖ recovery bit, 65 bytes, or undefined when r, s or v are out of range. */
export function recoverableSignature(tx: EthTransaction): Uint8Array | undefined {
  const bit = recoveryBit(tx)
  if (bit === undefined || tx.r >= 1n << 256n || tx.s >= 1n << 256n) return undefined
  return concatBytes(bigIntToBytes(tx.r, 32), bigIntToBytes(tx.s, 32), Uint8Array.of(bit))
}

/** The 20 bytes of the account with this public key (65 bytes, uncompressed). */
export function ethAddressOfPublicKey(publicKey: Uint8Array): Uint8Array {
  return keccak256(publicKey.subarray(1)).subarray(12)
}

/**
 * The f410 address of the account that signed.
 * @throws TypesError `INVALID_SIGNATURE` when no key fits
 */
export function transactionSender(tx: EthTransaction): Address {
  const signature = recoverableSignature(tx)
  const key = signature && recover(keccak256(unsignedTransactionBytes(tx)), signature)
  if (key === undefined) throw new TypesError('INVALID_SIGNATURE', 'failed to recover pubkey')
  return ethAddressToAddress(ethAddressOfPublicKey(key))
}

/**
 * Call data as message parameters: a CBOR byte string, or nothing when there is none.
 * The form is the message's own; `40` (an empty byte string) is refused on the way back.
 */
function paramsOf(input: Uint8Array): Uint8Array {
  if (input.length === 0) return EMPTY_BYTES
  const writer = new CborWriter()
  writer.bytes(input)
  return writer.finish()
}

function inputOf(params: Uint8Array): Uint8Array {
  if (params.length === 0) return EMPTY_BYTES
  let input: Uint8Array
  try {
    const reader = new CborReader(params)
    input = reader.readBytes()
    reader.end()
  } catch (cause) {
    throw new TypesError('INVALID_TRANSACTION', 'failed to read params byte array', {}, { cause })
  }
  if (input.length === 0) throw refuse('non-empty params encode empty byte array')
  return input
}

function inputAndRecipient(message: Message): Pick<EthTransaction, 'input' | 'to'> {
  const input = inputOf(message.params)
  if (message.to.equals(EAM_ADDRESS)) {
    if (message.method !== EamMethod.CreateExternal) throw refuse('unsupported EAM method')
    return { input, to: undefined }
  }
  if (message.method !== EvmMethod.InvokeContract) {
    throw refuse(
      `invalid methodnum ${message.method}: only allowed method is ` +
        `InvokeContract(${EvmMethod.InvokeContract}) or CreateExternal(${EamMethod.CreateExternal})`,
    )
  }
  const to = addressToEthAddress(message.to)
  if (to === undefined) throw refuse('recipient is no f410 or f0 address')
  return { input, to }
}

/** The unsigned message of a transaction, by sender `from`. */
export function transactionToMessage(tx: EthTransaction, from: Address): Message {
  return {
    version: 0,
    to: tx.to === undefined ? EAM_ADDRESS : ethAddressToAddress(tx.to),
    from,
    nonce: tx.nonce,
    value: tx.value,
    gasLimit: tx.gasLimit,
    gasFeeCap: tx.maxFeePerGas,
    gasPremium: tx.maxPriorityFeePerGas,
    method: tx.to === undefined ? EamMethod.CreateExternal : EvmMethod.InvokeContract,
    params: paramsOf(tx.input),
  }
}

/**
 * The unsigned EIP-1559 transaction of a message: what a delegated key signs.
 * @throws TypesError `INVALID_TRANSACTION` when no transaction stands for it
 */
export function transactionOfMessage(message: Message, chainId: bigint): EthTransaction {
  if (message.version !== 0) throw refuse(`unsupported msg version: ${message.version}`)
  let parts: Pick<EthTransaction, 'input' | 'to'>
  try {
    parts = inputAndRecipient(message)
  } catch (cause) {
    if (!(cause instanceof TypesError)) throw cause
    throw new TypesError(cause.code, `failed to get eth params and recipient: ${cause.message}`, {}, { cause })
  }
  return {
    kind: 'eip1559',
    chainId,
    nonce: message.nonce,
    value: message.value,
    ...parts,
    gasLimit: message.gasLimit,
    maxFeePerGas: message.gasFeeCap,
    maxPriorityFeePerGas: message.gasPremium,
    v: 0n,
    r: 0n,
    s: 0n,
  }
}

/** Lengths that an EIP-155 signature may have on this chain, prefix included. */
function eip155Lengths(chainId: bigint): readonly [number, number] {
  const length = (v: bigint): number => 65 + bigIntToBytes(v).length
  return [length(chainId * 2n + 35n), length(chainId * 2n + 36n)]
}

function kindOfSignature(data: Uint8Array, chainId: bigint): EthTransactionKind {
  if (data.length === EIP1559_SIGNATURE_LENGTH) return 'eip1559'
  const known = data.length === HOMESTEAD_SIGNATURE_LENGTH || eip155Lengths(chainId).includes(data.length)
  if (!known) throw refuse('unsupported signature length')
  if (data[0] === HOMESTEAD_PREFIX) {
    if (data.length !== HOMESTEAD_SIGNATURE_LENGTH)
      throw refuse(`signature should be 66 bytes long, but got ${data.length} bytes`)
    return 'homestead'
  }
  if (data[0] === EIP155_PREFIX) {
    if (!eip155Lengths(chainId).includes(data.length))
      throw refuse(`wrong length of an EIP-155 signature: ${data.length} bytes`)
    return 'eip155'
  }
  throw refuse(`unsupported legacy transaction; first byte of signature is ${data[0]}`)
}

/**
 * The transaction that a signed message stands for.
 * @param chainId - of this network
 * @throws TypesError `INVALID_TRANSACTION`
 */
export function transactionOfSignedMessage(signed: SignedMessage, chainId: bigint): EthTransaction {
  const { message, signature } = signed
  if (signature.type !== SIGNATURE_DELEGATED) {
    throw refuse(`signature is not delegated type, is type: ${signature.type}`)
  }
  if (addressToEthAddress(message.from) === undefined) throw refuse('sender was not an eth account')
  const parts = inputAndRecipient(message)
  if (message.version !== 0) throw refuse(`unsupported msg version: ${message.version}`)
  const kind = kindOfSignature(signature.data, chainId)
  const start = kind === 'eip1559' ? 0 : 1
  const tx: EthTransaction = {
    kind,
    chainId: kind === 'homestead' ? 0n : chainId,
    nonce: message.nonce,
    value: message.value,
    ...parts,
    gasLimit: message.gasLimit,
    maxFeePerGas: message.gasFeeCap,
    // An untyped transaction has one price only; a message that says otherwise is found by comparing it afterwards.
    maxPriorityFeePerGas: kind === 'eip1559' ? message.gasPremium : message.gasFeeCap,
    r: bytesToBigInt(signature.data.subarray(start, start + 32)),
    s: bytesToBigInt(signature.data.subarray(start + 32, start + 64)),
    v: bytesToBigInt(signature.data.subarray(start + 64)),
  }
  if (kind === 'homestead' && recoveryBit(tx) === undefined) {
    throw refuse('legacy homestead transactions only support 27 or 28 for v')
  }
  if (kind === 'eip155' && recoveryBit(tx) === undefined) {
    throw refuse(`failed to validate EIP155 chain id: v ${tx.v} is not of chain ${chainId}`)
  }
  return tx
}

/**
 * The signature as the message carries it.
 * @throws TypesError `INVALID_SIGNATURE` when v, r or s are out of range
 */
function transactionSignature(tx: EthTransaction): Signature {
  const rsv = recoverableSignature(tx)
  if (rsv === undefined) throw new TypesError('INVALID_SIGNATURE', 'Cannot write signature: v, r or s is out of range')
  if (tx.kind === 'eip1559') return { type: SIGNATURE_DELEGATED, data: rsv }
  const prefix = Uint8Array.of(tx.kind === 'homestead' ? HOMESTEAD_PREFIX : EIP155_PREFIX)
  return { type: SIGNATURE_DELEGATED, data: concatBytes(prefix, rsv.subarray(0, 64), bigIntToBytes(tx.v)) }
}

/** The message of a signed transaction, sender recovered. */
export function transactionToSignedMessage(tx: EthTransaction): SignedMessage {
  return { message: transactionToMessage(tx, transactionSender(tx)), signature: transactionSignature(tx) }
}
