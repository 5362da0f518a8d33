/**
 * The blocks of a state on their way to disk: sections of a CAR without its header, one after the other. Blocks that
 * occur again and again (empty trees) are written once in a piece.
 */

import { openPartial, type PartialFile } from '../../../platform/server/scratchFiles.ts'
import { carSectionHead } from '../../../src/archive/car.ts'
import { BufferedSink } from '../../../src/archive/scratchFile.ts'
import type { Cid } from '../../../src/codec/cid.ts'
import type { Blockstore } from '../../../src/ipld/blockstore.ts'

/** Longest block that is looked for among the last ones. */
const SMALL_BYTES = 1024
/** How many are remembered. */
const REMEMBERED = 4096

/** A store that is written only. */
export class BodyFile implements Blockstore {
  readonly #file: PartialFile
  readonly #out: BufferedSink
  readonly #recent = new Set<string>()
  #blocks: number

  /** @param keep - bytes and blocks of an earlier run to go on behind */
  constructor(path: string, keep: { readonly bytes: number; readonly blocks: number }) {
    this.#file = openPartial(path, keep.bytes)
    this.#out = new BufferedSink(this.#file)
    this.#blocks = keep.blocks
  }

  get(): undefined {
    return undefined
  }

  has(): boolean {
    return false
  }

  put(cid: Cid, data: Uint8Array): void {
    if (data.length <= SMALL_BYTES) {
      if (this.#recent.has(cid.key)) return
      if (this.#recent.size >= REMEMBERED) this.#recent.clear()
      this.#recent.add(cid.key)
    }
    this.#out.write(carSectionHead(cid, data.length))
    this.#out.write(data)
    this.#blocks++
  }

  /** Ends a piece: what is written after this does not depend on what was written before. */
  endPiece(): void {
    this.#recent.clear()
  }

  /** Passes all on to the file. */
  checkpoint(): { readonly bytes: number; readonly blocks: number } {
    this.#out.flush()
    return { bytes: this.#file.size, blocks: this.#blocks }
  }

  /** Gives the file its name. */
  finish(): void {
    this.#out.flush()
    this.#file.finish()
  }

  close(): void {
    this.#file.abandon(true)
  }
}
