/** How long verification of storage proofs takes, by both back ends of the curve. In every runtime. */
import { fromHex } from '../../src/base/bytes.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { verifyAggregate } from '../../src/proofs/aggregate/aggregateSeals.ts'
import type { Curve } from '../../src/proofs/curve/curve.ts'
import { nobleCurve } from '../../src/proofs/curve/curveNoble.ts'
import { wasmCurve } from '../../src/proofs/curve/curveWasm.ts'
import type { PoStSector, PoStStatement } from '../../src/proofs/post/sectors.ts'
import { verifyWindowPoSt } from '../../src/proofs/post/windowPoSt.ts'
import { verifyWinningPoSt } from '../../src/proofs/post/winningPoSt.ts'
import { verifySeals } from '../../src/proofs/seal/seal.ts'
import type { SealStatement } from '../../src/proofs/seal/sealInputs.ts'
import type { AggregateVector, PoStVector, SealForm, SealVector } from '../conformance/proofs/vectorForm.ts'
import { PROOF_VECTORS, vectorKeys } from '../proofs/proofKeys.ts'
import { readSharedJson } from '../support/shared.ts'

/** The least time of several rounds. */
export interface ProofFigure {
  readonly curve: string
  readonly what: string
  readonly ms: number
  /** What it must reach. */
  readonly goal: number | undefined
}

function vectors<T extends { readonly kind: string }>(file: string, list = 'vectors'): T[] {
  const all = readSharedJson<Record<string, T[]>>(`${PROOF_VECTORS}/${file}.json`)[list] ?? []
  return all.filter(({ kind }) => kind === 'valid')
}

function found<T>(what: string, value: T | undefined): T {
  if (value === undefined) throw new Error(`no vector: ${what}`)
  return value
}

function postStatement(vector: PoStVector): PoStStatement {
  const sectors: PoStSector[] = vector.sectors.map((one) => ({
    number: BigInt(one.sector),
    commR: fromHex(one.comm_r),
  }))
  const [randomness, proverId] = [fromHex(vector.randomness), fromHex(vector.prover_id)]
  return { proofType: vector.proof_type, randomness, proverId, sectors }
}

function sealStatement(form: SealForm): SealStatement {
  return {
    proverId: fromHex(form.prover_id),
    sectorNumber: BigInt(form.sector),
    ticket: fromHex(form.ticket),
    seed: fromHex(form.seed),
    commR: fromHex(form.comm_r),
    commD: fromHex(form.comm_d),
  }
}

/** @param nowMs - a clock of what is to be measured */
export async function* proofFigures(rounds: number, nowMs: () => number): AsyncGenerator<ProofFigure> {
  await initCrypto()
  for (const curve of [wasmCurve(), nobleCurve]) yield* figuresOf(curve, rounds, nowMs)
}

function* figuresOf(curve: Curve, rounds: number, nowMs: () => number): Generator<ProofFigure> {
  const post = vectors<PoStVector>('post-sim')
  const winning = found(
    'winning PoSt',
    post.find(({ proof_type }) => proof_type === 3),
  )
  const window = found(
    'window PoSt',
    post.find((one) => one.proof_type === 13 && one.sectors.length === 2349),
  )
  const seal = found(
    'seal',
    vectors<SealVector>('seal-sim').find(({ proof_type }) => [3, 8, 13].includes(proof_type)),
  )
  const aggregates = [
    ...vectors<AggregateVector>('aggregate'),
    ...vectors<AggregateVector>('aggregate', 'vectors_synthetic_key'),
  ]
  const aggregate = found(
    'aggregate',
    aggregates.find(({ intermediate }) => intermediate?.nproofs === 64),
  )

  const isFast = curve !== nobleCurve
  const count = isFast ? rounds : Math.ceil(rounds / 5)
  const keys = vectorKeys(curve)
  /** The best of several rounds (others may use the machine), after one that is not counted. */
  const best = (
    what: string,
    run: () => boolean,
    goals: readonly [own?: number, noble?: number],
    most = count,
  ): ProofFigure => {
    let least = Number.POSITIVE_INFINITY
    for (let i = 0; i <= Math.min(count, most); i++) {
      const before = nowMs()
      if (!run()) throw new Error('a valid proof was refused')
      if (i > 0) least = Math.min(least, nowMs() - before)
    }
    return { curve: curve.name, what, ms: least, goal: goals[isFast ? 0 : 1] }
  }
  const winningStatement = postStatement(winning)
  const winningProof = fromHex(winning.proof)
  const one = (): boolean => verifyWinningPoSt(keys, winningStatement, winningProof)
  yield best('winning PoSt, 32 GiB', one, [15, 60])
  yield best('five of them: a tipset', () => [1, 2, 3, 4, 5].every(one), [40])
  const windowStatement = postStatement(window)
  const windowProof = fromHex(window.proof)
  yield best(
    'window PoSt, 32 GiB, 2,349 sectors',
    () => verifyWindowPoSt(keys, windowStatement, windowProof),
    [300],
    15,
  )
  const sealed = { statement: sealStatement(seal), proof: fromHex(seal.proof) }
  const single = best('seal, 32 GiB (10 partitions)', () => verifySeals(keys, seal.proof_type, [sealed]), [25])
  yield single
  const ten = new Array<typeof sealed>(10).fill(sealed)
  yield best('ten seals together', () => verifySeals(keys, seal.proof_type, ten), [3 * single.ms], 15)
  const batch = {
    sealType: aggregate.seal_proof_type,
    aggregation: aggregate.aggregation_type === 0 ? 'V1' : 'V2',
  } as const
  const seals = aggregate.infos.map(sealStatement)
  const bytes = fromHex(aggregate.proof)
  const whole = `aggregate of 64 (${seals.length} seals)`
  yield best(whole, () => verifyAggregate(keys, { ...batch, seals }, bytes), [200], 5)
}
