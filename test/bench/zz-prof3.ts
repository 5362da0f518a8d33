/**
 * Verification of storage proofs, by both back ends of the curve, against what it must reach. The keys are those of the
 * vectors; a verifier cannot tell them from the ceremony's.
 *
 *     node test/bench/proofs.bench.ts [rounds]
 *
 * Processor time of one thread, the best of several rounds (others may use the machine), after one that is not counted.
 */
import process from 'node:process'
import { fromHex } from '/work/wa/src/base/bytes.ts'
import { initCrypto } from '/work/wa/src/crypto/init.ts'
import { verifyAggregate } from '/work/wa/src/proofs/aggregate/aggregateSeals.ts'
import { nobleCurve } from '/work/wa/src/proofs/curve/curveNoble.ts'
import { wasmCurve } from '/work/wa/src/proofs/curve/curveWasm.ts'
import type { PoStSector, PoStStatement } from '/work/wa/src/proofs/post/sectors.ts'
import { verifyWindowPoSt } from '/work/wa/src/proofs/post/windowPoSt.ts'
import { verifyWinningPoSt } from '/work/wa/src/proofs/post/winningPoSt.ts'
import { verifySeals } from '/work/wa/src/proofs/seal/seal.ts'
import type { SealStatement } from '/work/wa/src/proofs/seal/sealInputs.ts'
import type { AggregateVector, PoStVector, SealForm, SealVector } from '/work/wa/test/conformance/proofs/vectorForm.ts'
import { PROOF_VECTORS, vectorKeys } from '/work/wa/test/proofs/proofKeys.ts'
import { readSharedJson } from '/work/wa/test/support/shared.ts'

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
  const aim = goal === undefined ? '' : `  (goal ${goal} ms${ms <= goal ? '' : ', MISSED'})`
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

import { sealPublicInputs } from '/work/wa/src/proofs/seal/sealInputs.ts'
import { sealProofType } from '/work/wa/src/proofs/seal/sealProofType.ts'
await initCrypto()
const curve = wasmCurve()
const keys = vectorKeys(curve)
const type = sealProofType(seal.proof_type)
const st = sealStatement(seal)
const key = keys.key('seal', type.size.name)
const w = (1n<<127n)+0x123456789abcdef123456789abcdn
const ins = sealPublicInputs(type, st)
const big = ins[0].map((x,i)=> { let s=0n; for (const [j,l] of ins.entries()) s += l[i]*(w+BigInt(j)**7n); return s % 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n })
console.log(big.map(x=>x.toString(2).length).join(' ').slice(0,60))
key.ic.sum(big)
const t=process.cpuUsage()
for (let i=0;i<150;i++) key.ic.sum(big)
const d=process.cpuUsage(t); console.log((d.user+d.system)/150000)
