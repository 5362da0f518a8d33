/** An archive that Forest wrote, and one of version 2, behind a server that answers range requests: as the file gives it, and what goes wrong. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ForestCarStore } from '../../src/archive/forestCar.ts'
import { openArchive } from '../../src/archive/openArchive.ts'
import { type FetchRange, openRemoteArchive } from '../../src/archive/remoteArchive.ts'
import { decompressZstd, portableZstd } from '../../src/archive/zstd.ts'
import type { BodyLike } from '../../src/base/boundedBody.ts'
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

/** @param onRead - is told of each piece that is read */
const bodyOf = (data: Uint8Array, isEndless = false, onRead = (): void => undefined): BodyLike => {
  let isRead = false
  const read = async () => {
    onRead()
    const done = isRead && !isEndless
    isRead = true
    return done ? { done } : { done, value: data.slice() }
  }
  return { getReader: () => ({ read, cancel: async () => undefined }) }
}

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
    body: bodyOf(data),
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
    const source = await openRemoteArchive(URL, server, portableZstd)
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
    const opening = openRemoteArchive(URL, server, portableZstd)
    await expect(opening).rejects.toMatchObject({ code, message: expect.stringMatching(text) as string })
  })

  it('another kind of archive is named at the start', async () => {
    const whole = file
    file = whole.subarray(0, whole.length - 20)
    try {
      await expect(openRemoteArchive(URL, server, portableZstd)).rejects.toMatchObject({ code: 'NOT_SUPPORTED' })
    } finally {
      file = whole
    }
  })

  it('a CAR of version 2 is read through its index', async () => {
    const whole = file
    file = decompressZstd(memorySource(readShared('data/snapshots/carv2.car.zst')), 1 << 28, portableZstd)
    try {
      const source = await openRemoteArchive(URL, server, portableZstd)
      const inMemory = openArchive(memorySource(file))
      const wanted = [...inMemory.cids()].filter((_, i) => i % 5 === 0)
      const got = await source.fetch([...wanted, UNKNOWN], undefined)
      expect(got.map(([, data]) => data)).toEqual(wanted.map((cid) => inMemory.get(cid)))
      expect(wanted.length).toBeGreaterThan(20)
    } finally {
      file = whole
    }
  })

  it('a plain CAR is refused with what to do instead', async () => {
    const whole = file
    file = readShared('data/snapshots/chain4.car')
    try {
      const opening = openRemoteArchive(URL, server, portableZstd)
      await expect(opening).rejects.toThrow(/no index of its own: .*petrel snapshot export <out> --format forest/)
    } finally {
      file = whole
    }
  })

  it.each([
    ['AuthorizationHeaderMalformed', 400, '<Region>eu-west-1</Region>', /AWS_REGION, eu-west-1/],
    ['RequestTimeTooSkewed', 403, '', /this machine's clock is wrong/],
    ['NoSuchKey', 404, '<Key>a</Key>', /HTTP status 404, NoSuchKey \(there is no such object/],
    ['SlowDown', 503, '', /HTTP status 503, SlowDown$/],
  ])('what a bucket says is told: %s', async (code, status, more, text) => {
    const body = new TextEncoder().encode(`<?xml version="1.0"?><Error><Code>${code}</Code>${more}</Error>`)
    instead = () => answerOf(status, body)
    await expect(openRemoteArchive(URL, server, portableZstd)).rejects.toThrow(text)
  })

  it.each([
    ['a range', 206, /more than 1 bytes at 0/],
    ['a refusal', 404, /HTTP status 404$/],
    ['a whole file', 200, /answers no range requests/],
  ])('of %s without an end no more is read than may be there', async (_, status, text) => {
    let pieces = 0
    const answer = answerOf(status, new Uint8Array(0), 'bytes 0-0/100')
    instead = () => ({ ...answer, body: bodyOf(new Uint8Array(5000), true, () => pieces++) })
    await expect(openRemoteArchive(URL, server, portableZstd)).rejects.toThrow(text)
    expect(pieces).toBeLessThanOrEqual(2)
  })

  it('the signature of a presigned address is in no message', async () => {
    const never: FetchRange = async () => answerOf(403, new Uint8Array(0))
    const opening = openRemoteArchive(`${URL}?X-Amz-Signature=abcd`, never, portableZstd)
    const error = (await opening.catch((caught: unknown) => caught)) as { message: string; info: unknown }
    expect(error.message).toContain(URL)
    expect(`${error.message} ${JSON.stringify(error.info)}`).not.toContain('abcd')
  })

  it('a file that was replaced is opened anew, once it was seen', async () => {
    const source = await openRemoteArchive(URL, server, portableZstd)
    etag = '"two"'
    await expect(source.fetch(cids, undefined)).rejects.toMatchObject({ code: 'INVALID_CAR' })
    expect((await source.fetch(cids.slice(0, 3), undefined)).length).toBe(3)
  })

  it('bytes that were changed on the way give no block, and are not kept', async () => {
    const whole = file
    const source = await openRemoteArchive(URL, server, portableZstd)
    file = whole.map((byte, i) => (i > 4000 && i < whole.length / 2 && i % 3000 === 0 ? byte ^ 1 : byte))
    try {
      await expect(source.fetch(cids, undefined)).rejects.toMatchObject({ code: expect.any(String) as string })
    } finally {
      file = whole
    }
    expect((await source.fetch(cids, undefined)).length).toBe(cids.length)
  })

  it('an answer that is too short is an error; who goes does not wait', async () => {
    const source = await openRemoteArchive(URL, server, portableZstd)
    const leaving = new AbortController()
    const never = source.fetch(cids, leaving.signal)
    leaving.abort(new Error('gone'))
    await expect(never).rejects.toThrow('gone')
    const again = await openRemoteArchive(URL, server, portableZstd)
    instead = () => answerOf(206, new Uint8Array(5), `bytes 0-${CHUNK - 1}/${file.length}`)
    await expect(again.fetch(cids, undefined)).rejects.toMatchObject({ code: 'INVALID_CAR' })
  })
})
