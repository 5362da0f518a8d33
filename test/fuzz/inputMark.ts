/** The input that a thread is at, in memory that another thread sees while the first one hangs. */
import { toHex } from '../../src/base/bytes.ts'
import { MAX_INPUT } from './fuzzLoop.ts'

// Numbers before the bytes: inputs so far, the length of this one.
const COUNT = 0
const LENGTH = 1
const HEAD_BYTES = 8

/** Written by one thread, read by another. */
export class InputMark {
  readonly memory: SharedArrayBuffer
  readonly #head: Int32Array
  readonly #bytes: Uint8Array

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(HEAD_BYTES + MAX_INPUT)) {
    this.memory = memory
    this.#head = new Int32Array(memory, 0, 2)
    this.#bytes = new Uint8Array(memory, HEAD_BYTES)
  }

  /** Of an input that is longer than any that is made, its beginning. */
  set(input: Uint8Array): void {
    const part = input.subarray(0, MAX_INPUT)
    this.#bytes.set(part)
    Atomics.store(this.#head, LENGTH, part.length)
    Atomics.add(this.#head, COUNT, 1)
  }

  /** Changes with each input. */
  get count(): number {
    return Atomics.load(this.#head, COUNT)
  }

  /** In hexadecimal. */
  get input(): string {
    return toHex(this.#bytes.slice(0, Atomics.load(this.#head, LENGTH)))
  }
}
