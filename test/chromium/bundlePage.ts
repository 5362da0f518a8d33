/** Scripts bundled for a page of Chromium, with the test support of this folder in place of Node's. */
import { writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { ROOT } from '../support/shared.ts'

const replaceSupport: Plugin = {
  name: 'replace-support',
  setup(builder) {
    builder.onResolve({ filter: /\/(shared|actors)\.ts$/ }, ({ path, resolveDir }) => {
      const isSupport = dirname(join(resolveDir, path)) === join(ROOT, 'test/support')
      return isSupport ? { path: join(ROOT, 'test/chromium', basename(path)) } : undefined
    })
    builder.onResolve({ filter: /^vitest$/ }, () => ({ path: join(ROOT, 'test/support/vitest.ts') }))
  },
}

/** Bundles scripts into a folder, beside an empty page. */
export async function bundlePage(entryPoints: readonly string[], outdir: string): Promise<void> {
  await build({
    entryPoints: [...entryPoints],
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'chrome130',
    sourcemap: 'inline',
    absWorkingDir: ROOT,
    nodePaths: [join(ROOT, 'node_modules')],
    plugins: [replaceSupport],
    logLevel: 'warning',
  })
  writeFileSync(join(outdir, 'index.html'), '<!doctype html><title>Petrel unit tests</title>')
}
