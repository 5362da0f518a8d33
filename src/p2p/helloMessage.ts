/**
 * The two messages of Hello.
 * @see lotus node/hello/hello.go HelloMessage, LatencyMessage
 */

import { bigInt } from '../codec/bigInteger.ts'
import type { Cid } from '../codec/cid.ts'
import { type Codec, cid, i64, list, tuple } from '../codec/description.ts'
import { type ChainEpoch, chainEpoch } from '../types/scalars.ts'

/** Who one is: the head, its weight, and the chain it is of. */
export interface HelloMessage {
  readonly heaviestTipSet: Cid[]
  readonly heaviestTipSetHeight: ChainEpoch
  /** Of the head itself, not of its parents. */
  readonly heaviestTipSetWeight: bigint
  readonly genesisHash: Cid
}

/** When a Hello came and when this answer left, Unix time in nanoseconds. */
export interface LatencyMessage {
  readonly tArrival: bigint
  readonly tSent: bigint
}

/** Bound of cbor-gen for a list. */
const MAX_ITEMS = 8192

/** CBOR array of 4. */
export const helloMessage: Codec<HelloMessage> = tuple<HelloMessage>('hello.HelloMessage', [
  ['heaviestTipSet', 'HeaviestTipSet', list(cid, MAX_ITEMS)],
  ['heaviestTipSetHeight', 'HeaviestTipSetHeight', chainEpoch],
  ['heaviestTipSetWeight', 'HeaviestTipSetWeight', bigInt],
  ['genesisHash', 'GenesisHash', cid],
])

/** CBOR array of 2. */
export const latencyMessage: Codec<LatencyMessage> = tuple<LatencyMessage>('hello.LatencyMessage', [
  ['tArrival', 'TArrival', i64],
  ['tSent', 'TSent', i64],
])
