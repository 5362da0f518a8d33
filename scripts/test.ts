/**
 * The whole check: types, lint, unit tests (with layers and cycles), the same in Chromium, the node in Node and in Deno,
 * several nodes together, a peer of another make, the package. Ends with `N passed, N failed, N skipped`: tests, plus one for
 * each step that is no test.
 *
 *     npm test [-- step… [arguments of the one step]]
 *     npm test -- --changed [commit]     types, format, lint, and the unit tests that changes since then reach (default: HEAD)
 *
 * Compiled code is kept between processes: most steps start many, each from the same sources.
 *
 * Three rows of steps run side by side, so that no core waits for a step that has but one thread, or waits for epochs and
 * for peers (interop has 3 minutes of processor time in 6); their lines carry the step's name.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { installChromium } from './setup.ts'

const CHANGED = '--changed'
const args = process.argv.slice(2)
const changedAt = args.indexOf(CHANGED)
const since = changedAt < 0 ? undefined : (args[changedAt + 1] ?? 'HEAD')

interface Counts {
  passed: number
  failed: number
  skipped: number
}

/** How a step's result is read: `status` counts as one; `line`: its last `N passed, N failed, N skipped`; vitest's JSON. */
interface Step {
  readonly name: string
  readonly command: readonly string[]
  readonly result: 'status' | 'line'
  readonly only?: () => string | undefined
}

const node = process.execPath
const environment = { ...process.env, NODE_COMPILE_CACHE: resolve('node_modules/.cache/compiled') }
const DENO = 'node_modules/deno/bin.cjs'
const script = (name: string, file: string, ...rest: string[]): Step => ({
  name,
  command: [node, file, ...rest],
  result: 'line',
})
const BIOME = ['node_modules/@biomejs/biome/bin/biome', 'ci', '--colors=off']
const LINTED = ['src', 'platform', 'test', 'scripts', 'examples', 'vitest.config.ts']

const CHECKS: readonly Step[] = [
  // Types of all parts are the lint's; declarations that need no inference, src without any runtime, are the compiler's alone.
  { name: 'types', command: [node, 'node_modules/typescript/lib/tsc.js', '-p', '.'], result: 'status' },
  { name: 'format', command: [node, ...BIOME, '--diagnostic-level=warn', '--error-on-warnings'], result: 'status' },
  { name: 'unused', command: [node, 'node_modules/knip/bin/knip.js', '--no-progress'], result: 'status' },
  { name: 'lint', command: [node, 'node_modules/oxlint/bin/oxlint', ...LINTED], result: 'status' },
]
const UNIT = script('unit', 'scripts/vitest.ts', ...(since === undefined ? [] : [CHANGED, since]))

/** Rows side by side, in each its steps one after the other: all take about as long. */
const ROWS: readonly (readonly Step[])[] =
  since === undefined
    ? [
        [UNIT],
        [
          ...CHECKS,
          { name: 'size', command: [node, 'scripts/size.ts'], result: 'status' },
          { name: 'deno', command: [node, DENO, 'run', '-A', 'test/deno/run.ts'], result: 'line' },
          script('pack', 'test/pack/run.ts'),
          { ...script('chromium', 'test/chromium/run.ts'), only: installChromium },
          script('crash', 'test/crash/run.ts', '--rounds', '20', '--seed', '1'),
        ],
        [
          script('interop', 'test/interop/run.ts'),
          script('runtimes', 'test/runtimes/run.ts'),
          script('network', 'test/network/run.ts', '--seed', '1', '--rounds', '6'),
        ],
      ]
    : [CHECKS, [UNIT]]

/** What failed in a step, or did at first, from its output: each `FAIL <name>` or `UNSTEADY <name>` with the line that says why. */
function failuresOf(output: string): readonly string[] {
  return [...output.matchAll(/^((?:FAIL|UNSTEADY) .*\n.*)$/gm)].map((match) =>
    (match[1] as string).replace(/\s+/g, ' ').slice(0, 300),
  )
}

function countsOf(output: string): Counts | undefined {
  const last = [...output.matchAll(/^(\d+) passed, (\d+) failed, (\d+) skipped$/gm)].pop()
  return last === undefined ? undefined : { passed: Number(last[1]), failed: Number(last[2]), skipped: Number(last[3]) }
}

/** Prints whole lines, each with the step's name: others print meanwhile. */
function linePrinter(name: string): (text: string) => void {
  let rest = ''
  return (text) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) console.log(`${name} | ${line}`)
  }
}

function run(step: Step): Promise<{ status: number; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(step.command[0] as string, [...step.command.slice(1), ...extra], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: environment,
    })
    const print = linePrinter(step.name)
    const printError = linePrinter(step.name)
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      print(chunk)
      output += chunk
    })
    child.stderr.setEncoding('utf8').on('data', printError)
    child.on('close', (status) => {
      print('\n')
      printError('\n')
      resolve({ status: status ?? 1, output })
    })
  })
}

async function result(step: Step): Promise<Counts> {
  const script = step.command.find((part) => part.endsWith('.ts'))
  if (script !== undefined && !existsSync(script)) return { passed: 0, failed: 1, skipped: 0 }
  const missing = step.only?.()
  if (missing !== undefined) {
    console.log(`skipped: ${missing}`)
    return { passed: 0, failed: 0, skipped: 1 }
  }
  const { status, output } = await run(step)
  if (step.result === 'status') return { passed: status === 0 ? 1 : 0, failed: status === 0 ? 0 : 1, skipped: 0 }
  failures.push(...failuresOf(output).map((failure) => `${step.name} ${failure}`))
  const counts = countsOf(output)
  if (counts === undefined) return { passed: 0, failed: 1, skipped: 0 }
  // A step that failed outside its tests (an unhandled rejection, a crash at the end) has failed all the same.
  return status !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts
}

const names = ROWS.flat().map(({ name }) => name)
const asked = since === undefined ? args : args.slice(0, changedAt)
const wanted = asked.filter((name) => names.includes(name))
/** Of the one step that is asked for; a word that is no step is a mistake otherwise. */
const extra = asked.filter((name) => !names.includes(name))
if (extra.length > 0 && wanted.length !== 1) {
  console.error(`no step is called ${extra.join(', ')}: ${names.join(', ')}`)
  process.exit(2)
}
const total: Counts = { passed: 0, failed: 0, skipped: 0 }
const lines: string[] = []
/** Named again at the end: there they are found, among some ten thousand lines of three rows. */
const failures: string[] = []

async function runStep(step: Step): Promise<void> {
  if (wanted.length > 0 && !wanted.includes(step.name)) return
  console.log(`\n== ${step.name}`)
  const started = performance.now()
  const counts = await result(step)
  total.passed += counts.passed
  total.failed += counts.failed
  total.skipped += counts.skipped
  const seconds = Math.round((performance.now() - started) / 1000)
  lines.push(`${counts.failed === 0 ? 'ok  ' : 'FAIL'} ${step.name.padEnd(10)} ${JSON.stringify(counts)} ${seconds} s`)
}

// Before the rows: the unit tests open pages, too.
if (since === undefined && wanted.length === 0) installChromium()
await Promise.all(
  ROWS.map(async (steps) => {
    for (const step of steps) await runStep(step)
  }),
)
console.log(`\n${[...lines, ...failures].join('\n')}`)
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`)
process.exitCode = total.failed === 0 ? 0 : 1
