/**
 * The bytes of a signed Ethereum transaction, read.
 * @see lotus chain/types/ethtypes/eth_transactions.go ParseEthTransaction, parseLegacyTx; eth_1559_transactions.go
 */
import { bytesToBigInt } from '../base/bytes.ts'
import { CodecError } from '../codec/errors.ts'
import { MAX_BIG_INT_BYTES } from '../codec/limits.ts'
import { decodeRlp, type RlpItem } from '../codec/rlp.ts'
import { TypesError } from './errors.ts'
import { EIP1559_TYPE, type EthTransaction, recoveryBit, refuse } from './ethTransaction.ts'

function bytesAt(items: readonly RlpItem[], index: number): Uint8Array {
  const item = items[index]
  if (!(item instanceof Uint8Array)) throw refuse('cannot parse interface into bytes: input is not a byte array')
  return item
}

/** Of r, s and v. */
const WORD_BYTES = 32
/** Of the largest amount that a message can carry. */
const AMOUNT_BYTES = MAX_BIG_INT_BYTES - 1

function integerAt(items: readonly RlpItem[], index: number, mostBytes: number): bigint {
  const bytes = bytesAt(items, index)
  if (bytes.length <= mostBytes) return bytesToBigInt(bytes)
  throw refuse(`cannot parse interface to big.Int: ${bytes.length} bytes, at most ${mostBytes}`)
}

/** Nonce and gas limit: at most 8 bytes, read as a signed number. */
function shortInteger(bytes: Uint8Array): bigint {
  if (bytes.length > 8) throw refuse('cannot parse interface to int: length is more than 8 bytes')
  return bytesToBigInt(bytes)
}

function recipient(bytes: Uint8Array): Uint8Array | undefined {
  if (bytes.length === 0) return undefined
  if (bytes.length !== 20) throw refuse(`cannot parse bytes into an EthAddress: incorrect input length ${bytes.length}`)
  return bytes
}

function rlpList(data: Uint8Array, length: number, kind: string): readonly RlpItem[] {
  const list = decodeRlp(data)
  if (list instanceof Uint8Array) throw refuse(`not ${kind} transaction: decoded data is not a list`)
  if (list.length !== length) throw refuse(`not ${kind} transaction: should have ${length} elements in the rlp list`)
  return list
}

function parse1559(data: Uint8Array): EthTransaction {
  const list = rlpList(data, 12, 'an EIP-1559')
  const accessList = list[8]
  if (accessList === undefined || accessList instanceof Uint8Array || accessList.length !== 0) {
    throw refuse('access list should be an empty list')
  }
  const tx: EthTransaction = {
    kind: 'eip1559',
    chainId: shortInteger(bytesAt(list, 0)),
    nonce: shortInteger(bytesAt(list, 1)),
    maxPriorityFeePerGas: integerAt(list, 2, AMOUNT_BYTES),
    maxFeePerGas: integerAt(list, 3, AMOUNT_BYTES),
    gasLimit: shortInteger(bytesAt(list, 4)),
    to: recipient(bytesAt(list, 5)),
    value: integerAt(list, 6, AMOUNT_BYTES),
    input: bytesAt(list, 7),
    v: integerAt(list, 9, WORD_BYTES),
    r: integerAt(list, 10, WORD_BYTES),
    s: integerAt(list, 11, WORD_BYTES),
  }
  if (tx.v > 1n) throw refuse('EIP-1559 transactions only support 0 or 1 for v')
  return tx
}

function parseLegacy(data: Uint8Array, chainId: bigint): EthTransaction {
  const list = rlpList(data, 9, 'a Legacy')
  const gasPrice = integerAt(list, 1, AMOUNT_BYTES)
  const v = integerAt(list, 6, WORD_BYTES)
  const kind = v === 27n || v === 28n ? 'homestead' : 'eip155'
  const tx: EthTransaction = {
    kind,
    chainId: kind === 'homestead' ? 0n : chainId,
    nonce: shortInteger(bytesAt(list, 0)),
    maxFeePerGas: gasPrice,
    maxPriorityFeePerGas: gasPrice,
    gasLimit: shortInteger(bytesAt(list, 2)),
    to: recipient(bytesAt(list, 3)),
    value: integerAt(list, 4, AMOUNT_BYTES),
    input: bytesAt(list, 5),
    v,
    r: integerAt(list, 7, WORD_BYTES),
    s: integerAt(list, 8, WORD_BYTES),
  }
  if (kind === 'eip155' && recoveryBit(tx) === undefined) {
    throw refuse(
      `failed to validate EIP155 chain id: invalid chain id, expected ${chainId}, got ${BigInt.asUintN(64, v - 35n) / 2n}`,
    )
  }
  return tx
}

/**
 * The transaction of `eth_sendRawTransaction`.
 * @param chainId - of this network; others are refused where the transaction names one in v
 * @throws TypesError `INVALID_TRANSACTION`; CodecError `INVALID_RLP`
 */
export function parseTransaction(data: Uint8Array, chainId: bigint): EthTransaction {
  const first = data[0]
  if (first === undefined) throw refuse('empty data')
  if (first === 1) throw refuse('EIP-2930 transaction is not supported')
  if (first === EIP1559_TYPE) {
    const tx = parse1559(data.subarray(1))
    if (tx.chainId !== chainId) throw refuse(`invalid chain id: ${tx.chainId}`)
    return tx
  }
  if (first <= 0x7f) throw refuse('unsupported transaction type')
  try {
    return parseLegacy(data, chainId)
  } catch (error) {
    const context = 'failed to parse legacy transaction: '
    if (error instanceof TypesError) throw refuse(`${context}${error.message}`)
    if (error instanceof CodecError) throw new CodecError(error.code, `${context}${error.message}`, error.info)
    throw error
  }
}
