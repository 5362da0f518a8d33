/** What a server can make the reader of an archive behind it hold, and how long it can keep it waiting: each at the bound, and above. */
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { carBytes, carSectionHead, HEADER_BYTES_V2, PRAGMA_V2 } from '../../src/archive/car.ts'
import { ForestCarStore } from '../../src/archive/forestCar.ts'
import { MAX_REMOTE_FRAME_BYTES, MAX_REQUESTS_PER_BLOCK, REMOTE_REQUEST_MS } from '../../src/archive/limits.ts'
import { type FetchRange, openRemoteArchive } from '../../src/archive/remoteArchive.ts'
import { frameTooLarge, portableZstd, type ZstdDecoder } from '../../src/archive/zstd.ts'
import { compareBytes, concatBytes } from '../../src/base/bytes.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import { type Cid, CODEC_RAW } from '../../src/codec/cid.ts'
import { varintBytes } from '../../src/codec/varint.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { missingShared, readShared } from '../support/shared.ts'

const ARCHIVE = 'data/snapshots/chain4.forest.car.zst'
const URL = 'https://bucket.example/archive'
/** One request. */
const CHUNK = 64 * 1024

/** A server of one file. @param mute - what it does instead of answering, now */
function serverOf(file: Uint8Array, mute: { now?: () => void } = {}): FetchRange {
  return async (_, { headers, signal }) => {
    if (mute.now !== undefined) {
      mute.now()
      await new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error))
      })
    }
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(headers.Range ?? '') ?? []
    const parts = [file.slice(Number(from), Number(to) + 1)]
    const read = async () => {
      const value = parts.shift()
      return value === undefined ? { done: true } : { done: false, value }
    }
    return {
      status: 206,
      headers: { get: (name) => (name === 'content-range' ? `bytes ${from}-${to}/${file.length}` : null) },
      body: { getReader: () => ({ read, cancel: async () => undefined }) },
    }
  }
}

function numbers(bytes: number, write: (view: DataView) => void): Uint8Array {
  const out = new Uint8Array(bytes)
  write(new DataView(out.buffer))
  return out
}

/** A block between two others in the order of digests. */
interface Middle {
  readonly cid: Cid
  readonly data: Uint8Array
  /** Small ones, below it and above. */
  readonly others: readonly (readonly [Cid, Uint8Array])[]
}

function middleOf(length: number): Middle {
  const data = new Uint8Array(length)
  const cid = blockCid(data, CODEC_RAW)
  const small = Array.from({ length: 64 }, (_, i) => {
    const own = Uint8Array.of(i)
    return [blockCid(own, CODEC_RAW), own] as const
  })
  small.sort(([a], [b]) => compareBytes(a.digest, b.digest))
  return { cid, data, others: [small[0]!, small.at(-1)!] }
}

/**
 * A CAR of version 2 with its index. Opening it reads the first record and the last, and their blocks: not the one in the middle.
 * @param beyond - where in a chunk the data of that one begin
 */
function archiveOf({ cid, data, others }: Middle, beyond: number): Uint8Array {
  const content = carBytes([cid], [...others, [cid, data]])
  const toData = content.length - data.length
  const head = carSectionHead(cid, data.length).length
  const dataOffset = 2 * CHUNK + beyond - toData
  const end = dataOffset + content.length
  const indexOffset = (Math.ceil(end / CHUNK) + 1) * CHUNK
  const header = numbers(HEADER_BYTES_V2, (view) => {
    for (const [i, value] of [dataOffset, content.length, indexOffset].entries())
      view.setBigUint64(16 + 8 * i, BigInt(value), true)
  })
  const place = (sought: Cid, offset: number): Uint8Array =>
    concatBytes(
      sought.digest,
      numbers(8, (view) => view.setBigUint64(0, BigInt(offset), true)),
    )
  const [below, above] = others as [Middle['others'][number], Middle['others'][number]]
  const first = carBytes([cid], []).length
  const second = first + carSectionHead(below[0], 1).length + 1
  const records = concatBytes(place(below[0], first), place(cid, toData - head), place(above[0], second))
  const index = concatBytes(
    varintBytes(0x0400),
    numbers(16, (view) => {
      view.setUint32(0, 1, true)
      view.setUint32(4, cid.digest.length + 8, true)
      view.setBigUint64(8, BigInt(records.length), true)
    }),
    records,
  )
  const gap = new Uint8Array(dataOffset - PRAGMA_V2.length - HEADER_BYTES_V2)
  return concatBytes(PRAGMA_V2, header, gap, content, new Uint8Array(indexOffset - end), index)
}

