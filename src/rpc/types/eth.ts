/**
 * JSON of Ethereum's blocks, transactions, receipts and logs.
 * @see lotus chain/types/ethtypes; rpc-wire section 15
 */
import { finish, type Steps } from '../../base/steps.ts'
import type { Json } from '../../codec/jsonText.ts'
import type { EthBlock } from '../../eth/ethBlock.ts'
import { ethBlockHash } from '../../eth/ethIndex.ts'
import { logsBloom, type PlacedLog } from '../../eth/ethLogs.ts'
import { createdAddress, type EthTrace } from '../../eth/ethTraces.ts'
import type { EthTransactionView } from '../../eth/ethTransactionOf.ts'
import type { LoggedTipset } from '../../eth/loggedTipset.ts'
import { gasOutputs } from '../../fvm/gas/outputs.ts'
import { BLOCK_GAS_LIMIT } from '../../types/protocol.ts'
import { firstBlock, tipsetKeyCid } from '../../types/tipset.ts'
import { hexBytes, hexNumber } from './ethScalars.ts'

const HASH_BYTES = 32
const ZERO_HASH = `0x${'00'.repeat(HASH_BYTES)}`
const ZERO_ADDRESS = `0x${'00'.repeat(20)}`
const NO_TRANSACTIONS_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
const NO_UNCLES = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347'

/** Where a transaction stands. */
export interface Place {
  readonly blockHash: string | null
  readonly blockNumber: string | null
  readonly transactionIndex: string | null
}

/** Where a transaction of the pool stands. */
export const NOWHERE: Place = { blockHash: null, blockNumber: null, transactionIndex: null }

function place(block: EthBlock, index: number): Place {
  return placeIn(blockPlace(block), index)
}

/** Where all transactions of a block stand. */
function blockPlace({ tipset }: Pick<EthBlock, 'tipset'>): Pick<Place, 'blockHash' | 'blockNumber'> {
  return { blockHash: hexBytes(ethBlockHash(tipset)), blockNumber: hexNumber(tipset.height) }
}

function placeIn(block: Pick<Place, 'blockHash' | 'blockNumber'>, index: number): Place {
  return { ...block, transactionIndex: hexNumber(index) }
}

/** A transaction with its place in a block. */
export function transactionJson(tx: EthTransactionView, at: Place): Json {
  const fees: { [key: string]: Json } =
    tx.type === 0
      ? { gasPrice: hexNumber(tx.maxFeePerGas) }
      : { maxFeePerGas: hexNumber(tx.maxFeePerGas), maxPriorityFeePerGas: hexNumber(tx.maxPriorityFeePerGas) }
  return {
    chainId: hexNumber(tx.chainId),
    nonce: hexNumber(tx.nonce),
    hash: hexBytes(tx.hash),
    ...at,
    from: hexBytes(tx.from),
    to: tx.to === undefined ? null : hexBytes(tx.to),
    value: hexNumber(tx.value),
    type: hexNumber(tx.type),
    input: hexBytes(tx.input),
    gas: hexNumber(tx.gas),
    ...fees,
    accessList: tx.isNative ? [] : null,
    v: hexNumber(tx.v),
    r: hexNumber(tx.r),
    s: hexNumber(tx.s),
  }
}

/** The transaction at an index of a block. */
export function transactionAt(block: EthBlock, index: number): Json {
  return block.messages[index] === undefined ? null : transactionJson(block.transaction(index), place(block, index))
}

/** A log by itself. */
export interface LoneLog extends Pick<PlacedLog, 'address' | 'topics' | 'data' | 'logIndex'> {
  readonly transactionHash: Uint8Array
  readonly blockHash: Uint8Array
  readonly blockNumber: number
  readonly transactionIndex: number
}

/** A log by itself, as `eth_getLogs` has it. */
export function loneLogJson(log: LoneLog): Json {
  return {
    address: hexBytes(log.address),
    data: hexBytes(log.data),
    topics: log.topics.map(hexBytes),
    removed: false,
    logIndex: hexNumber(log.logIndex),
    transactionIndex: hexNumber(log.transactionIndex),
    transactionHash: hexBytes(log.transactionHash),
    blockHash: hexBytes(log.blockHash),
    blockNumber: hexNumber(log.blockNumber),
  }
}

/** A log of one message, with how it adds to the block's bloom filter. */
export interface LogJson extends Pick<PlacedLog, 'emitter' | 'address' | 'topics' | 'isIndexed' | 'logIndex'> {
  readonly json: { [key: string]: Json }
  /** Address and topics as hexadecimal, as filters have them: a search compares thousands. */
  readonly addressText: string
  readonly topicTexts: readonly string[]
}

/** What a search of the past compares and answers: texts alone, where the bytes hold the blocks that they were read from. */
export type SearchedLog = Pick<LogJson, 'emitter' | 'isIndexed' | 'addressText' | 'topicTexts' | 'json'>

/** It beside its texts, and a text beside its characters, bytes (measured: 800 in all with three topics and 32 bytes, counted as 900). */
const SEARCHED_LOG_BYTES = 300
const TEXT_BYTES = 16

/** A log for searches, and what it takes, bytes. What its block's other logs share is counted for each. */
export function searchedLog({ emitter, isIndexed, addressText, topicTexts, json }: LogJson): {
  readonly log: SearchedLog
  readonly bytes: number
} {
  let bytes = SEARCHED_LOG_BYTES
  for (const value of Object.values(json)) if (typeof value === 'string') bytes += TEXT_BYTES + value.length
  for (const topic of topicTexts) bytes += TEXT_BYTES + topic.length
  return { log: { emitter, isIndexed, addressText, topicTexts, json }, bytes }
}

