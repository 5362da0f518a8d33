/**
 * Which logs are wanted: parameter of `eth_getLogs`, `eth_newFilter`, `eth_subscribe`.
 * @see lotus chain/types/ethtypes EthFilterSpec; node/impl/eth/events.go parseEthFilterSpec, parseBlockRange
 */
import { type Codec, type JsonContext, jsonOnly, nullable } from '../../codec/description.ts'
import { CodecError } from '../../codec/errors.ts'
import { inField, jsonField, wrongJson } from '../../codec/goJson.ts'
import { parseGoUint } from '../../codec/goUint.ts'
import type { Json } from '../../codec/jsonText.ts'
import { addressToId, isIdAddress } from '../../types/address.ts'
import { ethAddressToAddress } from '../../types/ethAddress.ts'
import type { ActorId, ChainEpoch } from '../../types/scalars.ts'
import { RpcError } from '../errors.ts'
import { MAX_EVENT_RANGE, MAX_TOPICS } from '../limits.ts'
import type { LogJson, SearchedLog } from './eth.ts'
import { ethAddress, ethHash, hexBytes } from './ethScalars.ts'
import { assertWanted, FILTER_BYTES, wantedBytes } from './wanted.ts'

const MAX_INT64 = (1n << 63n) - 1n

/** Which logs are wanted. */
export interface LogFilter {
  readonly fromBlock: string | undefined
  readonly toBlock: string | undefined
  readonly blockHash: Uint8Array | undefined
  /** 20 bytes each as hexadecimal; empty: all. */
  readonly addresses: ReadonlySet<string>
  /** The masked IDs among the addresses: they stand for the actor whatever its address. */
  readonly ids: ReadonlySet<ActorId>
  /** By position; undefined: any. */
  readonly topics: readonly (ReadonlySet<string> | undefined)[]
  /** What it takes to hold it, about. */
  readonly bytes: number
}

/** Heights, both inclusive. */
export interface HeightRange {
  readonly from: ChainEpoch
  /** undefined: up to the head, now and later. */
  readonly to: ChainEpoch | undefined
}

function asList(value: Json | undefined): Json[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value]
}

/** One topic or a list for each position; undefined where any is welcome. */
function topicsOf(given: Json | undefined, context: JsonContext): (ReadonlySet<string> | undefined)[] {
  if (given === undefined || given === null) return []
  if (!Array.isArray(given)) throw wrongJson(given, 'ethtypes.EthTopicSpec')
  return given.map((position) => {
    const any = asList(position)
    return any.length === 0 ? undefined : new Set(any.map((topic) => hexBytes(ethHash.fromJson(topic, context))))
  })
}

/** Topics of all positions. */
function topicCount(given: Json | undefined): number {
  return Array.isArray(given) ? given.reduce<number>((sum, position) => sum + asList(position).length, 0) : 0
}

/** A filter of logs. */
export const logFilter: Codec<LogFilter> = jsonOnly<LogFilter>(
  'ethtypes.EthFilterSpec',
  () => null,
  (given, context) => {
    const object = given ?? {}
    if (typeof object !== 'object' || Array.isArray(object)) throw wrongJson(object, 'ethtypes.EthFilterSpec')
    const read = <T>(name: string, reader: (value: Json | undefined) => T): T =>
      inField('EthFilterSpec', name, () => reader(jsonField(object, name)))
    const textOf = (value: Json | undefined): string | undefined => {
      if (value === undefined || value === null) return undefined
      if (typeof value !== 'string') throw wrongJson(value, 'string')
      return value
    }
    const listed = read('address', asList)
    assertWanted(listed.length + read('topics', topicCount), 'ethtypes.EthFilterSpec')
    const addresses = listed.map((text) =>
      inField('EthFilterSpec', 'address', () => ethAddress.fromJson(text, context)),
    )
    const filter = {
      fromBlock: read('fromBlock', textOf),
      toBlock: read('toBlock', textOf),
      blockHash: read('blockHash', (hash) =>
        hash === undefined || hash === null ? undefined : ethHash.fromJson(hash, context),
      ),
      addresses: new Set(addresses.map(hexBytes)),
      ids: new Set(addresses.map(ethAddressToAddress).filter(isIdAddress).map(addressToId)),
      topics: read('topics', (given) => topicsOf(given, context)),
    }
    return { ...filter, bytes: bytesOf(filter) }
  },
  { type: 'object' },
)