const { timeout } = AbortSignal

beforeAll(() => initCrypto())
afterEach(() => {
  AbortSignal.timeout = timeout
})

it('a block takes so many requests; one that takes more is refused, and so is a read of more than they bring', async () => {
  const fetchOf = async (middle: Middle, beyond: number) => {
    const source = await openRemoteArchive(URL, serverOf(archiveOf(middle, beyond)), portableZstd)
    return source.fetch([middle.cid], undefined)
  }
  const most = middleOf(MAX_REQUESTS_PER_BLOCK * CHUNK)
  expect((await fetchOf(most, 0)).map(([, data]) => data.length)).toEqual([most.data.length])
  await expect(fetchOf(most, 1)).rejects.toMatchObject({
    code: 'NO_PROGRESS',
    message: `Cannot read ${URL} in place: a block takes too many requests`,
  })
  const longer = middleOf(MAX_REQUESTS_PER_BLOCK * CHUNK + 1)
  await expect(fetchOf(longer, 0)).rejects.toThrow(`${longer.data.length} bytes at once`)
})

describe.skipIf(missingShared(ARCHIVE) !== undefined)("of Forest's form", () => {
  let file: Uint8Array
  let cid: Cid

  beforeAll(() => {
    file = readShared(ARCHIVE)
    const cids = [...new ForestCarStore(memorySource(file)).cids()]
    // Neither of the first chunk nor of the last one, which opening brings.
    cid = cids[cids.length >> 1] as Cid
  })

  it('a frame may be so long, and no byte longer', async () => {
    /** Reads as if a frame were so long. */
    const asLongAs =
      (bytes: number): ZstdDecoder =>
      (frame, size, most = 0) => {
        if (bytes > most) throw frameTooLarge(most)
        return portableZstd(frame, size)
      }
    const source = await openRemoteArchive(URL, serverOf(file), asLongAs(MAX_REMOTE_FRAME_BYTES))
    expect(await source.fetch([cid], undefined)).toHaveLength(1)
    const opening = openRemoteArchive(URL, serverOf(file), asLongAs(MAX_REMOTE_FRAME_BYTES + 1))
    await expect(opening).rejects.toThrow(`a frame of more than ${MAX_REMOTE_FRAME_BYTES} bytes`)
  })

  it('a request that is not answered in time is given up, the first as well; the next is made anew', async () => {
    const ends: AbortController[] = []
    const times: number[] = []
    AbortSignal.timeout = (ms) => {
      times.push(ms)
      const end = new AbortController()
      ends.push(end)
      return end.signal
    }
    const late = new Error('late')
    const mute: { now?: () => void } = {}
    const server = serverOf(file, mute)
    const asked = new Promise<void>((resolve) => {
      mute.now = resolve
    })
    const opening = openRemoteArchive(URL, server, portableZstd, new AbortController().signal)
    await asked
    ends.at(-1)?.abort(late)
    await expect(opening).rejects.toThrow('late')

    delete mute.now
    const source = await openRemoteArchive(URL, server, portableZstd)
    const askedAgain = new Promise<void>((resolve) => {
      mute.now = resolve
    })
    const fetching = source.fetch([cid], new AbortController().signal)
    await Promise.race([askedAgain, fetching])
    ends.at(-1)?.abort(late)
    await expect(fetching).rejects.toThrow('late')
    delete mute.now
    expect(await source.fetch([cid], undefined)).toHaveLength(1)
    expect(new Set(times)).toEqual(new Set([REMOTE_REQUEST_MS]))
  })
})
