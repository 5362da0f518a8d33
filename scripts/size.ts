/**
 * Sizes of the browser bundles, gzip; fails above the budget: what a page loads before the machine is needed.
 *
 *     npm run size
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { buildBrowser, ROOT } from './buildBrowser.ts'

const KILO = 1000
/** kB, of client and worker together. */
const BUDGET_KB = 600

const folder = mkdtempSync(join(tmpdir(), 'petrel-size-'))
try {
  const metafiles = await buildBrowser(folder)
  let total = 0
  for (const [name, { outputs }] of Object.entries(metafiles)) {
    const isLazy = name === 'vmWorker'
    let kb = 0
    for (const path of Object.keys(outputs).filter((one) => !one.endsWith('.map'))) {
      kb += gzipSync(readFileSync(join(ROOT, path)), { level: 9 }).length / KILO
    }
    if (!isLazy) total += kb
    console.log(`${name.padEnd(9)} ${kb.toFixed(1).padStart(7)} kB gzip${isLazy ? ' (loaded when needed)' : ''}`)
  }
  console.log(`without the machine: ${total.toFixed(1)} kB of ${BUDGET_KB} kB`)
  process.exitCode = total <= BUDGET_KB ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
