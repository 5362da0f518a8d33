/** Builds the monitor page into a folder: its script, style and markup, and the workers of a node in the tab. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { buildBrowser } from '../buildBrowser.ts'

const ROOT = join(import.meta.dirname, '../..')
const SOURCE = join(ROOT, 'examples/monitor')

/** @param folder - is made where it is missing */
export async function buildPage(folder: string): Promise<void> {
  await buildBrowser(folder)
  await build({
    entryPoints: [join(SOURCE, 'main.ts')],
    outdir: folder,
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2024',
    sourcemap: true,
    logLevel: 'warning',
    absWorkingDir: ROOT,
  })
  for (const file of ['index.html', 'style.css']) cpSync(join(SOURCE, file), join(folder, file))
}
