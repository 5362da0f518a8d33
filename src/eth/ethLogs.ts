/**
 * Events of actors as Ethereum's logs.
 * @see lotus chain/types/ethtypes EthLogFromEvent; rpc-wire section 15
 */
import { concatBytes, EMPTY_BYTES } from '../base/bytes.ts'
import { CODEC_RAW } from '../codec/cid.ts'
import { keccak256 } from '../crypto/hashes.ts'
import type { StateTree } from '../state/stateTree.ts'
import type { ActorEvent } from '../types/event.ts'
import type { ActorId } from '../types/scalars.ts'
import { ethAddressOfId } from './ethActorAddress.ts'
import type { ExecutedMessage } from './executedTipset.ts'

const BLOOM_BYTES = 256
const BLOOM_BITS = 2048
const HASHES_PER_VALUE = 3
const TOPIC_KEY = /^t([1-4])$/
const DATA_KEY = 'd'
const TOPIC_BYTES = 32

/** Topics and data of an event. */
export interface EthLogBody {
  readonly topics: readonly Uint8Array[]
  readonly data: Uint8Array
}

/**
 * undefined for events that are no logs: those of built-in actors are CBOR, and what has a topic of another size, twice,
 * or without those before it is a log of nobody's.
 */
export function logOf(event: ActorEvent): EthLogBody | undefined {
  const topics: (Uint8Array | undefined)[] = []
  let data: Uint8Array | undefined
  for (const { codec, key, value } of event.entries) {
    if (codec !== CODEC_RAW) return undefined
    const topic = TOPIC_KEY.exec(key)?.[1]
    if (topic !== undefined) {
      const at = Number(topic) - 1
      if (value.length !== TOPIC_BYTES || topics[at] !== undefined) return undefined
      topics[at] = value
    } else if (key === DATA_KEY) {
      if (data !== undefined) return undefined
      data = value
    }
  }
  const known = topics.filter((topic) => topic !== undefined)
  return known.length === topics.length ? { topics: known, data: data ?? EMPTY_BYTES } : undefined
}

/** What logs are made of. */
interface LoggedMessages {
  /** Has the actors that emitted. */
  readonly tree: Pick<StateTree, 'getActor'>
  readonly messages: readonly Pick<ExecutedMessage, 'events'>[]
}

/** A log in its place. */
export interface PlacedLog extends EthLogBody {
  /** Counts all events of the tipset, whether they are logs or not. */
  readonly logIndex: number
  readonly emitter: ActorId
  readonly address: Uint8Array
  /**
   * Whether searches and receipts know it: a log without topics and data has no row in the reference's index of entries,
   * so only streams and the block's filter have it.
   * @see lotus chain/index/events.go makePrefillFilterQuery
   */
  readonly isIndexed: boolean
}

/** Logs of a tipset by message. */
export function placedLogs({ messages, tree }: LoggedMessages): PlacedLog[][] {
  let logIndex = 0
  return messages.map(({ events }) => {
    const logs: PlacedLog[] = []
    for (const event of events) {
      const at = logIndex++
      const log = logOf(event)
      if (log === undefined) continue
      const { emitter, entries } = event
      const address = ethAddressOfId(tree, emitter)
      logs.push({ ...log, logIndex: at, emitter, address, isIndexed: entries.length > 0 })
    }
    return logs
  })
}

/** Sets the bits of a value in a bloom filter of 256 bytes. */
function addToBloom(bloom: Uint8Array, value: Uint8Array): void {
  const hash = keccak256(value)
  for (let i = 0; i < HASHES_PER_VALUE; i++) {
    const bit = (((hash[2 * i] as number) << 8) | (hash[2 * i + 1] as number)) % BLOOM_BITS
    const at = BLOOM_BYTES - 1 - (bit >> 3)
    bloom[at] = (bloom[at] as number) | (1 << (bit & 7))
  }
}

/** The bloom filter of some logs: 256 bytes. */
export function logsBloom(logs: readonly Pick<PlacedLog, 'address' | 'topics'>[]): Uint8Array {
  const bloom = new Uint8Array(BLOOM_BYTES)
  for (const { address, topics } of logs) for (const value of [address, ...topics]) addToBloom(bloom, value)
  return bloom
}

/** 32 bytes on the left of which there may be zeros. */
export function leftPad(value: Uint8Array, length: number): Uint8Array {
  return value.length >= length ? value : concatBytes(new Uint8Array(length - value.length), value)
}
