/** Large inputs are hashed by the runtime's OpenSSL, in the threads that execute too: gas buys more than a gigabyte of SHA-256 a block. */
import { once } from 'node:events'
import { MessageChannel, Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { startCrypto, withOpenSsl } from '../../../platform/server/startCrypto.ts'
import { SHARED_BYTES, type VmThreadData } from '../../../platform/server/vmThreads.ts'
import { toHex } from '../../../src/base/bytes.ts'
import { hashBackend, nobleHashes } from '../../../src/crypto/hashBackend.ts'

it('gives the bytes of the other back end, and asks it for small inputs only', () => {
  let asked = 0
  const inner = {
    ...nobleHashes,
    sha256: (data: Uint8Array): Uint8Array => {
      asked++
      return nobleHashes.sha256(data)
    },
  }
  const backend = withOpenSsl(inner)
  for (const length of [0, 64, 1023, 1024, 1025, 65_536]) {
    const data = new Uint8Array(length + 1).map((_, at) => at * 7).subarray(1)
    const digest = backend.sha256(data)
    expect(Object.getPrototypeOf(digest)).toBe(Uint8Array.prototype)
    expect(toHex(digest), `${length} bytes`).toBe(toHex(nobleHashes.sha256(data)))
  }
  expect(asked).toBe(3)
  const data = Uint8Array.of(1, 2, 3)
  for (const name of ['keccak256', 'ripemd160'] as const) expect(backend[name](data)).toEqual(nobleHashes[name](data))
  expect(backend.blake2b(data, 20)).toEqual(nobleHashes.blake2b(data, 20))
})

it('is in use once however often it is started', async () => {
  expect(await startCrypto()).toEqual([])
  expect(await startCrypto()).toEqual([])
  expect(hashBackend().name).toBe('hash-wasm, OpenSSL')
})

it('is in use in a thread of the machine', { timeout: 60_000 }, async () => {
  const shared = new Int32Array(new SharedArrayBuffer(SHARED_BYTES))
  const { port1: words } = new MessageChannel()
  const workerData: VmThreadData = { options: { mode: 'native' }, shared, takesParts: false, words }
  const thread = new Worker(new URL('./threadHashes.ts', import.meta.url), { workerData, transferList: [words] })
  try {
    expect(await once(thread, 'message')).toEqual(['hash-wasm, OpenSSL'])
  } finally {
    await thread.terminate()
  }
})
