/** `petrel snapshot …`: files that are written, fetched in pieces, checked, made the chain of a home. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { runCli } from '../../platform/cli/program.ts'
import { carBlocks, carBytes, readCarHeader } from '../../src/archive/car.ts'
import { decompressZstd } from '../../src/archive/zstd.ts'
import { equalBytes } from '../../src/base/bytes.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { decodeMetadata } from '../../src/sync/snapshot/metadata.ts'
import { missingShared, readShared, readSharedJson, readSharedUnpacked, sharedPath } from '../support/shared.ts'

const HEAD = 'bafy2bzacebkkjozadnddq3joc57avppp4am6xvw57t3l52eycmehxhewi4yho'

interface Run {
  readonly code: number
  readonly out: string
  readonly err: string
}

describe.skipIf(missingShared('data/golden/wire') !== undefined)('petrel snapshot', () => {
  let folder = ''
  let home = ''
  let server: Server | undefined
  beforeAll(() => initCrypto())
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'petrel-snapshot-'))
    home = join(folder, 'home')
    mkdirSync(home)
  })
  afterEach(async () => {
    server?.closeAllConnections()
    await new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)))
    server = undefined
    rmSync(folder, { recursive: true })
  })

  async function petrel(args: readonly string[], signal: AbortSignal = new AbortController().signal): Promise<Run> {
    let out = ''
    let err = ''
    const io = {
      out: (text: string) => {
        out += text
      },
      err: (text: string) => {
        err += text
      },
      env: {},
      userHome: folder,
      isTty: false,
      stdin: () => Promise.resolve(''),
      readFile: (path: string) => Promise.resolve(readFileSync(path, 'utf8')),
      signal,
      now: () => Date.now(),
      sleep: () => Promise.resolve(),
    }
    const code = await runCli(['--repo', home, 'snapshot', ...args], { io, version: 'test' })
    return { code, out, err }
  }

  async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
    const started = createServer(answer)
    server = started
    await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(started.address() as AddressInfo).port}`
  }

  const golden = (): string => sharedPath('data/golden/wire/chain.car.zst')
  const lines = (name: string, withCode: boolean): string[] =>
    new TextDecoder()
      .decode(readSharedUnpacked(`data/golden/wire/${name}.cids.zst`))
      .trim()
      .split('\n')
      .filter((line) => withCode || !line.includes('wasm'))
      .map((line) => line.split(' ').slice(0, 2).join(' '))
  const content = (bytes: Uint8Array): string[] =>
    [...carBlocks(memorySource(bytes))].map(([cid, data]) => `${cid} ${data.length}`)

  it('export --from: the recorded blocks in every form, and each can be opened again', async () => {
    for (const [format, version] of [
      ['car', '1'],
      ['zstd', '1'],
      ['forest', '1'],
      ['car', '2'],
      ['forest', '2'],
    ] as const) {
      const path = join(folder, `out-${format}-${version}`)
      const flags = ['--format', format, '--snapshot-version', version, '--from', golden()]
      const run = await petrel(['export', path, ...flags])
      expect([run.code, run.err]).toEqual([0, ''])
      const packed = new Uint8Array(readFileSync(path))
      const bytes = format === 'car' ? packed : decompressZstd(memorySource(packed), 1 << 28)
      const blocks = content(bytes)
      if (version === '2') {
        const [cid, data] = carBlocks(memorySource(bytes)).next().value!
        expect(readCarHeader(memorySource(bytes)).roots).toEqual([cid])
        expect(decodeMetadata(data)?.headTipsetKey.map(String)).toEqual([HEAD])
        blocks.shift()
      }
      expect(blocks).toEqual(lines('export-2000-1', false))
      const info = await petrel(['info', path])
      expect(info.err).toBe('')
      expect(info.out).toContain(`snapshot version ${version}`)
      expect(info.out).toContain(`Head:      epoch 128`)
      expect(info.out).toContain('of 116 tipsets, down to epoch 0')
    }
    expect(readdirSync(folder).filter((name) => name.includes('.part'))).toEqual([])
  })

  it('export: another tipset, all state, and what Lotus refuses', async () => {
    const path = join(folder, 'out.car')
    expect((await petrel(['export', path, '--full', '--tipset', '@100', '--from', golden()])).out).toContain(
      'epoch 100',
    )
    expect(readCarHeader(memorySource(new Uint8Array(readFileSync(path)))).roots.length).toBeGreaterThan(0)
    const refused = async (...flags: string[]): Promise<string> =>
      (await petrel(['export', path, ...flags, '--from', golden()])).err
    expect(await refused('--recent-stateroots', '10')).toMatch(/has to be greater than 900/)
    expect(await refused('--skip-old-msgs')).toMatch(/must pass recent stateroots along/)
    expect(await refused('--full', '--minimal')).toMatch(/give one of/)
    expect((await petrel(['export', path])).err).toMatch(/there is no chain/)
    const all = await petrel(['export', path, '--recent-stateroots', '0', '--from', golden()])
    expect(all.err).toBe('')
    expect(content(new Uint8Array(readFileSync(path)))).toEqual(lines('export-0-0', false))
  })

  it('fetch: goes on after lost connections and after Ctrl-C, and checks size and checksum', async () => {
    const data = readShared('data/snapshots/chain4.car')
    const sha256 = createHash('sha256').update(data).digest('hex')
    const ranges: (string | undefined)[] = []
    let cutAfter = 200_000
    const url = await serve((request, response) => {
      ranges.push(request.headers.range)
      const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0)
      response.setHeader('etag', '"one"')
      response.setHeader('content-length', data.length - from)
      if (from > 0) response.setHeader('content-range', `bytes ${from}-${data.length - 1}/${data.length}`)
      response.writeHead(from > 0 ? 206 : 200)
      const end = Math.min(data.length, from + cutAfter)
      response.write(data.subarray(from, end), () => {
        if (end < data.length) setTimeout(() => response.destroy(), 20)
        else response.end()
      })
    })
    const path = join(folder, 'fetched.car')
    const first = await petrel([
      'fetch',
      `${url}/a.car`,
      '--out',
      path,
      '--sha256',
      sha256,
      '--size',
      String(data.length),
    ])
    expect(first.err).toBe('')
    expect(first.out).toContain(sha256)
    expect(equalBytes(new Uint8Array(readFileSync(path)), data)).toBe(true)
    expect(ranges.length).toBeGreaterThan(3)
    expect(ranges.slice(1).every((range) => range !== undefined)).toBe(true)
    rmSync(path)

    // Ctrl-C in the middle, another process later.
    cutAfter = 300_000
    const stop = new AbortController()
    const watch = setInterval(() => {
      if (existsSync(`${path}.part`) && statSync(`${path}.part`).size > 0) stop.abort(new Error('stopped'))
    }, 5)
    const stopped = await petrel(['fetch', `${url}/a.car`, '--out', path], stop.signal)
    clearInterval(watch)
    expect(stopped.code).toBe(1)
    expect(existsSync(path)).toBe(false)
    expect(existsSync(`${path}.part`)).toBe(true)
    cutAfter = data.length
    ranges.length = 0
    const again = await petrel(['fetch', `${url}/a.car`, '--out', path])
    expect(again.out).toContain('going on after')
    expect(ranges[0]).toMatch(/bytes=\d+-/)
    expect(equalBytes(new Uint8Array(readFileSync(path)), data)).toBe(true)

    const wrong = await petrel(['fetch', `${url}/a.car`, '--out', path, '--sha256', '0'.repeat(64)])
    expect(wrong.err).toContain('SHA-256')
    expect(existsSync(`${path}.part`)).toBe(false)
    expect((await petrel(['fetch', `${url}/a.car`, '--out', path, '--size', '5'])).err).toMatch(/expected 5/)
  }, 30_000)

  it('fetch: starts over when the file at the URL is another one, gives up at once where there is none', async () => {
    const data = readShared('data/snapshots/chain4.car')
    let tag = '"one"'
    let cut = 100_000
    const url = await serve((request, response) => {
      if (request.url === '/none') {
        response.writeHead(404).end()
        return
      }
      const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0)
      response.writeHead(from > 0 ? 206 : 200, {
        etag: tag,
        'content-length': data.length - from,
        ...(from > 0 ? { 'content-range': `bytes ${from}-${data.length - 1}/${data.length}` } : {}),
      })
      response.write(data.subarray(from, from + cut), () => setTimeout(() => response.destroy(), 20))
      tag = '"two"'
      cut = data.length
    })
    const path = join(folder, 'fetched.car')
    expect((await petrel(['fetch', `${url}/a`, '--out', path])).err).toBe('')
    expect(equalBytes(new Uint8Array(readFileSync(path)), data)).toBe(true)
    expect((await petrel(['fetch', `${url}/none`, '--out', path])).err).toMatch(/HTTP status 404/)
    expect((await petrel(['fetch', 'ftp://x', '--out', path])).err).toMatch(/no http or https/)
  })

  it('import: checks everything, names the network, and refuses what is cut, damaged or of another network', async () => {
    const network = sharedPath('data/golden/wire/network.json')
    const good = join(folder, 'good.car')
    writeFileSync(good, zstdDecompressSync(readFileSync(golden())))
    const run = await petrel(['import', good, '--network', network])
    expect(run.err).toBe('')
    expect(run.out).toContain('imported into')
    expect(JSON.parse(readFileSync(join(home, 'config.json'), 'utf8'))).toEqual({ network, snapshot: good })
    expect((await petrel(['import', golden(), '--network', network])).err).toMatch(/holds the chain of/)

    const other = async (bytes: Uint8Array, ...flags: string[]): Promise<string> => {
      const path = join(folder, 'other')
      writeFileSync(path, bytes)
      rmSync(home, { recursive: true })
      mkdirSync(home)
      const { err, code } = await petrel(['import', path, ...flags])
      // Without a network the command line is wrong; with one the file is.
      expect([code, existsSync(join(home, 'config.json'))]).toEqual([flags.length === 0 ? 2 : 1, false])
      expect(existsSync(join(home, 'petrel.lock'))).toBe(false)
      return err
    }
    const bytes = new Uint8Array(readFileSync(good))
    expect(await other(bytes)).toMatch(/say --network/)
    expect(await other(bytes, '--network', 'calibnet')).toMatch(/its genesis is/)
    expect(await other(bytes.slice(0, bytes.length - 1000), '--network', network)).toMatch(/at byte \d+/)
    const damaged = bytes.slice()
    damaged[500_000] = (damaged[500_000] as number) ^ 1
    expect(await other(damaged, '--network', network)).toMatch(/at byte \d+|hash to something else/)
    // Cut between two blocks: a header is missing at the end of the chain.
    const blocks = [...carBlocks(memorySource(bytes))]
    const roots = readCarHeader(memorySource(bytes)).roots
    const genesis = (
      readSharedJson<{ genesis: { '/': string }[] }>('data/golden/wire/head.json').genesis[0] as { '/': string }
    )['/']
    expect(
      await other(
        carBytes(
          roots,
          blocks.filter(([cid]) => String(cid) !== genesis),
        ),
        '--network',
        network,
      ),
    ).toMatch(/no tipset/)
    const forest = readShared('data/snapshots/chain4.forest.car.zst').slice()
    expect(await other(forest, '--network', 'mainnet')).toMatch(/the state of its head is not in it/)
    forest[200_000] = (forest[200_000] as number) ^ 1
    expect(await other(forest, '--network', 'mainnet')).toMatch(/zstd|hash to something else/)
  })
})
