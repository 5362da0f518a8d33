/**
 * Runs test files in Deno: the contract suites and the machine's vectors by default, or the files that are named (any unit test).
 *
 *     deno task test [file…]
 *
 * Prints failures and, last, `N passed, N failed, N skipped`.
 */
import { readdirSync } from 'node:fs'
import process from 'node:process'
import { runDeclared } from '../support/vitest.ts'

const CONTRACT = 'test/contract'

function contractFiles(): string[] {
  return readdirSync(CONTRACT)
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `${CONTRACT}/${name}`)
}

/** The machine's vectors, and those of storage proofs: what they say must not depend on the engine. */
const CONFORMANCE = [
  'test/conformance/fvm/vectors.slow.test.ts',
  ...['PoSt', 'Large', 'Seal', 'Aggregate'].map((part) => `test/proofs/vectors${part}.test.ts`),
]

const files = process.argv.length > 2 ? process.argv.slice(2) : [...contractFiles(), ...CONFORMANCE]
for (const file of files) await import(new URL(`../../${file}`, import.meta.url).href)
const counts = { passed: 0, failed: 0, skipped: 0 }
await runDeclared((event) => {
  if ('started' in event) return
  counts[event.state]++
  if (event.state === 'failed') console.log(`FAIL ${event.name}\n  ${event.message ?? ''}`)
})
console.log(`Deno: ${files.length} files`)
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
process.exit(counts.failed === 0 && counts.passed > 0 ? 0 : 1)
