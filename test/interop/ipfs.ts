/** Files of IPFS come by bitswap from a node made of IPFS' own libraries, which cut them. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { withIpfsPeer } from '../../platform/server/ipfsPeer.ts'
import { parseCid } from '../../src/codec/cid.ts'
import { readUnixFile } from '../../src/p2p/bitswap/unixFile.ts'
import { P2pError } from '../../src/p2p/errors.ts'
import type { GoPeer } from './goPeer.ts'

const WAIT_MS = 60_000

/** Bytes of the file, and of each piece: one leaf; two levels, the last piece short; three levels (174 links a vertex). */
const SHAPES: readonly { bytes: number; piece: number; mode: string }[] = [
  { bytes: 13_540, piece: 262_144, mode: '' },
  { bytes: 419_620, piece: 262_144, mode: '' },
  { bytes: 419_620, piece: 1024, mode: '' },
  { bytes: 419_620, piece: 1024, mode: 'raw leaves' },
]

export async function fetchesFiles(peer: GoPeer): Promise<string> {
  const signal = AbortSignal.timeout(WAIT_MS)
  const address = peer.address('/tcp/')
  const began = performance.now()
  for (const { bytes, piece, mode } of SHAPES) {
    const data = randomBytes(bytes)
    const cid = parseCid(await peer.call('share', { message: data.toString('hex'), length: piece, mode }))
    const bounds = { maxBytes: bytes, signal }
    const got = await withIpfsPeer(address, signal, (source) => readUnixFile(source, cid, bounds))
    assert.ok(data.equals(got), `${bytes} bytes in pieces of ${piece} ${mode}`)
    const less = { maxBytes: bytes - 1, signal }
    await assert.rejects(
      withIpfsPeer(address, signal, (source) => readUnixFile(source, cid, less)),
      (error) => error instanceof P2pError && error.code === 'TOO_LARGE',
    )
  }
  const absent = parseCid('QmSTCXF2ipGA3f6muVo6kHc2URSx6PzZxGUqu7uykaH5KU')
  await assert.rejects(
    withIpfsPeer(address, signal, (source) => readUnixFile(source, absent, { maxBytes: 1 << 20, signal })),
    (error) => error instanceof P2pError && error.code === 'NOT_FOUND',
  )
  return `${SHAPES.length} files in ${Math.round(performance.now() - began)} ms`
}
