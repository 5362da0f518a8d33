/**
 * Runs the unit tests of src in Chromium: each test file bundled, in a worker of its own.
 *
 *     node test/chromium/run.ts [part of a file name]…
 *
 * Prints failures and, last, `N passed, N failed, N skipped`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { launchChromium } from '../support/chromium.ts'
import { ROOT } from '../support/shared.ts'
import type { TestResult } from '../support/vitest.ts'
import { bundlePage } from './bundlePage.ts'
import { portableTests } from './portable.ts'
import { serveTests } from './serve.ts'

/** A file that takes longer than this hangs, milliseconds. */
const FILE_TIMEOUT_MS = 120_000
const WORKERS = 2

async function bundle(files: readonly string[], folder: string): Promise<void> {
  const entries = files.map((file, index) => {
    const entry = join(folder, `entry${index}.ts`)
    const run = `import { runDeclared } from ${JSON.stringify(join(ROOT, 'test/support/vitest.ts'))}
import ${JSON.stringify(join(ROOT, file))}
await runDeclared((event) => postMessage(event))
postMessage('done')
`
    writeFileSync(entry, run)
    return entry
  })
  await bundlePage(entries, join(folder, 'out'))
}

/** Runs one bundled file in a worker of the page. */
function runFile(page: Page, url: string): Promise<TestResult[]> {
  return page.evaluate(
    ({ script, timeoutMs }) =>
      new Promise<TestResult[]>((resolve) => {
        const results: TestResult[] = []
        let running = 'the file itself'
        const worker = new (
          globalThis as unknown as { Worker: new (url: string, options: object) => PageWorker }
        ).Worker(script, { type: 'module' })
        const end = (): void => {
          clearTimeout(timer)
          worker.terminate()
          resolve(results)
        }
        const fail = (message: string): void => {
          results.push({ name: running, state: 'failed', message })
          end()
        }
        const timer = setTimeout(() => fail('timeout'), timeoutMs)
        worker.onmessage = ({ data }) => {
          if (data === 'done') end()
          else if ('started' in (data as object)) running = (data as { started: string }).started
          else results.push(data as TestResult)
        }
        worker.onerror = (event) => fail(event.message ?? 'the worker did not start')
      }),
    { script: url, timeoutMs: FILE_TIMEOUT_MS },
  )
}

interface PageWorker {
  onmessage: (event: { data: unknown }) => void
  onerror: (event: { message?: string }) => void
  terminate(): void
}

const wanted = process.argv.slice(2)
const { files: all, nodeOnly } = portableTests()
const files = all.filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
if (wanted.length === 0) console.log(`in Node alone, for what they import: ${nodeOnly.join(', ') || 'none'}`)
const folder = mkdtempSync(join(tmpdir(), 'petrel-chromium-'))
const counts = { passed: 0, failed: 0, skipped: 0 }
try {
  await bundle(files, folder)
  const server = await serveTests(join(folder, 'out'))
  const browser = await launchChromium()
  try {
    const queue = files.map((file, index) => ({ file, url: `${server.url}/entry${index}.js` }))
    const work = async (): Promise<void> => {
      const page = await browser.newPage()
      await page.goto(`${server.url}/index.html`)
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const started = performance.now()
        const results = await runFile(page, next.url)
        for (const result of results) counts[result.state]++
        const failed = results.filter(({ state }) => state === 'failed')
        const ms = Math.round(performance.now() - started)
        console.log(`${failed.length === 0 ? 'ok  ' : 'FAIL'} ${next.file} (${results.length} tests, ${ms} ms)`)
        for (const { name, message } of failed)
          console.log(`  ${name}\n    ${(message ?? '').split('\n').join('\n    ')}`)
      }
    }
    await Promise.all(Array.from({ length: WORKERS }, work))
    console.log(`Chromium ${browser.version()}`)
  } finally {
    await browser.close()
    server.close()
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1
