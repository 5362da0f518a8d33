/**
 * Runs message vectors: `npm run conformance:fvm -- <folder or file>…`, by default those of ../shared.
 * Ends with `N passed, N failed, N skipped`; exit code 1 when one failed or can't be read.
 */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { missingShared, sharedPath } from '../../support/shared.ts'
import { VectorRunner } from './runVector.ts'

/** Every .json below a folder, sorted. */
export function vectorFiles(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path)
    .sort()
    .flatMap((name) => vectorFiles(join(path, name)))
    .filter((file) => file.endsWith('.json'))
}

function main(): void {
  const named = process.argv.slice(2)
  const missing = missingShared('data/vectors/fvm')
  if (named.length === 0 && missing !== undefined) {
    console.error(`name a folder of vectors: ${missing}`)
    process.exit(2)
  }
  const folders = named.length > 0 ? named : [sharedPath('data/vectors/fvm')]
  const runner = new VectorRunner()
  const count = { passed: 0, failed: 0, skipped: 0 }
  let messages = 0
  let milliseconds = 0
  const reasons = new Map<string, number>()
  const start = performance.now()
  for (const file of folders.flatMap(vectorFiles)) {
    try {
      for (const { id, outcome } of runner.run(file)) {
        count[outcome.at]++
        if (outcome.at === 'failed') console.log(`FAIL ${file} (${id}): ${outcome.reason}`)
        if (outcome.at === 'skipped') reasons.set(outcome.reason, (reasons.get(outcome.reason) ?? 0) + 1)
        if (outcome.at === 'passed') {
          messages += outcome.messages
          milliseconds += outcome.milliseconds
        }
      }
    } catch (error) {
      count.failed++
      console.log(`FAIL ${file}: ${String(error)}`)
    }
  }
  for (const [reason, times] of reasons) console.log(`SKIP ${times}: ${reason}`)
  const seconds = (performance.now() - start) / 1000
  const rate = Math.round(messages / (milliseconds / 1000))
  console.log(`${messages} messages executed at ${rate} a second, ${seconds.toFixed(1)} s with loading and compiling`)
  console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`)
  if (count.failed > 0) process.exit(1)
}

if (import.meta.main) main()
