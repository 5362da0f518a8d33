/**
 * The challenges of an aggregate.
 * @see bellperson groth16/aggregate/verify.rs verify_aggregate_proof, gipa_verify_tipp_mipp, verify_tipp_mipp
 */
import type { Curve } from '../curve/curve.ts'
import { invert } from '../field.ts'
import type { AggregateProof, GipaRound } from './aggregateProof.ts'
import { Transcript } from './transcript.ts'

/** V2 (FIP-0092) binds the first round and the final values, which V1 does not. */
export type AggregateVersion = 'V1' | 'V2'

/** All below r. */
export interface GipaChallenges {
  readonly hcom: bigint
  /** Weight of the random combination of the proofs. */
  readonly r: bigint
  /** Of each round, in order, and their inverses. */
  readonly rounds: readonly bigint[]
  readonly inverses: readonly bigint[]
  readonly extra: bigint
  /** Point at which the commitment keys' polynomials are opened. */
  readonly kzg: bigint
}

function addRound(transcript: Transcript, { zAb, zC, commsAb, commsC }: GipaRound): Transcript {
  return transcript
    .gt(zAb.left, zAb.right)
    .g1(zC.left, zC.right)
    .gt(...commsAb.left, ...commsAb.right, ...commsC.left, ...commsC.right)
}

/** @param included - what the proof must be bound to from outside, hashed */
export function gipaChallenges(
  curve: Curve,
  proof: AggregateProof,
  included: Uint8Array,
  version: AggregateVersion,
): GipaChallenges {
  const transcript = (tag: string): Transcript => new Transcript(curve, tag)
  const hcom = transcript('hcom')
    .gt(...proof.comAb, ...proof.comC)
    .challenge()
  const r = transcript('random-r').scalar(hcom).bytes(included).challenge()
  let inverse = transcript('gipa-0').scalar(hcom).gt(proof.ipAb).g1(proof.aggC).scalar(r).challenge()
  const inverses = proof.rounds.map((round, i) => {
    if (i > 0 || version === 'V2') inverse = addRound(transcript(`gipa-${i}`).scalar(inverse), round).challenge()
    return inverse
  })
  const rounds = inverses.map(invert)
  const last = rounds.at(-1) as bigint
  const { finalA, finalB, finalC, finalVkey, finalWkey } = proof
  const link = transcript('gipa-extra-link').scalar(last).g1(finalA).g2(finalB).g1(finalC)
  const extra = addRound(link, proof.rounds.at(-1) as GipaRound).challenge()
  const opening = transcript('random-z')
    .scalar(version === 'V1' ? last : extra)
    .g2(...finalVkey)
    .g1(...finalWkey)
  if (version === 'V2') opening.g1(finalA).g2(finalB).g1(finalC)
  return { hcom, r, rounds, inverses, extra, kzg: opening.challenge() }
}
