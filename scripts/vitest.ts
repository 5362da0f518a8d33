/**
 * Runs vitest and prints, after its own report, `FAIL <file> > <test>` with the error's first line for each test that failed, and its
 * counts as `N passed, N failed, N skipped`. Arguments go to vitest.
 *
 * Of a run of all tests, a few files with failures are run once more, by themselves: beside two other rows of the check a machine of two
 * cores may be late by more than a wait allows. What passes then counts as passed, and is named: `UNSTEADY <file> > <test>`.
 */
import { parseCLI, startVitest, type TestCase, type TestModule } from 'vitest/node'

/** More than so many files that fail are no matter of load. */
const MAX_UNSTEADY_FILES = 4

interface Outcome {
  readonly counts: { passed: number; failed: number; skipped: number }
  /** What failed, by name, with the error's first line. */
  readonly failures: ReadonlyMap<string, string>
  readonly failedFiles: readonly string[]
}

/** With the file that Vitest was running. */
interface UnhandledError extends Error {
  readonly VITEST_TEST_PATH?: string
}

const { filter, options } = parseCLI(['vitest', 'run', ...process.argv.slice(2)])

const nameOf = (module: TestModule, test: TestCase): string => `${module.relativeModuleId} > ${test.fullName}`
const firstLine = (error: { message: string } | undefined): string =>
  error?.message.split('\n')[0] ?? 'no error was told'

async function run(files: readonly string[], changes: typeof options): Promise<Outcome> {
  const vitest = await startVitest('test', [...files], { ...options, ...changes, watch: false, reporters: ['default'] })
  const counts = { passed: 0, failed: 0, skipped: 0 }
  const failures = new Map<string, string>()
  const failedFiles: string[] = []
  for (const module of vitest.state.getTestModules()) {
    if (!module.ok()) failedFiles.push(module.moduleId)
    // A file that could not be loaded has no tests.
    if (!module.ok() && [...module.children.allTests('failed')].length === 0) {
      failures.set(module.relativeModuleId, firstLine(module.errors()[0]))
    }
    for (const test of module.children.allTests()) {
      const { state, errors } = test.result()
      if (state === 'failed') failures.set(nameOf(module, test), firstLine(errors[0]))
      else if (state === 'passed') counts.passed++
      else counts.skipped++
    }
  }
  for (const error of vitest.state.getUnhandledErrors() as UnhandledError[]) {
    const from = error.VITEST_TEST_PATH
    // What a test that failed leaves behind belongs to it.
    if (from === undefined || !failedFiles.some((file) => file.endsWith(from))) {
      failures.set(`unhandled ${failures.size}`, firstLine(error))
    }
  }
  counts.failed = failures.size
  await vitest.close()
  return { counts, failures, failedFiles }
}

const first = await run(filter, {})
const { counts } = first
let { failures } = first
const whole = filter.length === 0 && options.changed === undefined
const fromFiles = first.failedFiles.length > 0 && first.failedFiles.length <= MAX_UNSTEADY_FILES
if (whole && fromFiles) {
  console.log(`\nonce more, by themselves: ${first.failedFiles.join(', ')}`)
  const again = await run(first.failedFiles, { maxWorkers: 1 })
  const unsteady = [...failures].filter(([name]) => !again.failures.has(name) && !name.startsWith('unhandled'))
  for (const [name, reason] of unsteady) console.log(`UNSTEADY ${name}\n  ${reason}`)
  failures = new Map([...failures, ...again.failures].filter(([name]) => !unsteady.some(([steady]) => steady === name)))
  counts.passed += unsteady.length
  counts.failed = failures.size
}
for (const [name, reason] of failures) console.log(`FAIL ${name}\n  ${reason}`)
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
process.exitCode = counts.failed === 0 ? 0 : 1
