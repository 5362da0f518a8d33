/**
 * Builds an AMT (the form from actors v3 on) from values in the order of their indices: one node of each height is held.
 * @see src/ipld/amt.ts for the layout
 */
import { CborWriter } from '../../../src/codec/cborWriter.ts'
import type { Cid } from '../../../src/codec/cid.ts'
import { type Codec, encode } from '../../../src/codec/description.ts'
import { type AmtItem, type AmtLink, AmtNode, writeNode } from '../../../src/ipld/amtNode.ts'
import { type Blockstore, putBlock } from '../../../src/ipld/blockstore.ts'

const NODE_BYTES = 1024

type Items = (AmtItem | AmtLink | undefined)[]

/** Add every value, then {@link BulkAmt.finish}. */
export class BulkAmt<V> {
  readonly #store: Blockstore
  readonly #codec: Codec<V>
  readonly #bitWidth: number
  /** The open node of each height, and its number among those of its height. */
  readonly #open: { items: Items; at: number; isEmpty: boolean }[] = []
  #last = -1
  #count = 0

  constructor(store: Blockstore, codec: Codec<V>, bitWidth: number) {
    this.#store = store
    this.#codec = codec
    this.#bitWidth = bitWidth
  }

  /** Values so far. */
  get count(): number {
    return this.#count
  }

  #empty(): Items {
    return new Array<undefined>(2 ** this.#bitWidth).fill(undefined)
  }

  /** @param index - above all before it */
  add(index: number, value: V): void {
    if (index <= this.#last)
      throw new RangeError(`values of a bulk AMT must come in order: ${index} after ${this.#last}`)
    this.#last = index
    this.#count++
    this.#set(0, index, { raw: encode(this.#codec, value), value: undefined, codec: undefined })
  }

  #set(height: number, index: number, item: AmtItem | AmtLink): void {
    const width = 2 ** this.#bitWidth
    const at = Math.floor(index / width)
    let open = this.#open[height]
    if (open === undefined) {
      open = { items: this.#empty(), at, isEmpty: true }
      this.#open[height] = open
    } else if (open.at !== at) {
      this.#close(height)
      open.at = at
    }
    open.items[index % width] = item
    open.isEmpty = false
  }

  #node(height: number, items: Items): AmtNode {
    return height === 0
      ? new AmtNode(undefined, items as AmtItem[], undefined)
      : new AmtNode(items as AmtLink[], undefined, undefined)
  }

  /** Writes a height's open node and puts its link into the height above. */
  #close(height: number): void {
    const open = this.#open[height]
    if (open === undefined || open.isEmpty) return
    const writer = new CborWriter(NODE_BYTES)
    writeNode(writer, this.#node(height, open.items), this.#bitWidth)
    this.#set(height + 1, open.at, { cid: putBlock(this.#store, writer.finish()), node: undefined })
    open.items = this.#empty()
    open.isEmpty = true
  }

  /** @returns the root */
  finish(): Cid {
    let height = 0
    while (2 ** (this.#bitWidth * (height + 1)) <= this.#last) height++
    for (let i = 0; i < height; i++) this.#close(i)
    const writer = new CborWriter(NODE_BYTES)
    writer.array(4)
    writer.uint(this.#bitWidth)
    writer.uint(height)
    writer.uint(this.#count)
    writeNode(
      writer,
      this.#node(this.#count === 0 ? 0 : height, this.#open[height]?.items ?? this.#empty()),
      this.#bitWidth,
    )
    return putBlock(this.#store, writer.finish())
  }
}

/** The tree of these values. @param entries - in the order of their indices */
export function bulkAmt<V>(
  store: Blockstore,
  codec: Codec<V>,
  bitWidth: number,
  entries: Iterable<readonly [index: number, value: V]>,
): Cid {
  const out = new BulkAmt(store, codec, bitWidth)
  for (const [index, value] of entries) out.add(index, value)
  return out.finish()
}
