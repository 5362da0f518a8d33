/**
 * Builds `dist/` for the npm package, which holds everything but what has native parts (`dependencies`): Node strips no types
 * below node_modules, and 60 packages are installed sooner than 700.
 *
 *     dist/node/      the program: main.js, vmWorker.js (a thread's entry lies beside the program's), what they share
 *     dist/library/   what programs import
 *     dist/browser/   what pages load (scripts/buildBrowser.ts)
 *     dist/monitor/   the monitor's page, with the node for a tab: what --monitor serves
 *     dist/types/     declarations of both
 *     dist/LICENSES   of the packages inside; packages.json: which these are
 *     dist/sbom.json  those and what is installed with them, as CycloneDX
 */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BuildOptions, build } from 'esbuild'
import { fewHashes, mclFileOnDisk, secp256k1FileOnDisk, x509WhenDialing } from './browser/smallerPackages.ts'
import { buildBrowser, ROOT } from './buildBrowser.ts'
import { bundledPackages, licenceTexts } from './bundledPackages.ts'
import { buildPage } from './monitor/buildPage.ts'
import { sbom } from './sbom.ts'
import { shippedPackages } from './shippedPackages.ts'

const { version, dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string
  dependencies: Record<string, string>
}

const SHARED = {
  bundle: true,
  format: 'esm',
  define: { PETREL_VERSION: JSON.stringify(version) },
  sourcemap: false,
  metafile: true,
  absWorkingDir: ROOT,
  logLevel: 'warning',
} as const satisfies BuildOptions

/**
 * V8 holds the text of all that is loaded as long as a process runs, and twice as much for a file with one character beyond
 * Latin-1, as comments have: texts without blanks and comments, in ASCII. Names stay, and lines are short enough to say where an
 * error was thrown. The licences are in a file of their own.
 */
const SMALL_TEXT = {
  minifyWhitespace: true,
  minifySyntax: true,
  charset: 'ascii',
  lineLimit: 160,
  legalComments: 'none',
} as const satisfies BuildOptions

rmSync(join(ROOT, 'dist'), { recursive: true, force: true })
const node = await build({
  ...SHARED,
  ...SMALL_TEXT,
  entryPoints: {
    main: 'platform/node/main.ts',
    vmWorker: 'platform/server/vmWorker.ts',
    readWorker: 'platform/server/readers/readWorker.ts',
  },
  outdir: 'dist/node',
  // What is loaded when it is needed (libp2p, cryptography) are files of their own.
  splitting: true,
  external: Object.keys(dependencies),
  plugins: [fewHashes, mclFileOnDisk, secp256k1FileOnDisk, x509WhenDialing],
  platform: 'node',
  target: 'node24',
  // Packages in CommonJS ask for Node's own modules.
  banner: {
    js: "import { createRequire as petrelRequire } from 'node:module'; const require = petrelRequire(import.meta.url);",
  },
})
const library = await build({
  ...SHARED,
  entryPoints: ['platform/library/petrel.ts'],
  outdir: 'dist/library',
  platform: 'neutral',
  target: 'es2024',
})
const browser = await buildBrowser(join(ROOT, 'dist/browser'), { sourcemap: false })
const page = await buildPage(join(ROOT, 'dist/monitor'), { sourcemap: false })

for (const project of ['platform/library', 'platform/browser']) {
  const { status } = spawnSync(
    process.execPath,
    [
      join(ROOT, 'node_modules/typescript/lib/tsc.js'),
      ...['-p', project, '--noEmit', 'false', '--declaration', '--emitDeclarationOnly'],
      ...['--rootDir', '.', '--outDir', 'dist/types'],
    ],
    { cwd: ROOT, stdio: 'inherit' },
  )
  if (status !== 0) process.exit(1)
}

// Declarations name the files that there are: TypeScript leaves `.ts` in them.
for (const name of readdirSync(join(ROOT, 'dist/types'), { recursive: true, encoding: 'utf8' })) {
  if (!name.endsWith('.d.ts')) continue
  const file = join(ROOT, 'dist/types', name)
  writeFileSync(file, readFileSync(file, 'utf8').replace(/(['"]\.{1,2}\/[^'"]*)\.ts(['"])/g, '$1.js$2'))
}

const inside = bundledPackages([node.metafile, library.metafile, ...Object.values(browser), page])
writeFileSync(join(ROOT, 'dist/LICENSES'), licenceTexts(inside))
const folders = inside.map(({ folder }) => folder)
writeFileSync(join(ROOT, 'dist/packages.json'), JSON.stringify(folders))
writeFileSync(join(ROOT, 'dist/sbom.json'), sbom(version, shippedPackages(folders)))
