/**
 * Mutations of valid proofs and of what they are about: none may be accepted, and none may end but in an answer or a coded
 * refusal. Changes that are known to verify (another prover in a proof of spacetime, bytes behind an aggregate, the seed
 * of a non-interactive seal) are not made.
 *
 *     node test/conformance/proofs/fuzz.ts [--count 1000000] [--seed n]
 *
 * Prints the seed, and at the end how many were false and how many were refused.
 */
import process from 'node:process'
import { parseArgs } from 'node:util'
import { initCrypto } from '../../../src/crypto/init.ts'
import { wasmCurve } from '../../../src/proofs/curve/curveWasm.ts'
import { vectorKeys } from '../../proofs/proofKeys.ts'
import { seeded } from '../../support/seeded.ts'
import { MutatedProofs } from './mutatedProofs.ts'

const { values } = parseArgs({ options: { count: { type: 'string' }, seed: { type: 'string' } } })
const total = Number(values.count ?? 1_000_000)

await initCrypto()
const random = seeded('mutations of proofs', values.seed === undefined ? undefined : Number(values.seed))
const proofs = new MutatedProofs(vectorKeys(wasmCurve()), random)
const start = performance.now()
for (let i = 1; i <= total; i++) {
  proofs.next()
  if (i % 10_000 === 0) {
    const rate = Math.round((1000 * i) / (performance.now() - start))
    console.log(`${i}: ${JSON.stringify(proofs.counts)}, ${rate} a second`)
  }
}
console.log(JSON.stringify(proofs.counts))
console.log(`${total - proofs.wrong.length} passed, ${proofs.wrong.length} failed, 0 skipped`)
for (const wrong of proofs.wrong.slice(0, 20)) console.log(`FAIL ${wrong}`)
process.exit(proofs.wrong.length === 0 ? 0 : 1)