/** Logs of a block by message. */
export function logsOf(block: LoggedTipset): LogJson[][] {
  return finish(printedLogs(block))
}

/** The same, message by message. */
export function* printedLogs(block: LoggedTipset): Steps<LogJson[][]> {
  const out: LogJson[][] = []
  const at = blockPlace(block)
  for (const [index, logs] of block.logs().entries()) {
    out.push(logs.length === 0 ? [] : messageLogs(block.hash(index), placeIn(at, index), logs))
    yield
  }
  return out
}

function messageLogs(hash: Uint8Array, at: Place, logs: readonly PlacedLog[]): LogJson[] {
  const transactionHash = hexBytes(hash)
  const { transactionIndex, blockHash, blockNumber } = at
  return logs.map(({ emitter, address, topics, data, isIndexed, logIndex }) => {
    const addressText = hexBytes(address)
    const topicTexts = topics.map(hexBytes)
    return {
      ...{ emitter, address, topics, addressText, topicTexts, isIndexed, logIndex },
      json: {
        address: addressText,
        data: hexBytes(data),
        topics: topicTexts,
        removed: false,
        logIndex: hexNumber(logIndex),
        ...{ transactionIndex, transactionHash, blockHash, blockNumber },
      },
    }
  })
}

/** The receipt at an index of a block. @param logs - of the block */
export function receiptAt(block: EthBlock, index: number, logs: LogJson[][]): Json {
  const found = block.messages[index]
  if (found === undefined) return null
  const tx = block.transaction(index)
  const { gasUsed, exitCode } = found.receipt
  const baseFee = firstBlock(block.tipset).parentBaseFee
  const paid = gasOutputs(gasUsed, tx.gas, baseFee, tx.maxFeePerGas, tx.maxPriorityFeePerGas)
  const spent = paid.baseFeeBurn + paid.overEstimationBurn + paid.minerTip
  const own = (logs[index] ?? []).filter(({ isIndexed }) => isIndexed)
  const { transactionIndex, blockHash, blockNumber } = place(block, index)
  return {
    transactionHash: hexBytes(tx.hash),
    ...{ transactionIndex, blockHash, blockNumber },
    from: hexBytes(tx.from),
    to: tx.to === undefined ? null : hexBytes(tx.to),
    root: ZERO_HASH,
    status: exitCode === 0 ? '0x1' : '0x0',
    contractAddress: tx.to === undefined && exitCode === 0 ? hexBytes(createdAddress(found.receipt.return)) : null,
    cumulativeGasUsed: '0x0',
    gasUsed: hexNumber(gasUsed),
    effectiveGasPrice: hexNumber(gasUsed === 0n ? 0n : spent / gasUsed),
    logsBloom: hexBytes(logsBloom(own)),
    logs: own.map(({ json }) => json),
    type: hexNumber(tx.type),
  }
}

/**
 * A block.
 * @param full - transactions whole instead of their hashes
 * @param isHead - its events are not known yet: the filter of its logs lets everything pass
 */
export function blockJson(block: EthBlock, full: boolean, isHead: boolean): Json {
  const { tipset, messages } = block
  const first = firstBlock(tipset)
  const bloom = block.bloom()
  if (isHead) bloom.fill(0xff)
  let gasUsed = 0n
  for (const { receipt } of messages) gasUsed += receipt.gasUsed
  return {
    hash: hexBytes(ethBlockHash(tipset)),
    parentHash: hexBytes(tipsetKeyCid(first.parents).digest),
    sha3Uncles: NO_UNCLES,
    miner: ZERO_ADDRESS,
    stateRoot: ZERO_HASH,
    transactionsRoot: messages.length === 0 ? NO_TRANSACTIONS_ROOT : ZERO_HASH,
    receiptsRoot: ZERO_HASH,
    logsBloom: hexBytes(bloom),
    difficulty: '0x0',
    totalDifficulty: '0x0',
    number: hexNumber(tipset.height),
    gasLimit: hexNumber(BLOCK_GAS_LIMIT * BigInt(tipset.blocks.length)),
    gasUsed: hexNumber(gasUsed),
    timestamp: hexNumber(first.timestamp),
    extraData: '0x',
    mixHash: ZERO_HASH,
    nonce: '0x0000000000000000',
    baseFeePerGas: hexNumber(first.parentBaseFee),
    size: '0x0',
    transactions: messages.map((_, index) => (full ? transactionAt(block, index) : hexBytes(block.hash(index)))),
    uncles: [],
  }
}

/** A trace without its place. */
export function traceJson(trace: EthTrace): { [key: string]: Json } {
  const common = { from: hexBytes(trace.from), gas: hexNumber(trace.gas), value: hexNumber(trace.value) }
  const gasUsed = hexNumber(trace.gasUsed)
  const isCall = trace.type === 'call'
  return {
    type: trace.type,
    ...(trace.error === '' ? {} : { error: trace.error }),
    subtraces: trace.subtraces,
    traceAddress: [...trace.traceAddress],
    action: isCall
      ? { callType: trace.callType, ...common, to: hexBytes(trace.to), input: hexBytes(trace.input) }
      : { ...common, init: hexBytes(trace.init) },
    result: isCall
      ? { gasUsed, output: hexBytes(trace.output) }
      : {
          ...(trace.address === undefined ? {} : { address: hexBytes(trace.address) }),
          gasUsed,
          code: hexBytes(trace.code),
        },
  }
}
