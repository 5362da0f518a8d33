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
import { toHex } from '../../../src/base/bytes.ts'
import { initCrypto } from '../../../src/crypto/init.ts'
import type { Curve, G1, G2 } from '../../../src/proofs/curve/curve.ts'
import { wasmCurve } from '../../../src/proofs/curve/curveWasm.ts'
import { vectorKeys } from '../../proofs/proofKeys.ts'
import { seeded } from '../../support/seeded.ts'
import { MutatedProofs } from './mutatedProofs.ts'

/** The same curve, that decodes points once: of most mutations all but one are those of the valid proof. */
function readingOnce(curve: Curve): Curve {
  const points = new Map<string, G1 | G2>()
  function once<T extends G1 | G2>(bytes: Uint8Array, read: () => T | undefined): T | undefined {
    const name = toHex(bytes)
    const point = (points.get(name) as T | undefined) ?? read()
    if (point !== undefined) points.set(name, point)
    return point
  }
  const own = {
    readG1: (bytes: Uint8Array) => once(bytes, () => curve.readG1(bytes)),
    readG2: (bytes: Uint8Array) => once(bytes, () => curve.readG2(bytes)),
    readManyG1: (list: readonly Uint8Array[]) => many(list, (open) => curve.readManyG1(open)),
    readManyG2: (list: readonly Uint8Array[]) => many(list, (open) => curve.readManyG2(open)),
  }
  /** Those that are not known all at once, as a verifier reads them. */
  function many<T extends G1 | G2>(
    list: readonly Uint8Array[],
    read: (open: readonly Uint8Array[]) => (T | undefined)[],
  ): (T | undefined)[] {
    const open = list.filter((bytes) => !points.has(toHex(bytes)))
    const made = new Map(read(open).map((point, i) => [open[i], point]))
    return list.map((bytes) => once(bytes, () => made.get(bytes)))
  }
  return new Proxy(curve, {
    get: (target, name) => {
      if (Object.hasOwn(own, name)) return own[name as keyof typeof own]
      const value = target[name as keyof Curve]
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

const { values } = parseArgs({ options: { count: { type: 'string' }, seed: { type: 'string' } } })
const total = Number(values.count ?? 1_000_000)

await initCrypto()
const random = seeded('mutations of proofs', values.seed === undefined ? undefined : Number(values.seed))
const proofs = new MutatedProofs(vectorKeys(readingOnce(wasmCurve())), random)
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
