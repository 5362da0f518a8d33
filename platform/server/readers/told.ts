/** What a thread of reads was told of its node's, against the counts that both look at. */
import type { Reader } from '../../../src/node/reader.ts'
import type { LmdbEnvironment } from '../lmdbStore.ts'
import { SHARED_COUNTS } from './messages.ts'

/** See the file's head. */
export class Told {
  readonly #shared: Int32Array
  readonly #reader: Pick<Reader, 'forgetTokens'>
  readonly #environment: Pick<LmdbEnvironment, 'readNewest'>
  #heads = -1
  #revoked = -1

  /**
   * @param shared - {@link SHARED_COUNTS}
   * @param environment - where the reader finds revoked tokens
   */
  constructor(
    shared: Int32Array,
    reader: Pick<Reader, 'forgetTokens'>,
    environment: Pick<LmdbEnvironment, 'readNewest'>,
  ) {
    this.#shared = shared
    this.#reader = reader
    this.#environment = environment
  }

  /** The reader has moved to a head. @param count - that it belongs to */
  head(count: number): void {
    this.#heads = count
  }

  /** Whether the reader knows all that the node has told; revoked tokens it knows then. */
  isCurrent(): boolean {
    const revoked = Atomics.load(this.#shared, SHARED_COUNTS.revoked)
    if (revoked !== this.#revoked) {
      // What this turn has read before is older: a token found valid there would be so until the next one is revoked.
      this.#environment.readNewest()
      this.#reader.forgetTokens()
      this.#revoked = revoked
    }
    return this.#heads === Atomics.load(this.#shared, SHARED_COUNTS.heads)
  }
}