function bytesOf({ fromBlock = '', toBlock = '', addresses, ids, topics }: Omit<LogFilter, 'bytes'>): number {
  let bytes = FILTER_BYTES + 2 * (fromBlock.length + toBlock.length) + wantedBytes(addresses) + wantedBytes(ids)
  for (const any of topics) bytes += any === undefined ? 0 : wantedBytes(any)
  return bytes
}

/** The same where Lotus takes a pointer to it. @see lotus api/api_full.go EthGetLogs, EthNewFilter */
export const logFilterPointer: Codec<LogFilter | null> = nullable(logFilter)

/** @throws RpcError `FAILED` for topics that no log can have. @see lotus node/impl/eth/utils.go parseEthTopics */
export function assertTopics({ topics }: LogFilter): void {
  if (topics.length <= MAX_TOPICS) return
  throw new RpcError('FAILED', `too many topics in filter: ${topics.length}, max: ${MAX_TOPICS}`)
}

/**
 * The heights that a filter names; undefined for one that names a block by hash.
 * @param head - height of the head: its parent is the latest whose logs are known
 * @param longest - epochs that a search may span
 * @throws RpcError `FAILED`, `BLOCK_RANGE_EXCEEDED`
 */
export function heightRange(
  filter: LogFilter,
  head: ChainEpoch,
  longest: ChainEpoch = MAX_EVENT_RANGE,
): HeightRange | undefined {
  const { fromBlock, toBlock } = filter
  assertTopics(filter)
  if (filter.blockHash !== undefined) {
    if (fromBlock === undefined && toBlock === undefined) return undefined
    throw new RpcError('FAILED', 'must not specify block hash and from/to block')
  }
  const latest = head - 1
  const from = heightOf(fromBlock, 'FromBlock') ?? latest
  const to = heightOf(toBlock, 'ToBlock')
  if (to !== undefined && from >= 0 && from > to) {
    throw new RpcError('FAILED', `invalid epoch range: to block (${to}) must be after from block (${from})`)
  }
  const span = (to ?? latest) - from
  if (from >= 0 && span > longest) {
    throw new RpcError('BLOCK_RANGE_EXCEEDED', `block range exceeds maximum of ${longest} (got ${span})`)
  }
  return { from, to }
}

/** undefined: the latest. */
function heightOf(block: string | undefined, name: string): ChainEpoch | undefined {
  if (block === undefined || block === 'latest' || block === '') return undefined
  if (block === 'earliest') return 0
  if (!block.startsWith('0x')) throw new RpcError('FAILED', `${name} is not a hex`)
  let height: bigint
  try {
    height = parseGoUint(block.replaceAll('0x', ''), 16)
  } catch (cause) {
    if (!(cause instanceof CodecError)) throw cause
    throw new RpcError('FAILED', 'invalid epoch', { cause })
  }
  if (height > MAX_INT64) throw new RpcError('FAILED', 'invalid epoch')
  return Number(height)
}

/**
 * Whether a log of the past is wanted: by emitter, and by topics in their positions. Masked IDs are compared with the
 * actor's number, other addresses with its address; with both kinds both have to fit.
 * @see lotus chain/index/events.go makePrefillFilterQuery
 */
export function matchesPast(filter: LogFilter, log: SearchedLog): boolean {
  const { addresses, ids } = filter
  if (!log.isIndexed) return false
  if (ids.size > 0 && !ids.has(log.emitter)) return false
  if (addresses.size > ids.size && !addresses.has(log.addressText)) return false
  return matchesTopics(filter, log)
}

/** Whether a new log is wanted. @see lotus chain/events/filter/event.go matchAddress, matchKeys */
export function matchesNew(filter: LogFilter, log: LogJson): boolean {
  return (filter.addresses.size === 0 || filter.addresses.has(log.addressText)) && matchesTopics(filter, log)
}

function matchesTopics({ topics }: LogFilter, log: Pick<LogJson, 'topicTexts'>): boolean {
  return topics.every((any, i) => {
    const topic = log.topicTexts[i]
    return any === undefined || (topic !== undefined && any.has(topic))
  })
}
