/** Values of `F3…` and of finality as Lotus prints them. */
import { type Codec, type Json, jsonOnly, listOrEmpty, nullable, struct, u64, uint } from '../../codec/description.ts'
import { type F3Tipset, f3Tipset } from '../../consensus/f3/certificate.ts'
import type { FinalityStatus } from '../../consensus/finality.ts'
import { tipset } from '../../types/tipset.ts'

/** Where the next instance stands. @see go-f3 gpbft/progress.go InstanceProgress */
export interface F3Progress {
  readonly id: number
  readonly round: number
  readonly phase: number
  /** The chain proposed; empty for who proposes none. */
  readonly input: F3Tipset[]
}

const input: Codec<F3Tipset[]> = {
  ...listOrEmpty(f3Tipset),
  toJson: (value, context) => (value.length === 0 ? null : value.map((own) => f3Tipset.toJson(own, context))),
}

export const f3Progress: Codec<F3Progress> = struct<F3Progress>('gpbft.InstanceProgress', [
  ['id', 'ID', uint],
  ['round', 'Round', uint],
  ['phase', 'Phase', uint],
  ['input', 'Input', input],
])

/** A producer that votes through this node. @see lotus api/api_full.go F3Participant */
export interface F3Participant {
  readonly minerId: bigint
  readonly fromInstance: bigint
  readonly validityTerm: bigint
}

/** Answer of F3ListParticipants; `[]` when nobody votes through this node. */
export const f3Participants: Codec<F3Participant[]> = listOrEmpty(
  struct<F3Participant>('api.F3Participant', [
    ['minerId', 'MinerID', u64],
    ['fromInstance', 'FromInstance', u64],
    ['validityTerm', 'ValidityTerm', u64],
  ]),
)

const optionalTipset = nullable(tipset)

/** @see lotus chain/types/finality.go FinalityStatus */
export const finalityStatus: Codec<FinalityStatus> = jsonOnly<FinalityStatus>(
  'types.FinalityStatus',
  ({ ec, f3, finalized, head }, context): Json => ({
    ecFinalityThresholdDepth: ec.depth ?? -1,
    ecFinalizedTipSet: optionalTipset.toJson(ec.tipset ?? null, context),
    f3FinalizedTipSet: optionalTipset.toJson(f3 ?? null, context),
    finalizedTipSet: tipset.toJson(finalized, context),
    head: tipset.toJson(head, context),
  }),
  (json, context) => {
    const given = json !== null && typeof json === 'object' && !Array.isArray(json) ? json : {}
    const depth = typeof given.ecFinalityThresholdDepth === 'number' ? given.ecFinalityThresholdDepth : -1
    return {
      ec: {
        depth: depth < 0 ? undefined : depth,
        tipset: optionalTipset.fromJson(given.ecFinalizedTipSet, context) ?? undefined,
      },
      f3: optionalTipset.fromJson(given.f3FinalizedTipSet, context) ?? undefined,
      finalized: tipset.fromJson(given.finalizedTipSet, context),
      head: tipset.fromJson(given.head, context),
    }
  },
  {
    type: 'object',
    title: 'types.FinalityStatus',
    properties: {
      ecFinalityThresholdDepth: { type: 'integer' },
      ecFinalizedTipSet: optionalTipset.schema,
      f3FinalizedTipSet: optionalTipset.schema,
      finalizedTipSet: tipset.schema,
      head: tipset.schema,
    },
  },
)
