/** Blocks of a stranger: each behind its length, the root first, as {@link packed} writes them. Each link leads to some other of them. */
import { fromHex } from '../../src/base/bytes.ts'
import { type Cid, cidFromBytes } from '../../src/codec/cid.ts'
import { type Blockstore, MemoryBlockstore } from '../../src/ipld/blockstore.ts'

/** Of the root. */
export const HOSTILE_ROOT: Cid = cidFromBytes(fromHex(`0171a0e40220${'ab'.repeat(32)}`))

/** They are not checked against their CIDs: nobody could make a tree that names itself, but one that is as deep. */
export class HostileBlocks extends MemoryBlockstore {
  readonly #root: Cid
  readonly #pieces: Uint8Array[] = []

  constructor(input: Uint8Array, root: Cid = HOSTILE_ROOT) {
    super()
    this.#root = root
    for (let at = 0; at + 2 <= input.length; ) {
      const length = (input[at] as number) * 256 + (input[at + 1] as number)
      this.#pieces.push(input.subarray(at + 2, at + 2 + length))
      at += 2 + length
    }
  }

  /** What was written, else what a stranger says. */
  override get(key: Parameters<Blockstore['get']>[0]): Uint8Array | undefined {
    const [root, ...others] = this.#pieces
    if (key.equals(this.#root)) return root
    const own = super.get(key)
    if (own !== undefined || others.length === 0) return own ?? root
    return others[(key.bytes[key.bytes.length - 1] ?? 0) % others.length]
  }
}
