/** Runs vitest and prints its counts as `N passed, N failed, N skipped`. Arguments go to vitest. */
import { parseCLI, startVitest } from 'vitest/node'

const { filter, options } = parseCLI(['vitest', 'run', ...process.argv.slice(2)])
const vitest = await startVitest('test', filter, { ...options, watch: false, reporters: ['default'] })
const counts = { passed: 0, failed: 0, skipped: 0 }
for (const module of vitest.state.getTestModules()) {
  // A file that could not be loaded has no tests.
  if (!module.ok() && [...module.children.allTests('failed')].length === 0) counts.failed++
  for (const test of module.children.allTests()) {
    const { state } = test.result()
    if (state === 'passed' || state === 'failed') counts[state]++
    else counts.skipped++
  }
}
counts.failed += vitest.state.getUnhandledErrors().length
await vitest.close()
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
process.exitCode = counts.failed === 0 ? 0 : 1
