/**
 * Builds `dist/` for the npm package: Node strips no types below node_modules. Each entry becomes one file (fast to start);
 * packages stay imports. A worker's entry lies beside the program's, whatever folder it comes from.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { build } from 'esbuild'

const ENTRIES = ['platform/node/main.ts', 'platform/server/vmWorker.ts'].filter(existsSync)

/** Says what is wrong on an older Node before anything that it cannot read is loaded. */
const LAUNCHER = `#!/usr/bin/env node
const NEEDED = 24
if (Number(process.versions.node.split('.')[0]) < NEEDED) {
  process.stderr.write(\`ERROR: petrel needs Node \${NEEDED} or newer, this is \${process.version}\\n\`)
  process.exit(1)
}
import('node:module').then(({ enableCompileCache }) => {
  enableCompileCache()
  return import('./main.js')
})
`

// What `npm run build:browser` made beside it stays.
for (const name of existsSync('dist') ? readdirSync('dist') : []) {
  if (name !== 'browser') rmSync(`dist/${name}`, { recursive: true, force: true })
}
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
await build({
  entryPoints: ENTRIES,
  outdir: 'dist',
  entryNames: '[name]',
  bundle: true,
  packages: 'external',
  format: 'esm',
  platform: 'node',
  target: 'node24',
  define: { PETREL_VERSION: JSON.stringify(version) },
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
})
writeFileSync('dist/petrel.js', LAUNCHER, { mode: 0o755 })
