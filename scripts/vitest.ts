/**
 * Runs vitest and prints, after its own report, `FAIL <file> > <test>` with the error's first line for each test that failed, and its
 * counts as `N passed, N failed, N skipped`. Arguments go to vitest.
 */
import { parseCLI, startVitest } from 'vitest/node'

const { filter, options } = parseCLI(['vitest', 'run', ...process.argv.slice(2)])
const vitest = await startVitest('test', filter, { ...options, watch: false, reporters: ['default'] })
const counts = { passed: 0, failed: 0, skipped: 0 }
const tellFailure = (name: string, error: { message: string } | undefined): void =>
  console.log(`FAIL ${name}\n  ${error?.message.split('\n')[0] ?? 'no error was told'}`)
for (const module of vitest.state.getTestModules()) {
  // A file that could not be loaded has no tests.
  if (!module.ok() && [...module.children.allTests('failed')].length === 0) {
    counts.failed++
    tellFailure(module.relativeModuleId, module.errors()[0])
  }
  for (const test of module.children.allTests()) {
    const { state, errors } = test.result()
    if (state === 'failed') tellFailure(`${module.relativeModuleId} > ${test.fullName}`, errors[0])
    if (state === 'passed' || state === 'failed') counts[state]++
    else counts.skipped++
  }
}
const unhandled = vitest.state.getUnhandledErrors() as Error[]
counts.failed += unhandled.length
for (const error of unhandled) tellFailure('unhandled', error)
await vitest.close()
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
process.exitCode = counts.failed === 0 ? 0 : 1
