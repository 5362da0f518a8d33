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
import { readProofs, combineInputs } from '/work/wa/src/proofs/groth16.ts'
await initCrypto()
const curve = wasmCurve()
const keys = vectorKeys(curve)
const type = sealProofType(seal.proof_type)
const st = sealStatement(seal), pr = fromHex(seal.proof)
const key = keys.key('seal', type.size.name)
const t = (name: string, f: () => unknown) => { let b = 1e9; for (let i=0;i<rounds;i++){const a=process.cpuUsage(); f(); const d=process.cpuUsage(a); b=Math.min(b,(d.user+d.system)/1000)} console.log(name.padEnd(30), b.toFixed(2)) }
t('inputs of a seal', () => sealPublicInputs(type, st))
t('readProofs 10', () => readProofs(pr, 10, curve))
t('readG1 x20', () => { for (let i=0;i<10;i++) curve.readManyG1([pr.subarray(192*i,192*i+48),pr.subarray(192*i+144,192*i+192)]) })
t('readG2 x10', () => { for (let i=0;i<10;i++) curve.readG2(pr.subarray(192*i+48,192*i+144)) })
const proofs = readProofs(pr, 10, curve)
t('pairing 10', () => curve.pairing(proofs.map(p=>[p.a,p.b])))
t('pairing 1', () => curve.pairing([[proofs[0].a,proofs[0].b]]))
t('pairing 20', () => curve.pairing([...proofs,...proofs].map(p=>[p.a,p.b])))
const w = (1n<<128n)+0x123456789abcdef123456789abcdn
t('weigh 10', () => curve.weighG1(proofs.map(p=>p.a),proofs.map(()=>w)))
t('sumG1 10 at once', () => curve.sumG1(proofs.map(p=>p.a),proofs.map(()=>w)))
const ins = sealPublicInputs(type, st)
const big = ins[0].map((x,i)=> { let s=0n; for (const l of ins) s += l[i]*w; return s })
t('combine', () => combineInputs(key, 5n*w, big))
console.log('inputs', big.length)
t('ic.sum', () => key.ic.sum(big))
t('weights', () => { const x= ins.map(l=>l.map(v=>v*w)); return x})
console.log(Buffer.from(curve.writeG1(curve.weighG1([proofs[0].a,proofs[1].a,proofs[2].c],[w,w+88n,1n])[2])).toString('hex')===Buffer.from(curve.writeG1(proofs[2].c)).toString('hex'), Buffer.from(curve.writeG1(curve.weighG1([proofs[0].a,proofs[1].a,proofs[2].c],[w,w+88n,1n])[1])).toString('hex')===Buffer.from(curve.writeG1(curve.sumG1([proofs[1].a],[w+88n]))).toString('hex'))
