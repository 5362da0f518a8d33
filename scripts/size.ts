/**
 * Sizes of the browser bundles, gzip: what each loads at its start, and what it loads when it is needed (peers, cryptography).
 * Fails above the budget of what client and worker load at their start.
 *
 *     npx node scripts/size.ts
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Metafile } from 'esbuild'
import { BROWSER_ENTRIES, buildBrowser, ROOT } from './buildBrowser.ts'

const KILO = 1000
/** kB, of client and worker together at their start. */
const BUDGET_KB = 600

function kiloBytes(paths: Iterable<string>): number {
  let kb = 0
  for (const path of paths) kb += gzipSync(readFileSync(join(ROOT, path)), { level: 9 }).length / KILO
  return kb
}

/** An entry with all that it imports, but for what it imports later. */
function atStart(outputs: Metafile['outputs'], entry: string): Set<string> {
  const found = new Set<string>()
  const add = (path: string): void => {
    if (found.has(path)) return
    found.add(path)
    for (const { path: next, kind } of outputs[path]?.imports ?? []) {
      if (kind !== 'dynamic-import' && next in outputs) add(next)
    }
  }
  add(entry)
  return found
}

const folder = mkdtempSync(join(tmpdir(), 'petrel-size-'))
try {
  const metafiles = await buildBrowser(folder)
  let total = 0
  for (const [name, { outputs }] of Object.entries(metafiles)) {
    const all = Object.keys(outputs).filter((path) => !path.endsWith('.map'))
    const source = `platform/browser/${BROWSER_ENTRIES[name as keyof typeof BROWSER_ENTRIES]}`
    const entry = all.find((path) => outputs[path]?.entryPoint === source) as string
    const first = atStart(outputs, entry)
    const kb = kiloBytes(first)
    const later = kiloBytes(all.filter((path) => !first.has(path)))
    if (name !== 'vmWorker') total += kb
    console.log(`${name.padEnd(9)} ${kb.toFixed(1).padStart(7)} kB gzip at start, ${later.toFixed(1)} kB when needed`)
  }
  console.log(`client and worker at start: ${total.toFixed(1)} kB of ${BUDGET_KB} kB`)
  process.exitCode = total <= BUDGET_KB ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
