/** Digests of the heads of all actors by ID, on disk: 32 bytes each. */
import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { type Cid, CODEC_DAG_CBOR, createCid, HASH_BLAKE2B_256 } from '../../../src/codec/cid.ts'
import { FIRST_ID } from './size.ts'

const DIGEST_BYTES = 32
const BUFFERED = 4096

/** Written in the order of IDs in runs, read in any. */
export class Heads {
  readonly #file: number
  readonly #buffer = new Uint8Array(BUFFERED * DIGEST_BYTES)
  #first = FIRST_ID
  #used = 0

  constructor(path: string, isNew: boolean) {
    this.#file = openSync(path, isNew ? 'w+' : 'r+')
  }

  set(id: number, head: Cid): void {
    if (id !== this.#first + this.#used || this.#used === BUFFERED) {
      this.flush()
      this.#first = id
    }
    this.#buffer.set(head.digest, this.#used++ * DIGEST_BYTES)
  }

  flush(): void {
    const bytes = this.#used * DIGEST_BYTES
    if (bytes > 0) writeSync(this.#file, this.#buffer, 0, bytes, (this.#first - FIRST_ID) * DIGEST_BYTES)
    this.#used = 0
  }

  get(id: number): Cid {
    const digest = new Uint8Array(DIGEST_BYTES)
    const count = readSync(this.#file, digest, 0, DIGEST_BYTES, (id - FIRST_ID) * DIGEST_BYTES)
    if (count !== DIGEST_BYTES) throw new RangeError(`no head of actor ${id}`)
    return createCid(CODEC_DAG_CBOR, HASH_BLAKE2B_256, digest)
  }

  close(): void {
    closeSync(this.#file)
  }
}
