/** Signature of `LightStatus`: ours, on every version; what a light node knows and from whom. */
import { bool, type Codec, int, jsonOnly, list, nullable, struct, text } from '../../codec/description.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { type CallSignature, callSignature } from '../signature.ts'

/** A source as the method prints it. */
export interface LightSourceInfo {
  readonly name: string
  /** `peer`, `rpc`. */
  readonly kind: string
  /** `usable`, `resting`, `dropped`. */
  readonly state: string
  /** Why it is not usable, or its newest failure; empty: nothing. */
  readonly reason: string
  readonly bytesReceived: number
}

/** What is proven. */
export interface LightFinalInfo {
  readonly instance: number
  readonly epoch: number
  readonly key: TipsetKey
  /** Unix time of the tipset, seconds. */
  readonly timestamp: number
  /** Of the power of the instance, 0 to 1. */
  readonly signedShare: number
}

/** What a light node knows of itself. */
export interface LightInfo {
  readonly checkpointInstance: number
  /** `YYYY-MM-DD`; empty: F3's own beginning. */
  readonly checkpointDate: string
  readonly pendingInstance: number
  /** null: nothing is proven yet. */
  readonly final: LightFinalInfo | null
  /** null: as `final`. Above it, what is not final. */
  readonly headEpoch: number | null
  /** Whether the head is the final tipset. */
  readonly isHeadFinal: boolean
  /** Since a source confirmed the newest certificate, seconds; null: none has. */
  readonly confirmedSecondsAgo: number | null
  readonly bytesReceived: number
  readonly sources: LightSourceInfo[]
  /** What is wrong now; empty: nothing. */
  readonly trouble: string
}

const number: Codec<number> = jsonOnly<number>(
  'number',
  (value) => value,
  (json) => Number(json),
  { type: 'number' },
)

const source: Codec<LightSourceInfo> = struct<LightSourceInfo>('petrel.LightSource', [
  ['name', 'Name', text],
  ['kind', 'Kind', text],
  ['state', 'State', text],
  ['reason', 'Reason', text],
  ['bytesReceived', 'BytesReceived', int],
])

const final: Codec<LightFinalInfo> = struct<LightFinalInfo>('petrel.LightFinal', [
  ['instance', 'Instance', int],
  ['epoch', 'Epoch', int],
  ['key', 'Key', tipsetKey],
  ['timestamp', 'Timestamp', int],
  ['signedShare', 'SignedShare', number],
])

/** JSON object. */
const lightInfo: Codec<LightInfo> = struct<LightInfo>('petrel.LightStatus', [
  ['checkpointInstance', 'CheckpointInstance', int],
  ['checkpointDate', 'CheckpointDate', text],
  ['pendingInstance', 'PendingInstance', int],
  ['final', 'Final', nullable(final)],
  ['headEpoch', 'HeadEpoch', nullable(int)],
  ['isHeadFinal', 'IsHeadFinal', bool],
  ['confirmedSecondsAgo', 'ConfirmedSecondsAgo', nullable(int)],
  ['bytesReceived', 'BytesReceived', int],
  ['sources', 'Sources', list(source)],
  ['trouble', 'Trouble', text],
])

export const lightStatus: CallSignature<[], LightInfo> = callSignature({
  name: 'LightStatus',
  perm: 'read',
  versions: ['v0', 'v1', 'v2'],
  summary: 'What a light node has proven, how, and from whom; an error on any other node.',
  params: [],
  result: lightInfo,
})
