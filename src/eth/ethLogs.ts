/**
 * Events of actors as Ethereum's logs.
 * @see lotus node/impl/eth/events.go ethLogFromEvent; rpc-wire section 15
 */
import { concatBytes, EMPTY_BYTES } from '../base/bytes.ts'
import { CODEC_RAW } from '../codec/cid.ts'
import { keccak256 } from '../crypto/hashes.ts'
import type { ActorEvent } from '../types/event.ts'

const BLOOM_BYTES = 256
const BLOOM_BITS = 2048
const HASHES_PER_VALUE = 3
const TOPIC_KEY = /^t([1-4])$/
const DATA_KEY = 'd'

/** Topics and data of an event. */
export interface EthLogBody {
  readonly topics: readonly Uint8Array[]
  readonly data: Uint8Array
}

/** undefined for events that are no logs: those of built-in actors are CBOR. */
export function logOf(event: ActorEvent): EthLogBody | undefined {
  const topics: (Uint8Array | undefined)[] = []
  let data: Uint8Array = EMPTY_BYTES
  for (const entry of event.entries) {
    if (entry.codec !== CODEC_RAW) return undefined
    const topic = TOPIC_KEY.exec(entry.key)?.[1]
    if (topic !== undefined) topics[Number(topic) - 1] = entry.value
    else if (entry.key === DATA_KEY) data = entry.value
  }
  const known = topics.filter((one) => one !== undefined)
  // A topic without those before it is a log of nobody's.
  return known.length === topics.length ? { topics: known, data } : undefined
}

/** Sets the bits of one value in a bloom filter of 256 bytes. */
export function addToBloom(bloom: Uint8Array, value: Uint8Array): void {
  const hash = keccak256(value)
  for (let i = 0; i < HASHES_PER_VALUE; i++) {
    const bit = (((hash[2 * i] as number) << 8) | (hash[2 * i + 1] as number)) % BLOOM_BITS
    const at = BLOOM_BYTES - 1 - (bit >> 3)
    bloom[at] = (bloom[at] as number) | (1 << (bit & 7))
  }
}

/** An empty bloom filter. */
export function emptyBloom(): Uint8Array {
  return new Uint8Array(BLOOM_BYTES)
}

/** Both filters together. */
export function orBloom(into: Uint8Array, other: Uint8Array): void {
  for (let i = 0; i < BLOOM_BYTES; i++) into[i] = (into[i] as number) | (other[i] as number)
}

/** 32 bytes on the left of which there may be zeros. */
export function leftPad(value: Uint8Array, length: number): Uint8Array {
  return value.length >= length ? value : concatBytes(new Uint8Array(length - value.length), value)
}
