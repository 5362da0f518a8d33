/**
 * The npm package as a person makes and uses it: `npm pack` in the clone, `npm i` of the tarball in an empty folder with an
 * empty cache and without any package's script, the installed `petrel` runs a local chain and answers, programs import it.
 * Ends with `N passed, N failed, N skipped`.
 */
import { spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { ROOT } from '../support/shared.ts'
import { until } from '../support/until.ts'

const START_TIMEOUT_MS = 60_000
const MAX_MEGABYTES = 60
const MAX_PACKAGES = 60
/** Of a licence with its name, characters. */
const MIN_LICENCE = 300

const folder = mkdtempSync(join(tmpdir(), 'petrel-pack-'))
const app = join(folder, 'app')
const home = join(folder, 'home')
/** The Node that runs this test goes before the machine's. */
const environment = {
  ...process.env,
  PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
  PETREL_HOME: home,
  npm_config_cache: join(folder, 'cache'),
}
// What `npm test` was told is not what a person says.
for (const name of Object.keys(environment)) {
  if (/^npm_(?!config_(cache|registry)$)/.test(name)) delete (environment as NodeJS.ProcessEnv)[name]
}
/** With what npm has fetched before: of what a clone is set up with, not of what is tried. */
const setUp = { ...environment, npm_config_cache: process.env.npm_config_cache }
let passed = 0
let failed = 0

function run(command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = environment): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, env, encoding: 'utf8' })
  if (status === 0) return stdout
  throw new Error(`${command} ${args.join(' ')}: status ${status}\n${stdout}${stderr}${error?.message ?? ''}`)
}

async function check(name: string, body: () => unknown): Promise<void> {
  try {
    await body()
    passed++
    console.log(`ok   ${name}`)
  } catch (error) {
    failed++
    console.log(`FAIL ${name}\n${error instanceof Error ? error.stack : String(error)}`)
  }
}

function expect(isTrue: boolean, message: string): void {
  if (!isTrue) throw new Error(message)
}

function petrel(...args: string[]): string {
  return run(join(app, 'node_modules/.bin/petrel'), args, app)
}

/** Runs `petrel devnet` until it listens, does `body`, and stops it. */
function withDevnet(body: () => unknown): Promise<void> {
  return withNode(home, ['devnet', '--api', '0', '--block-time', '1', '--monitor'], body)
}

