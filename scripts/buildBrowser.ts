/**
 * Builds `dist/browser/`: `client.js` for pages, `worker.js` (the node) and `vmWorker.js` (the machine, loaded when it is
 * first needed).
 *
 *     npx node scripts/buildBrowser.ts
 */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Metafile } from 'esbuild'
import { fewHashes, mclFile, nobleSecp256k1 } from './browser/smallerPackages.ts'

/** The repository; paths of the outputs are relative to it. */
export const ROOT: string = fileURLToPath(new URL('../', import.meta.url))

/** What each bundle is made of, by its name. */
export const BROWSER_ENTRIES = { client: 'client.ts', worker: 'worker.ts', vmWorker: 'vmWorker.ts' } as const

/** Builds into a folder. @returns what esbuild knows of the outputs, by entry */
export async function buildBrowser(
  folder: string,
  options: { readonly minify?: boolean; readonly sourcemap?: boolean } = {},
): Promise<Readonly<Record<string, Metafile>>> {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  const metafiles: Record<string, Metafile> = {}
  for (const [name, file] of Object.entries(BROWSER_ENTRIES)) {
    const { metafile } = await build({
      entryPoints: { [name]: join(ROOT, 'platform/browser', file) },
      outdir: folder,
      bundle: true,
      // What is loaded when it is needed (cryptography, peers) are files of their own.
      splitting: true,
      chunkNames: `chunks/${name}-[name]-[hash]`,
      format: 'esm',
      platform: 'browser',
      target: 'es2024',
      minify: options.minify ?? true,
      sourcemap: options.sourcemap ?? true,
      sourcesContent: false,
      metafile: true,
      define: { PETREL_VERSION: JSON.stringify(version) },
      assetNames: 'chunks/[name]-[hash]',
      loader: { '.wasm': 'file' },
      plugins: name === 'vmWorker' ? [fewHashes, mclFile] : [fewHashes, mclFile, nobleSecp256k1],
      absWorkingDir: ROOT,
      logLevel: 'warning',
    })
    metafiles[name] = metafile
  }
  return metafiles
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = join(ROOT, 'dist/browser')
  rmSync(folder, { recursive: true, force: true })
  await buildBrowser(folder)
}
