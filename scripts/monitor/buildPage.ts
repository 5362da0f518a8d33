/**
 * Builds the monitor page into a folder: its script, style and markup, and the workers of a node in the tab. Any server of static
 * files can give it out; a node does with `--monitor`.
 *
 *     npx node scripts/monitor/buildPage.ts [<folder>]      default: dist/monitor
 */
import { cpSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Metafile, type Plugin } from 'esbuild'
import { buildBrowser, ROOT } from '../buildBrowser.ts'

const SOURCE = join(ROOT, 'examples/monitor')
const SOURCES = join(ROOT, 'src/')

const MODULES = { petrel: 'platform/library/petrel.ts', 'petrel/browser': 'platform/browser/client.ts' }

/** The package's names are its sources here. Of the library the page carries what it uses: loading a module of `src` does nothing. */
const ownLibrary: Plugin = {
  name: 'own library',
  setup({ onResolve, resolve: resolveElse }) {
    for (const [name, path] of Object.entries(MODULES)) {
      onResolve({ filter: new RegExp(`^${name}$`) }, () => ({ path: join(ROOT, path), sideEffects: false }))
    }
    onResolve({ filter: /^\.{1,2}\// }, async ({ path, importer, kind, resolveDir, pluginData }) => {
      if (pluginData === ownLibrary.name) return undefined
      const found = await resolveElse(path, { importer, kind, resolveDir, pluginData: ownLibrary.name })
      return found.path.startsWith(SOURCES) ? { path: found.path, sideEffects: false } : undefined
    })
  },
}

/**
 * @param folder - is made where it is missing
 * @returns what esbuild knows of the page's script
 */
export async function buildPage(folder: string, options: { readonly sourcemap?: boolean } = {}): Promise<Metafile> {
  const { sourcemap = true } = options
  await buildBrowser(folder, { sourcemap })
  const { metafile } = await build({
    entryPoints: [join(SOURCE, 'main.ts')],
    outdir: folder,
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    plugins: [ownLibrary],
    target: 'es2024',
    sourcemap,
    metafile: true,
    logLevel: 'warning',
    absWorkingDir: ROOT,
  })
  for (const file of ['index.html', 'style.css', 'panels.css']) cpSync(join(SOURCE, file), join(folder, file))
  return metafile
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const given = process.argv[2]
  const folder = given === undefined ? join(ROOT, 'dist/monitor') : resolve(given)
  if (given === undefined) rmSync(folder, { recursive: true, force: true })
  await buildPage(folder, { sourcemap: false })
  console.log(`the monitor's page is in ${folder}`)
}
