/**
 * The whole check, in order of speed: types, lint, unit tests (with layers and cycles), the same in Chromium, the node in
 * Node and in Deno, several nodes together, a peer of another make, the package. Ends with `N passed, N failed, N skipped`: tests, plus one for each
 * step that is no test.
 *
 *     npm test [-- step…]
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { installChromium } from './setup.ts'

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
const DENO = 'node_modules/deno/bin.cjs'
const STEPS: readonly Step[] = [
  { name: 'types', command: [node, 'scripts/typecheck.ts'], result: 'status' },
  {
    name: 'format',
    command: [
      node,
      'node_modules/@biomejs/biome/bin/biome',
      'ci',
      '--colors=off',
      '--diagnostic-level=warn',
      '--error-on-warnings',
    ],
    result: 'status',
  },
  {
    name: 'lint',
    command: [
      node,
      'node_modules/eslint/bin/eslint.js',
      '--max-warnings=0',
      '--no-error-on-unmatched-pattern',
      'src',
      'platform',
      'test',
      'scripts',
      'examples',
    ],
    result: 'status',
  },
  { name: 'unit', command: [node, 'scripts/vitest.ts'], result: 'line' },
  { name: 'size', command: [node, 'scripts/size.ts'], result: 'status' },
  { name: 'chromium', command: [node, 'test/chromium/run.ts'], result: 'line', only: installChromium },
  { name: 'deno', command: [node, DENO, 'run', '-A', 'test/deno/run.ts'], result: 'line' },
  { name: 'runtimes', command: [node, 'test/runtimes/run.ts'], result: 'line' },
  { name: 'network', command: [node, 'test/network/run.ts', '--seed', '1', '--rounds', '6'], result: 'line' },
  { name: 'crash', command: [node, 'test/crash/run.ts', '--rounds', '20', '--seed', '1'], result: 'line' },
  { name: 'interop', command: [node, 'test/interop/run.ts'], result: 'line' },
  { name: 'pack', command: [node, 'test/pack/run.ts'], result: 'line' },
]

function countsOf(output: string): Counts | undefined {
  const last = [...output.matchAll(/^(\d+) passed, (\d+) failed, (\d+) skipped$/gm)].pop()
  return last === undefined ? undefined : { passed: Number(last[1]), failed: Number(last[2]), skipped: Number(last[3]) }
}

function run(step: Step): Promise<{ status: number; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(step.command[0] as string, step.command.slice(1), { stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      process.stdout.write(chunk)
      output += chunk.toString('utf8')
    })
    child.on('close', (status) => resolve({ status: status ?? 1, output }))
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
  const counts = countsOf(output)
  if (counts === undefined) return { passed: 0, failed: 1, skipped: 0 }
  // A step that failed outside its tests (an unhandled rejection, a crash at the end) has failed all the same.
  return status !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts
}

const wanted = process.argv.slice(2)
const total: Counts = { passed: 0, failed: 0, skipped: 0 }
const lines: string[] = []
for (const step of STEPS) {
  if (wanted.length > 0 && !wanted.includes(step.name)) continue
  console.log(`\n== ${step.name}`)
  const started = performance.now()
  const counts = await result(step)
  total.passed += counts.passed
  total.failed += counts.failed
  total.skipped += counts.skipped
  const seconds = Math.round((performance.now() - started) / 1000)
  lines.push(`${counts.failed === 0 ? 'ok  ' : 'FAIL'} ${step.name.padEnd(10)} ${JSON.stringify(counts)} ${seconds} s`)
}
console.log(`\n${lines.join('\n')}`)
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`)
process.exitCode = total.failed === 0 ? 0 : 1
