/** Snapshots by the name of their network, from a server that plays a provider in the form of Forest's archive. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { addNodeCommands, type NodeRunner } from '../../platform/cli/commands/node.ts'
import { runCli } from '../../platform/cli/program.ts'
import { systemClock, systemTimers } from '../../platform/server/clock.ts'
import { PostgresIndex } from '../../platform/server/index/postgresIndex.ts'
import type { HostRuntime } from '../../platform/server/nodeRunner.ts'
import { systemRandom } from '../../platform/server/random.ts'
import { runDaemon } from '../../platform/server/runDaemon.ts'
import { listSnapshots, snapshotProvider } from '../../platform/server/snapshotProviders.ts'
import { BaseError } from '../../src/base/errors.ts'
import { stringifyJson } from '../../src/codec/jsonText.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import { networkJson } from '../../src/networks/networkJson.ts'
import { missingPostgres, TestPostgres } from '../support/postgres.ts'
import { missingShared, readShared, sharedPath } from '../support/shared.ts'

const FILE = 'data/snapshots/chain4.forest.car.zst'

/** A file of the provider. */
interface Published {
  readonly name: string
  readonly sha256?: string
  /** It is listed, and not handed out. */
  readonly isRefused?: boolean
}

interface Provider {
  readonly url: string
  /** What it has, by network and kind. */
  readonly lists: Map<string, Published[]>
  /** Bytes after which it hangs up. */
  cutAfter: number
  readonly asked: string[]
}

interface Run {
  readonly code: number
  readonly out: string
  readonly err: string
}

const named = (epoch: number): Published => ({
  name: `forest_snapshot_calibnet_2026-03-04_height_${epoch}.forest.car.zst`,
})

