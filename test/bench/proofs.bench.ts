/**
 * Verification of storage proofs, by both back ends of the curve, against what it must reach. The keys are those of the
 * vectors; a verifier cannot tell them from the ceremony's.
 *
 *     node test/bench/proofs.bench.ts [rounds]
 *
 * Processor time of one thread, the best of several rounds (others may use the machine), after one that is not counted.
 */
import process from 'node:process'
import { fromHex } from '../../src/base/bytes.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { verifyAggregate } from '../../src/proofs/aggregate/aggregateSeals.ts'
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

const rounds = Number(process.argv[2] ?? 15)

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

function best(count: number, run: () => boolean): number {
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i <= count; i++) {
    const before = process.cpuUsage()
    if (!run()) throw new Error('a valid proof was refused')
    const { user, system } = process.cpuUsage(before)
    if (i > 0) least = Math.min(least, (user + system) / 1000)
  }
  return least
}

function report(what: string, ms: number, goal?: number): void {
  const aim = goal === undefined ? '' : `  (goal ${Number(goal.toFixed(1))} ms${ms <= goal ? '' : ', MISSED'})`
  console.log(`${what.padEnd(52)} ${ms.toFixed(1).padStart(9)} ms${aim}`)
}

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

await initCrypto()
for (const curve of [wasmCurve(), nobleCurve]) {
  const isFast = curve !== nobleCurve
  const goal = (fast: number, slow?: number): number | undefined => (isFast ? fast : slow)
  const count = isFast ? rounds : Math.ceil(rounds / 5)
  const keys = vectorKeys(curve)
  console.log(`# ${curve.name}`)
  const winningStatement = postStatement(winning)
  const winningProof = fromHex(winning.proof)
  const one = (): boolean => verifyWinningPoSt(keys, winningStatement, winningProof)
  report('winning PoSt, 32 GiB', best(count, one), goal(15, 60))
  report(
    'five of them: a tipset',
    best(count, () => [1, 2, 3, 4, 5].every(one)),
    goal(40),
  )
  const windowStatement = postStatement(window)
  const windowProof = fromHex(window.proof)
  report(
    'window PoSt, 32 GiB, 2,349 sectors',
    best(count, () => verifyWindowPoSt(keys, windowStatement, windowProof)),
    goal(300),
  )
  const sealed = { statement: sealStatement(seal), proof: fromHex(seal.proof) }
  const single = best(count, () => verifySeals(keys, seal.proof_type, [sealed]))
  report('seal, 32 GiB (10 partitions)', single, goal(25))
  const ten = best(count, () => verifySeals(keys, seal.proof_type, new Array(10).fill(sealed)))
  report('ten seals together', ten, isFast ? 3 * single : undefined)
  const batch = {
    sealType: aggregate.seal_proof_type,
    aggregation: aggregate.aggregation_type === 0 ? 'V1' : 'V2',
  } as const
  const seals = aggregate.infos.map(sealStatement)
  const bytes = fromHex(aggregate.proof)
  report(
    `aggregate of 64 (${seals.length} seals)`,
    best(Math.min(count, 5), () => verifyAggregate(keys, { ...batch, seals }, bytes)),
    goal(200),
  )
}
