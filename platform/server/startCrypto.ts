/** The cryptography of a thread, with what the runtime itself does faster. Node and Deno. */
import { hash } from 'node:crypto'
import { type HashBackend, hashBackend, setHashBackend } from '../../src/crypto/hashBackend.ts'
import { type CryptoFallback, initCrypto } from '../../src/crypto/init.ts'

/**
 * Input from which OpenSSL is faster at SHA-256, bytes: below, the call into it takes longer. Microseconds per hash of 256 / 512 / 1024 bytes /
 * 64 KiB / 4 MiB: hash-wasm 1.6 / 2.7 / 4.8 / 267 / 17,100, OpenSSL in Node 24 1.2 / 1.4 / 1.7 / 42 / 2,630, in Deno 2.9 3.2 / 3.4 / 2.6 / 49 / 2,800.
 * Gas buys 1.4 GB of it a block. Of the others it has RIPEMD-160, at the speed of hash-wasm, and neither Keccak nor short BLAKE2b.
 */
const LARGE_BYTES = 1024

/** The back end with SHA-256 of large inputs by the runtime's OpenSSL. */
export function withOpenSsl(backend: HashBackend): HashBackend {
  return {
    ...backend,
    name: `${backend.name}, OpenSSL`,
    // A copy: a `Buffer` must not enter the core, its `slice` aliases.
    sha256: (data) =>
      data.length < LARGE_BYTES ? backend.sha256(data) : new Uint8Array(hash('sha256', data, 'buffer')),
  }
}

let started: Promise<readonly CryptoFallback[]> | undefined

async function start(): Promise<readonly CryptoFallback[]> {
  const fallbacks = await initCrypto()
  setHashBackend(withOpenSsl(hashBackend()))
  return fallbacks
}

/** {@link initCrypto}, for threads that execute or answer. Calling again waits for the first call. */
export function startCrypto(): Promise<readonly CryptoFallback[]> {
  started ??= start()
  return started
}
