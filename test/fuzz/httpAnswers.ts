/**
 * Answers over HTTP of who is not believed: lists of snapshots and their checksums, and an archive that is read in place. The first byte
 * says how a server answers; the rest is what it has.
 */
import { listSnapshots, publishedSha256 } from '../../platform/server/snapshotProviders.ts'
import { type FetchRange, openRemoteArchive } from '../../src/archive/remoteArchive.ts'
import { portableZstd } from '../../src/archive/zstd.ts'
import { concatBytes, utf8 } from '../../src/base/bytes.ts'
import { isBlockOf } from '../../src/ipld/verifyBlock.ts'
import type { FuzzTarget } from './fuzzTarget.ts'
import { archives, BLOCK_CIDS } from './seeds.ts'

let way = ''
const { signal } = new AbortController()
const STATUSES = [200, 200, 200, 206, 304, 404, 500, 204]
/** Between a list and a checksum. */
const NEXT = 0xff

/** What is listed has the name of a file, and a checksum is one. `fetch` is this program's own meanwhile. */
async function readLists(input: Uint8Array): Promise<void> {
  const [choice = 0] = input
  const end = input.indexOf(NEXT)
  const [list, sum] =
    end < 0 ? [input.subarray(1), new Uint8Array(0)] : [input.subarray(1, end), input.subarray(end + 1)]
  const status = STATUSES[choice % STATUSES.length] as number
  const own = globalThis.fetch
  globalThis.fetch = (url) => {
    const body = String(url).endsWith('format=json') ? list : sum
    return Promise.resolve(new Response(status === 204 || status === 304 ? null : body.slice(), { status }))
  }
  try {
    const found = await listSnapshots('calibnet', signal)
    for (const { name, sizeBytes } of found) {
      if (!/^[A-Za-z0-9][\w.+-]*$/.test(name) || !(sizeBytes > 0)) throw new Error(`no file: ${name}`)
    }
    way = `${Math.min(3, found.length)} without a checksum`
    const sha256 = await publishedSha256(found[0] as (typeof found)[number], signal)
    if (!/^[0-9a-f]{64}$/i.test(sha256)) throw new Error('no checksum')
    way = `${Math.min(3, found.length)} with a checksum`
  } finally {
    globalThis.fetch = own
  }
}

const LISTED = {
  url: 'https://files.example/forest_snapshot_calibnet_2026-11-01_height_3000000.forest.car.zst',
  sha256url: 'https://files.example/forest_snapshot_calibnet.sha256sum',
  size: 1_000_000,
  uploaded: '2026-11-01T00:00:00Z',
}

const SHORT_LIST =
  '{"items":[{"url":"https://f.io/a_height_3.zst","sha256url":"https://f.io/s","size":9,"uploaded":"2026-11-01"}]}'

export const snapshotLists: FuzzTarget = {
  seeds: () => [
    concatBytes(Uint8Array.of(0), utf8(SHORT_LIST), Uint8Array.of(NEXT), utf8('5a'.repeat(32))),
    concatBytes(
      Uint8Array.of(0),
      utf8(JSON.stringify({ items: [LISTED, { ...LISTED, size: '5' }, LISTED] })),
      Uint8Array.of(NEXT),
      utf8(`${'5a'.repeat(32)}  forest_snapshot.car.zst\n`),
    ),
  ],
  run: readLists,
  way: () => way,
}

// What a server does wrong, by bits of the first byte.
const [LARGER, SHORT, LONG, GARBLED, REFUSED, CHANGED, HUGE] = [1, 2, 4, 8, 16, 32, 64]
const MAX_REQUESTS = 2000

function serverOf(input: Uint8Array): FetchRange {
  const [wrong = 0] = input
  const file = input.subarray(1)
  const is = (bit: number): boolean => (wrong & bit) !== 0
  let asked = 0
  return (_, { headers }) => {
    asked++
    if (asked > MAX_REQUESTS) throw new Error(`${asked} requests`)
    const [, from = 0, to = 0] = (/^bytes=(\d+)-(\d+)$/.exec(headers.Range ?? '') ?? []).map(Number)
    if (!(from <= to)) throw new Error(`asked for ${headers.Range}`)
    const size = is(HUGE) ? `${file.length}0000000000000` : String(file.length + (is(LARGER) ? 70_000 : 0))
    const range = is(GARBLED) ? new TextDecoder().decode(file.subarray(0, 40)) : `bytes ${from}-${to}/${size}`
    const data = file.slice(from, to + 1 - (is(SHORT) && to > from ? 1 : 0) + (is(LONG) ? 1 : 0))
    let isRead = false
    const read = () => {
      const done = isRead
      isRead = true
      return Promise.resolve(done ? { done } : { done, value: data })
    }
    return Promise.resolve({
      status: is(REFUSED) ? 404 : 206,
      headers: { get: (name) => (name === 'etag' ? (is(CHANGED) ? String(asked) : 'one') : range) },
      body: { getReader: () => ({ read, cancel: () => Promise.resolve() }) },
    })
  }
}

/** Every block that comes out of it is the one that was asked for. */
export const remoteArchive: FuzzTarget = {
  seeds: () => {
    const all = archives()
    return [0, LARGER, SHORT, LONG, GARBLED, REFUSED, CHANGED, HUGE].flatMap((wrong) =>
      all.map((file) => concatBytes(Uint8Array.of(wrong), file)),
    )
  },
  run: async (input) => {
    const source = await openRemoteArchive('https://files.example/a.car', serverOf(input), portableZstd)
    const found = await source.fetch(BLOCK_CIDS, signal)
    if (!found.every(([cid, data]) => isBlockOf(cid, data))) throw new Error('a block that is another')
    way = String(found.length)
  },
  way: () => way,
}