async function withNode(repo: string, args: readonly string[], body: () => unknown): Promise<void> {
  const node = spawn(join(app, 'node_modules/.bin/petrel'), ['--repo', repo, ...args], {
    cwd: app,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const ended = new Promise<never>((_resolve, reject) => {
    node.on('exit', (status) => reject(new Error(`petrel ${args[0]} ended with ${status}\n${output}`)))
  })
  ended.catch(() => undefined)
  const ready = until(() => existsSync(join(repo, 'api')), `petrel ${args[0]} listens`, START_TIMEOUT_MS)
  for (const stream of [node.stdout, node.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  try {
    await Promise.race([ready, ended])
    await body()
  } finally {
    node.kill('SIGTERM')
    await ended.catch(() => undefined)
    said += output
  }
}

/** What installed nodes printed. */
let said = ''

/** The process that holds the home's lock is gone soon after npm's. */
async function npmStartEnds(): Promise<void> {
  const repo = join(folder, 'npm-home')
  const npm = spawn('npm', ['start', '--', '--api', '0', '--no-net'], {
    cwd: ROOT,
    env: { ...environment, PETREL_HOME: repo },
    stdio: 'ignore',
  })
  const ended = new Promise<void>((resolve) => npm.on('exit', () => resolve()))
  await until(() => existsSync(join(repo, 'api')), 'it listens', START_TIMEOUT_MS)
  const pid = Number(readFileSync(join(repo, 'petrel.lock'), 'utf8').split(' ')[0])
  npm.kill('SIGTERM')
  await ended
  await until(() => !isRunning(pid), 'the node is gone', START_TIMEOUT_MS)
  expect(!existsSync(join(repo, 'petrel.lock')), 'it did not end in order')
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

try {
  let tarball = ''
  await check('npm pack', () => {
    run('npm', ['pack', '--pack-destination', folder], ROOT)
    tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? ''
    expect(tarball !== '', 'no tarball')
  })
  await check('the same bytes from another clone, elsewhere', () => {
    const clone = join(folder, 'another', 'clone')
    for (const name of run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], ROOT).split('\0')) {
      if (existsSync(join(ROOT, name)) && name !== '') cpSync(join(ROOT, name), join(clone, name))
    }
    // Its own packages, not those of the first: what is bundled is theirs.
    run('npm', ['ci', '--ignore-scripts', '--prefer-offline'], clone, setUp)
    run('npm', ['pack', '--pack-destination', join(folder, 'another')], clone)
    const [own, other] = [join(folder, tarball), join(folder, 'another', tarball)].map((path) => readFileSync(path))
    expect(own?.equals(other as Buffer) === true, 'other bytes')
  })
  await check('npm install of the tarball in an empty folder', () => {
    mkdirSync(app)
    writeFileSync(join(app, 'package.json'), '{"private":true}')
    run('npm', ['i', '--ignore-scripts', join(folder, tarball)], app)
  })
  await check(`it is at most ${MAX_PACKAGES} packages and ${MAX_MEGABYTES} MB`, () => {
    const modules = join(app, 'node_modules')
    const names = readdirSync(modules, { recursive: true, encoding: 'utf8' })
    const packages = names.filter((name) => /(^|node_modules\/)(@[^/]+\/)?[^/@.][^/]*\/package\.json$/.test(name))
    const bytes = names.reduce((sum, name) => sum + statSync(join(modules, name)).size, 0)
    console.log(`     ${packages.length} packages, ${(bytes / 1e6).toFixed(1)} MB`)
    expect(packages.length > 1 && packages.length <= MAX_PACKAGES, `${packages.length} packages`)
    expect(bytes <= MAX_MEGABYTES * 1e6, `${bytes} bytes`)
  })
  await check('its SBOM has what is installed with it, as npm tells it, and what is inside', () => {
    const refs = (text: string): string[] =>
      (JSON.parse(text) as { components: { purl: string; hashes?: object[] }[] }).components.map(
        ({ purl, hashes = [] }) => `${purl} ${JSON.stringify(hashes)}`,
      )
    const own = refs(readFileSync(join(app, 'node_modules/petrel/dist/sbom.json'), 'utf8'))
    const npm = refs(run('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', '--omit', 'dev'], ROOT))
    expect(npm.length > 10, 'npm tells nothing')
    const missing = npm.filter((ref) => !own.includes(ref))
    expect(missing.length === 0, `not in it: ${missing.join(', ')}`)
    for (const name of ['%40libp2p/noise', '%40noble/curves', 'postgres', 'ws'])
      expect(
        own.some((ref) => ref.startsWith(`pkg:npm/${name}@`)),
        `no ${name}`,
      )
  })
  await check('what is in it may be shipped, with its licences, and runs nothing when it is installed', () => {
    const listed = run(process.execPath, ['scripts/licences.ts'], ROOT)
    expect(/^MIT \(\d+\): /m.test(listed), listed)
    const texts = readFileSync(join(app, 'node_modules/petrel/dist/LICENSES'), 'utf8').split(`\n${'-'.repeat(80)}\n`)
    expect(texts.length > 100, `${texts.length} licences`)
    const short = texts.filter((text) => text.length < MIN_LICENCE)
    expect(short.length === 0, `without a text: ${short.join(', ')}`)
  })
  await check('the package holds built JavaScript only', () => {
    const names = readdirSync(join(app, 'node_modules/petrel'), { recursive: true, encoding: 'utf8' })
    expect(
      names.every((name) => !name.endsWith('.ts') || name.endsWith('.d.ts')),
      `TypeScript in the package: ${names.join(' ')}`,
    )
    for (const name of [
      'bin/petrel.js',
      'dist/LICENSES',
      'dist/sbom.json',
      'dist/node/vmWorker.js',
      'dist/browser/worker.js',
      'dist/monitor/index.html',
    ]) {
      expect(names.includes(join(name)), `no ${name}`)
    }
  })
  await check('petrel --version', () => {
    expect(/^\d+\.\d+\.\d+\s*$/.test(petrel('--version')), 'not a version')
  })
  await check('programs import it, with types', () => {
    writeFileSync(
      join(app, 'program.ts'),
      `import { chainHead, createClient, fetchPost, formatFil, httpTransport, parseAddress, parseFil } from 'petrel'
import { startPetrel, type Petrel } from 'petrel/browser'
const node = createClient(httpTransport(fetchPost(fetch, 'http://127.0.0.1:1')), { ChainHead: chainHead })
export const height: () => Promise<number> = async () => (await node.ChainHead()).height
export const start: Promise<Petrel> | undefined = typeof window === 'undefined' ? undefined : startPetrel({ node: { kind: 'local' } })
console.log(parseAddress('f01000').toString(), formatFil(parseFil('1.5')))
`,
    )
    const options = '--noEmit --strict --skipLibCheck --module nodenext --target es2024 --lib es2024,dom --types'.split(
      ' ',
    )
    run(process.execPath, [join(ROOT, 'node_modules/typescript/lib/tsc.js'), ...options, '', 'program.ts'], app)
    expect(run(process.execPath, ['program.ts'], app) === 'f01000 1.5 FIL\n', 'other output')
  })
  await check('the example of an exchange runs with it', () => {
    cpSync(join(ROOT, 'examples/exchange'), join(app, 'exchange'), { recursive: true })
    writeFileSync(join(app, 'exchange/package.json'), '{"type":"module"}')
    expect(run(process.execPath, ['exchange/main.ts'], app).endsWith('everything is as it should be\n'), 'other output')
  })
  await check('petrel devnet answers', () =>
    withDevnet(async () => {
      expect(petrel('chain', 'head').trim().length > 0, 'no head')
      expect(petrel('wallet', 'list').includes('t'), 'no wallet')
      const [, , host, , port] = readFileSync(join(home, 'api'), 'utf8').trim().split('/')
      for (const file of ['', 'main.js', 'worker.js', 'network.json']) {
        const { status } = await fetch(`http://${host}:${port}/monitor/${file}`)
        expect(status === 200, `/monitor/${file}: status ${status}`)
      }
    }),
  )
  // The package brings libraries in forms of its own (scripts/browser/smallerPackages.ts): this one only who dials loads.
  await check('an installed node follows another one over WebRTC', () =>
    withDevnet(async () => {
      const address = petrel('net', 'listen')
        .split('\n')
        .find((line) => line.includes('/webrtc-direct/'))
      expect(address !== undefined, 'the local chain does not listen')
      const repo = join(folder, 'follower')
      const follow = ['daemon', '--validate', 'headers', '--network', join(home, 'network.json'), '--api', '0']
      await withNode(repo, [...follow, '--bootstrap', `${address}`], () =>
        until(
          () => petrel('--repo', repo, 'net', 'peers').includes('/webrtc-direct'),
          'they are connected',
          START_TIMEOUT_MS,
        ),
      )
    }),
  )
  await check('nothing of it is slow or missing: no warning of its own', () =>
    expect(!said.includes(' WARN ') && !said.includes(' ERROR '), said),
  )
  await check('npx petrel in the clone', () => {
    expect(/^\d+\.\d+\.\d+\s*$/.test(run('npx', ['petrel', '--version'], ROOT)), 'not a version')
  })
  await check('SIGTERM to npm start ends the node', npmStartEnds)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(`${passed} passed, ${failed} failed, 0 skipped`)
process.exitCode = failed === 0 ? 0 : 1
