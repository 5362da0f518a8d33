/**
 * Runs message vectors of the virtual machine and prints those that fail or are left out, with the reason.
 *
 *     npm run conformance:fvm -- <folder or file>…
 */
import { runVectors, vectorPaths } from '../test/fvm/support/fvmVectors.ts'

const counts = { passed: 0, failed: 0, skipped: 0 }
const paths = process.argv.slice(2).flatMap(vectorPaths)
const start = performance.now()
for (const { name, outcome, reason } of runVectors(paths)) {
  counts[outcome]++
  if (outcome !== 'passed') console.log(`${outcome}: ${name}: ${reason}`)
}
console.log(`${(performance.now() - start).toFixed(0)} ms, one thread, loading and compiling included`)
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
process.exitCode = counts.failed === 0 && paths.length > 0 ? 0 : 1
