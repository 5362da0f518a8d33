/** An archive that Forest wrote, behind a server that answers range requests: as the file gives it, and what goes wrong. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ForestCarStore } from '../../src/archive/forestCar.ts'
import { type FetchRange, openRemoteForest } from '../../src/archive/remoteForest.ts'
import { portableZstd } from '../../src/archive/zstd.ts'
import { fromHex } from '../../src/base/bytes.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import { type Cid, CODEC_RAW } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { missingShared, readShared } from '../support/shared.ts'

const ARCHIVE = 'data/snapshots/chain4.forest.car.zst'
const URL = 'https://bucket.example/chain4.forest.car.zst'
const CHUNK = 64 * 1024
const UNKNOWN = blockCid(fromHex('00'), CODEC_RAW)

const missing = missingShared(ARCHIVE)

describe.skipIf(missing !== undefined)('an archive behind HTTP', () => {
  let file: Uint8Array
  let local: ForestCarStore
  let cids: Cid[]
  let etag: string
  /** Ranges that were asked for. */
  let asked: string[]
  /** What the server does instead, once. */
  let instead: (() => Awaited<ReturnType<FetchRange>>) | undefined

  const answerOf = (status: number, data: Uint8Array, range = ''): Awaited<ReturnType<FetchRange>> => ({
    status,
    headers: { get: (name) => (name === 'etag' ? etag : name === 'content-range' && range !== '' ? range : null) },
    arrayBuffer: async () => data.slice().buffer,
  })
  const server: FetchRange = async (url, { headers }) => {
    expect(url).toBe(URL)
    const range = headers.Range ?? ''
    asked.push(range)
    const wrong = instead
    instead = undefined
    if (wrong !== undefined) return wrong()
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(range) ?? []
    return answerOf(206, file.subarray(Number(from), Number(to) + 1), `bytes ${from}-${to}/${file.length}`)
  }

  beforeAll(async () => {
    await initCrypto()
    file = readShared(ARCHIVE)
    local = new ForestCarStore(memorySource(file))
    cids = [...local.cids()]
  })
  beforeEach(() => {
    asked = []
    etag = '"one"'
    instead = undefined
  })

  it('gives what the file gives, in whole chunks, each asked for once', async () => {
    const source = await openRemoteForest(URL, server, portableZstd)
    const wanted = cids.filter((_, i) => i % 7 === 0)
    const got = await source.fetch([...wanted, UNKNOWN], undefined)
    expect(got.map(([cid]) => cid.toString())).toEqual(wanted.map(String))
    expect(got.map(([, data]) => data)).toEqual(wanted.map((cid) => local.get(cid)))
    expect(wanted.length).toBeGreaterThan(20)
    const [first, ...chunks] = asked
    expect(first).toBe('bytes=0-0')
    expect(new Set(chunks).size).toBe(chunks.length)
    expect(chunks.every((range) => Number(/=(\d+)-/.exec(range)?.[1]) % CHUNK === 0)).toBe(true)
  })

  it.each([
    ['a server without ranges', () => answerOf(200, file), 'NOT_SUPPORTED', /answers no range requests/],
    [
      'a server that hides the size',
      () => answerOf(206, file.subarray(0, 1)),
      'NOT_SUPPORTED',
      /does not tell its size/,
    ],
    ['a file that is not there', () => answerOf(404, new Uint8Array(0)), 'INVALID_CAR', /HTTP status 404/],
  ])('%s is named at the start', async (_, answer, code, text) => {
    instead = answer
    const opening = openRemoteForest(URL, server, portableZstd)
    await expect(opening).rejects.toMatchObject({ code, message: expect.stringMatching(text) as string })
  })

  it('another kind of archive is named at the start', async () => {
    const whole = file
    file = whole.subarray(0, whole.length - 20)
    try {
      await expect(openRemoteForest(URL, server, portableZstd)).rejects.toMatchObject({ code: 'NOT_SUPPORTED' })
    } finally {
      file = whole
    }
  })

  it('a file that was replaced is opened anew, once it was seen', async () => {
    const source = await openRemoteForest(URL, server, portableZstd)
    etag = '"two"'
    await expect(source.fetch(cids, undefined)).rejects.toMatchObject({ code: 'INVALID_CAR' })
    expect((await source.fetch(cids.slice(0, 3), undefined)).length).toBe(3)
  })

  it('bytes that were changed on the way give no block, and are not kept', async () => {
    const whole = file
    const source = await openRemoteForest(URL, server, portableZstd)
    file = whole.map((byte, i) => (i > 4000 && i < whole.length / 2 && i % 3000 === 0 ? byte ^ 1 : byte))
    try {
      await expect(source.fetch(cids, undefined)).rejects.toMatchObject({ code: expect.any(String) as string })
    } finally {
      file = whole
    }
    expect((await source.fetch(cids, undefined)).length).toBe(cids.length)
  })

  it('an answer that is too short is an error; who goes does not wait', async () => {
    const source = await openRemoteForest(URL, server, portableZstd)
    const leaving = new AbortController()
    const never = source.fetch(cids, leaving.signal)
    leaving.abort(new Error('gone'))
    await expect(never).rejects.toThrow('gone')
    const again = await openRemoteForest(URL, server, portableZstd)
    instead = () => answerOf(206, new Uint8Array(5), `bytes 0-${CHUNK - 1}/${file.length}`)
    await expect(again.fetch(cids, undefined)).rejects.toMatchObject({ code: 'INVALID_CAR' })
  })
})
