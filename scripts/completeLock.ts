/**
 * Completes package-lock.json after `npm install` on a machine whose registry lacks packages of other platforms: npm
 * leaves out what it cannot look up, and `npm ci` then calls the lock incomplete. Each such package is optional, its exact
 * version stands in the package that asks for it, and its platform in its name; npm fetches it on that platform alone.
 *
 *     node scripts/completeLock.ts
 */
import { readFileSync, writeFileSync } from 'node:fs'

interface LockEntry {
  version?: string
  dev?: boolean
  optional?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
  optionalDependencies?: Record<string, string>
}

const SYSTEMS: Readonly<Record<string, string>> = {
  aix: 'aix',
  android: 'android',
  darwin: 'darwin',
  freebsd: 'freebsd',
  linux: 'linux',
  netbsd: 'netbsd',
  openbsd: 'openbsd',
  openharmony: 'openharmony',
  sunos: 'sunos',
  win: 'win32',
  win32: 'win32',
}
const PROCESSORS: Readonly<Record<string, string>> = {
  arm: 'arm',
  armv7: 'arm',
  'arm-gnueabihf': 'arm',
  arm64: 'arm64',
  ia32: 'ia32',
  loong64: 'loong64',
  mips64el: 'mips64el',
  ppc64: 'ppc64',
  ppc64le: 'ppc64',
  riscv64: 'riscv64',
  s390x: 's390x',
  wasm32: 'wasm32',
  x64: 'x64',
}

/** What a name like `@esbuild/darwin-arm64` or `@deno/linux-x64-glibc` says of its platform. */
function platformOf(name: string): Pick<LockEntry, 'os' | 'cpu' | 'libc'> | undefined {
  const words = name.split(/[/-]/)
  const os = words.map((word) => SYSTEMS[word]).find((found) => found !== undefined)
  const cpu = words.map((word) => PROCESSORS[word]).find((found) => found !== undefined)
  if (cpu === undefined || (os === undefined && cpu !== 'wasm32')) return undefined
  const libc = /musl/.test(name) ? ['musl'] : /glibc|-gnu/.test(name) ? ['glibc'] : undefined
  return { ...(os === undefined ? {} : { os: [os] }), cpu: [cpu], ...(libc === undefined ? {} : { libc }) }
}

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, LockEntry> }
const { packages } = lock
const added: string[] = []
for (const [path, entry] of Object.entries(packages)) {
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    const nested = `${path}/node_modules/${name}`
    const top = `node_modules/${name}`
    if (nested in packages || top in packages) continue
    const platform = platformOf(name)
    if (platform === undefined) throw new Error(`no platform in the name ${name}, optional for ${path}`)
    const dev = entry.dev === true ? { dev: true } : {}
    packages[top] = { version: range.replace(/^[\^~>=]*/, ''), ...dev, optional: true, ...platform }
    added.push(top)
  }
}
const sorted = Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1))
writeFileSync(
  'package-lock.json',
  `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, undefined, 2)}\n`,
)
console.log(`added ${added.length}: ${added.join(' ')}`)
