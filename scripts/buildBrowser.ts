/**
 * Builds `dist/browser/`: `client.js` for pages, `worker.js` (the node) and `vmWorker.js` (the machine, loaded when it is
 * first needed).
 *
 *     npm run build:browser
 */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Metafile, type Plugin } from 'esbuild'

const ROOT = fileURLToPath(new URL('../', import.meta.url))

/** What each bundle is made of, by its name. */
export const BROWSER_ENTRIES = { client: 'client.ts', worker: 'worker.ts', vmWorker: 'vmWorker.ts' } as const

/**
 * hash-wasm's index holds two dozen hashes in one text that no bundler takes apart (216 kB): its files of three hashes say
 * the same.
 */
const fewHashes: Plugin = {
  name: 'few-hashes',
  setup(builder) {
    builder.onResolve({ filter: /^hash-wasm$/ }, () => ({ path: 'hash-wasm', namespace: 'few-hashes' }))
    builder.onLoad({ filter: /.*/, namespace: 'few-hashes' }, () => ({
      contents: ['blake2b', 'keccak', 'sha256']
        .map(
          (name) => `export * from ${JSON.stringify(join(ROOT, 'node_modules/hash-wasm/dist', `${name}.umd.min.js`))}`,
        )
        .join('\n'),
      resolveDir: ROOT,
    }))
  },
}

/** A node in a tab checks few secp256k1 signatures: noble's form is enough and 120 kB smaller. */
const nobleSecp256k1: Plugin = {
  name: 'noble-secp256k1',
  setup(builder) {
    builder.onLoad({ filter: /libauth.*[\\/]crypto[\\/]secp256k1\.js$/ }, () => ({
      contents: `export const instantiateSecp256k1 = () => Promise.reject(new Error('left out of this bundle'))`,
    }))
  },
}

/** Builds into a folder. @returns what esbuild knows of the outputs, by entry */
export async function buildBrowser(
  folder: string,
  options: { readonly minify?: boolean } = {},
): Promise<Readonly<Record<string, Metafile>>> {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  const metafiles: Record<string, Metafile> = {}
  for (const [name, file] of Object.entries(BROWSER_ENTRIES)) {
    const { metafile } = await build({
      entryPoints: { [name]: join(ROOT, 'platform/browser', file) },
      outdir: folder,
      bundle: true,
      format: 'esm',
      platform: 'browser',
      target: 'es2024',
      minify: options.minify ?? true,
      sourcemap: true,
      sourcesContent: false,
      metafile: true,
      define: { PETREL_VERSION: JSON.stringify(version) },
      plugins: name === 'vmWorker' ? [fewHashes] : [fewHashes, nobleSecp256k1],
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