describe.skipIf(missingShared(FILE) !== undefined)('providers of snapshots', () => {
  const data = missingShared(FILE) === undefined ? readShared(FILE) : new Uint8Array()
  const sha256 = createHash('sha256').update(data).digest('hex')
  let folder = ''
  let server: Server | undefined
  let provider: Provider

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'petrel-provider-'))
    provider = await startProvider()
  })
  afterEach(async () => {
    server?.closeAllConnections()
    await new Promise((resolve) => server?.close(resolve))
    rmSync(folder, { recursive: true })
  })

  async function startProvider(): Promise<Provider> {
    const lists = new Map<string, Published[]>()
    const asked: string[] = []
    const started = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://x')
      asked.push(`${pathname}${request.headers.range === undefined ? '' : ` ${request.headers.range}`}`)
      const [, top, ...rest] = pathname.split('/')
      const files = [...lists.values()].flat()
      if (top === 'list' && searchParams.get('format') === 'json') {
        const list = lists.get(rest.join('/'))
        response.writeHead(list === undefined ? 404 : 200, { 'content-type': 'application/json' })
        // The form: forest src/dev/subcommands/archive_missing_cmd.rs, its tests.
        const items = (list ?? []).map(({ name }) => ({
          url: `${made.url}/archive/${name}`,
          sha256url: `${made.url}/sums/${name}.sha256sum`,
          size: data.length,
          uploaded: '2026-03-05T00:52:34.198Z',
        }))
        response.end(JSON.stringify({ total: items.length, offset: 0, limit: 0, items }))
        return
      }
      const file = files.find(({ name }) => rest.join('/') === name || rest.join('/') === `${name}.sha256sum`)
      if (file === undefined) {
        response.writeHead(404).end()
        return
      }
      if (top === 'sums') {
        response.end(`${file.sha256 ?? sha256}  ${file.name}\n`)
        return
      }
      if (file.isRefused === true) {
        response.writeHead(403).end()
        return
      }
      const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0)
      response.setHeader('etag', `"${file.name}"`)
      response.setHeader('content-length', data.length - from)
      if (from > 0) response.setHeader('content-range', `bytes ${from}-${data.length - 1}/${data.length}`)
      response.writeHead(from > 0 ? 206 : 200)
      const end = Math.min(data.length, from + made.cutAfter)
      response.write(data.subarray(from, end), () => {
        if (end < data.length) response.destroy()
        else response.end()
      })
    })
    server = started
    await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(started.address() as AddressInfo).port}`
    const made: Provider = { url, lists, asked, cutAfter: data.length }
    return made
  }

  const ioOf = (out: (text: string) => void, err: (text: string) => void, signal: AbortSignal) => ({
    ...{ out, err, env: {}, userHome: folder, isTty: false, signal },
    stdin: () => Promise.resolve(''),
    readFile: (path: string) => Promise.resolve(readFileSync(path, 'utf8')),
    now: () => Date.now(),
    sleep: () => Promise.resolve(),
  })

  async function petrel(args: readonly string[], signal: AbortSignal = new AbortController().signal): Promise<Run> {
    let out = ''
    let err = ''
    const io = ioOf(
      (text) => {
        out += text
      },
      (text) => {
        err += text
      },
      signal,
    )
    const all = ['--repo', join(folder, 'home'), 'snapshot', ...args, '--provider', `${provider.url}/list`]
    return { code: await runCli(all, { io, version: 'test' }), out, err }
  }

  it('list: newest first, of the better kind where there is one', async () => {
    provider.lists.set('calibnet/latest-v2', [named(3_480_000), named(3_510_000)])
    provider.lists.set('calibnet/latest', [named(9_000_000)])
    provider.lists.set('mainnet/latest', [{ name: 'forest_snapshot_mainnet_2026-03-04_height_5.forest.car.zst' }])
    const { out, err } = await petrel(['list'])
    expect(err).toBe('')
    const rows = out.trimEnd().split('\n')
    expect(rows[0]).toMatch(/^Network\s+Epoch\s+Size\s+Uploaded\s+URL$/)
    expect(rows.slice(1).map((row) => row.split(/\s+/).slice(0, 2))).toEqual([
      ['mainnet', '5'],
      ['calibnet', '3510000'],
      ['calibnet', '3480000'],
    ])
  })

  it('what is no list is said; a name that leaves its folder, a size that is none are left out', async () => {
    provider.lists.set('calibnet/latest-v2', [{ name: '..%2Fx.car' }, { name: '.hidden.car.zst' }, named(7)])
    const found = await listSnapshots('calibnet', new AbortController().signal, [
      snapshotProvider(`${provider.url}/list`),
    ])
    expect(found.map(({ epoch }) => epoch)).toEqual([7])
    const none = await petrel(['fetch', 'mainnet'])
    expect(none.code).toBe(1)
    expect(none.err).toMatch(/no snapshot of mainnet to be had; .*HTTP status 404/)
  })

  it('fetch calibnet: the newest, checked; goes on with what was begun while it is still offered', async () => {
    provider.lists.set('calibnet/latest-v2', [named(3_510_000)])
    const out = join(folder, 'here.car.zst')
    provider.cutAfter = 100_000
    const stop = new AbortController()
    const watch = setInterval(() => {
      if (existsSync(`${out}.part`) && statSync(`${out}.part`).size > 0) stop.abort(new Error('stopped'))
    }, 2)
    expect((await petrel(['fetch', 'calibnet', '--out', out], stop.signal)).code).toBe(1)
    clearInterval(watch)
    expect(existsSync(out)).toBe(false)
    provider.lists.set('calibnet/latest-v2', [named(3_520_000), named(3_510_000)])
    provider.cutAfter = data.length
    provider.asked.length = 0
    const again = await petrel(['fetch', 'calibnet', '--out', out])
    expect(again.err).toBe('')
    expect(again.out).toContain('height_3510000')
    expect(provider.asked.at(-1)).toMatch(/height_3510000\.forest\.car\.zst bytes=\d+-$/)
    expect(createHash('sha256').update(readFileSync(out)).digest('hex')).toBe(sha256)
    expect((await petrel(['fetch', 'calibnet', '--out', out])).out).toContain('height_3520000')
  })

  it('fetch calibnet: a file that is not what its published checksum says is thrown away', async () => {
    provider.lists.set('calibnet/latest-v2', [{ ...named(1), sha256: '0'.repeat(64) }])
    const out = join(folder, 'here.car.zst')
    const { code, err } = await petrel(['fetch', 'calibnet', '--out', out])
    expect(code).toBe(1)
    expect(err).toContain('SHA-256')
    expect([existsSync(out), existsSync(`${out}.part`)]).toEqual([false, false])
  })

  /** An address of this machine where nobody listens any more. */
  const nobody = async (): Promise<string> => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    return `127.0.0.1:${port}`
  }

  it('fetch: a place where nobody is ends it at once, with the cause', async () => {
    const place = await nobody()
    const { code, err } = await petrel(['fetch', `http://${place}/x.car`, '--out', join(folder, 'x.car')])
    expect(err).toContain(`could not fetch http://${place}/x.car: connect ECONNREFUSED ${place}`)
    expect(code).toBe(1)
    expect(readdirSync(folder).filter((name) => name.startsWith('x.car'))).toEqual([])
  })

  describe('daemon', () => {
    const unused = new BaseError('UNREACHABLE', 'nothing is opened')
    const home = (): string => join(folder, 'home')
    const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
    const ports = { clock: systemClock, timers: systemTimers, random: systemRandom, log }
    const nothing = {
      version: 'test',
      get ports(): never {
        throw unused
      },
    }
    const started = (...args: string[]): Promise<Error | undefined> => startedOn(nothing, ...args, '--api', '0')
    const startedOn = async (runtime: HostRuntime, ...args: string[]): Promise<Error | undefined> => {
      let failure: Error | undefined
      const runner: NodeRunner = {
        daemon: (options, { io }) =>
          runDaemon(options, io, runtime).catch((error: unknown) => {
            failure = error as Error
          }),
        devnet: () => Promise.reject(unused),
        replica: () => Promise.resolve(),
        signer: () => Promise.resolve(),
        sign: () => Promise.resolve(null),
      }
      const io = ioOf(
        () => undefined,
        () => undefined,
        new AbortController().signal,
      )
      await runCli(['--repo', home(), 'daemon', '--network', ...args], {
        ...{ io, version: 'test' },
        addNodeCommands: (program, context) => addNodeCommands(program, context, runner),
      })
      return failure
    }

    it('mainnet and calibnet cannot be followed from genesis, which is said before anything is done', async () => {
      for (const network of ['mainnet', 'calibnet']) {
        expect(await started(network)).toMatchObject({
          code: 'CONFIG_INVALID',
          message: expect.stringContaining('--snapshot latest') as string,
        })
      }
      expect(await started('butterflynet')).toBe(unused)
    })

    it.each([
      [['latest', '--snapshot-provider', 'http://<nobody>/list'], 'DOWNLOAD_FAILED', 'connect ECONNREFUSED <nobody>'],
      [['http://<nobody>/x.car'], 'CONFIG_INVALID', 'petrel snapshot fetch downloads it'],
      [['/nowhere/x.car'], 'CONFIG_INVALID', 'Cannot find the snapshot /nowhere/x.car'],
    ])('--snapshot %j is refused before anything is written', async (snapshot, code, why) => {
      rmSync(home(), { recursive: true, force: true })
      const place = await nobody()
      const own = (text: string): string => text.replace('<nobody>', place)
      const message = expect.stringContaining(own(why)) as string
      expect(await started('calibnet', '--snapshot', ...snapshot.map(own))).toMatchObject({ code, message })
      expect(existsSync(home())).toBe(false)
    })

    it('nothing is written for a file that is listed and refused; the cause is said', async () => {
      provider.lists.set('calibnet/latest-v2', [{ ...named(5), isRefused: true }])
      const failure = await started('calibnet', '--snapshot', 'latest', '--snapshot-provider', `${provider.url}/list`)
      const message = `could not fetch ${provider.url}/archive/${named(5).name}: HTTP status 403`
      expect(failure).toMatchObject({ code: 'DOWNLOAD_FAILED', message })
      expect(existsSync(home())).toBe(false)
    })

    it.each([
      ['config.json', JSON.stringify({ network: 'butterflynet' }), 'butterflynet'],
      ['network.json', stringifyJson(networkJson(builtinNetwork('butterflynet'))), '<home>/network.json'],
    ])('another network than that of %s is refused before anything is asked or written', async (name, text, kept) => {
      provider.lists.set('calibnet/latest-v2', [named(5)])
      mkdirSync(home())
      writeFileSync(join(home(), name), text)
      const failure = await started('calibnet', '--snapshot', 'latest', '--snapshot-provider', `${provider.url}/list`)
      const message = `it holds the chain of ${kept.replace('<home>', home())}; give another --repo`
      expect(failure).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining(message) as string })
      expect(provider.asked).toEqual([])
      expect(readdirSync(home())).toEqual([name])
      expect(readFileSync(join(home(), name), 'utf8')).toBe(text)
      // The same network by another name.
      const same = join(folder, 'network.json')
      writeFileSync(same, stringifyJson(networkJson(builtinNetwork('butterflynet'))))
      expect(await started(same)).toBe(unused)
    })

    it('the snapshot that a relative path named once is the same at the next start', async () => {
      mkdirSync(home())
      const path = sharedPath(FILE)
      const config = { network: 'butterflynet', snapshot: relative(process.cwd(), path) }
      writeFileSync(join(home(), 'config.json'), JSON.stringify(config))
      expect(await started('butterflynet', '--snapshot', path)).toBe(unused)
      expect(await started('butterflynet', '--snapshot', 'latest')).toBe(unused)
    })

    it('a start that fails after the download leaves one file, however many newer ones there are', async () => {
      const snapshots = join(home(), 'snapshots')
      const latest = ['--snapshot', 'latest', '--snapshot-provider', `${provider.url}/list`, '--api', '0', '--no-net']
      for (const epoch of [1, 2, 3]) {
        provider.lists.set('calibnet/latest-v2', [named(epoch)])
        // It is the chain of another network.
        expect(await startedOn({ version: 'test', ports }, 'calibnet', ...latest)).toMatchObject({
          code: 'OTHER_CHAIN',
        })
      }
      expect(readdirSync(snapshots).filter((name) => name.endsWith('.car.zst'))).toEqual([named(1).name])
      const config = JSON.parse(readFileSync(join(home(), 'config.json'), 'utf8')) as unknown
      expect(config).toEqual({ network: 'calibnet', snapshot: join(snapshots, named(1).name) })
    })

    it('nothing is downloaded for a keystore that cannot be read', async () => {
      provider.lists.set('calibnet/latest-v2', [named(1)])
      // By its name the secret of the API.
      mkdirSync(join(home(), 'keystore'), { recursive: true, mode: 0o700 })
      writeFileSync(join(home(), 'keystore', 'MF2XI2BNNJ3XILLQOJUXMYLUMU'), 'no key', { mode: 0o600 })
      const latest = ['--snapshot', 'latest', '--snapshot-provider', `${provider.url}/list`, '--api', '0', '--no-net']
      const failure = await startedOn({ version: 'test', ports }, 'calibnet', ...latest)
      expect(failure).toMatchObject({ code: 'DAMAGED_ENTRY' })
      expect(readdirSync(join(home(), 'snapshots'))).toEqual([])
      expect(existsSync(join(home(), 'config.json'))).toBe(false)
    })

    it.skipIf(missingPostgres() !== undefined)(
      'nor for a database that holds another chain',
      { timeout: 60_000 },
      async () => {
        provider.lists.set('calibnet/latest-v2', [named(1)])
        const database = await TestPostgres.start()
        try {
          const chain = { network: 'elsewhere', genesis: 'bafy-elsewhere', chainId: 1 }
          const index = new PostgresIndex(database.url(), systemTimers)
          await (await index.open(chain, new AbortController().signal, () => undefined)).close()
          const latest = [
            '--snapshot',
            'latest',
            '--snapshot-provider',
            `${provider.url}/list`,
            '--api',
            '0',
            '--no-net',
          ]
          const failure = await startedOn({ version: 'test', ports }, 'calibnet', ...latest, '--index', database.url())
          expect(failure).toMatchObject({ code: 'OTHER_CHAIN' })
          expect(failure?.message).toContain('use another database')
        } finally {
          await database.end()
        }
        expect(readdirSync(join(home(), 'snapshots'))).toEqual([])
        expect(existsSync(join(home(), 'config.json'))).toBe(false)
      },
    )

    it.each([
      [['--validate', 'light', '--checkpoint', '/nowhere/c.json'], 'CONFIG_INVALID', 'the checkpoint /nowhere/c.json'],
      [['--validate', 'light', '--source', 'nonsense'], 'CONFIG_INVALID', 'the endpoint nonsense'],
      [['--genesis', '/nowhere/g.car'], 'CONFIG_INVALID', 'the genesis /nowhere/g.car: ENOENT'],
      [['--proofs', 'verify'], 'CONFIG_INVALID', 'for lack of keys'],
      [['--listen', '/ip4/127.0.0.1/tcp/<taken>'], 'ADDRESS_IN_USE', 'the port is in use; --listen takes another'],
      [['--listen', 'nonsense'], 'BAD_ADDRESS', 'multiaddr "nonsense"'],
      [['--announce', 'nonsense'], 'BAD_ADDRESS', 'multiaddr "nonsense"'],
      [['--hide', '/ip4/10.0.0.0/ipcidr/99'], 'BAD_ADDRESS', 'invalid CIDR'],
      [['--bootstrap', 'nonsense'], 'BAD_ADDRESS', 'multiaddr "nonsense"'],
      [['--bootstrap', '/ip4/127.0.0.1/tcp/1'], 'CONFIG_INVALID', 'it names no peer'],
    ])('%j is refused before anything is written', async (options, code, why) => {
      const own = options.map((text) => text.replace('<taken>', new URL(provider.url).port))
      const message = expect.stringContaining(why) as string
      expect(await started('butterflynet', '--api', '0', ...own)).toMatchObject({ code, message })
      expect(existsSync(home())).toBe(false)
    })
  })
})
