/**
 * Actors' states as JSON.
 * @see lotus chain/vm/invoker.go DumpActorState
 */
import { decode, type Json, type JsonContext } from '../codec/description.ts'
import { type Blockstore, getBlock } from '../ipld/blockstore.ts'
import { actorStateCodec } from '../state/actorState.ts'
import type { CodeLookup } from '../state/manifest.ts'
import type { ActorState } from '../types/actor.ts'
import { ChainError } from './errors.ts'

/** Reads states by the code of their actors. */
export class ActorStates {
  readonly #blocks: Blockstore
  readonly #codes: CodeLookup

  constructor(blocks: Blockstore, codes: CodeLookup) {
    this.#blocks = blocks
    this.#codes = codes
  }

  /**
   * The state under Lotus' field names; null for actors that have none.
   * @throws ChainError `NOT_SUPPORTED` for code that is no built-in actor's; BlockMissing, CodecError
   */
  json(actor: ActorState, context: JsonContext): Json {
    const info = this.#codes(actor.code)
    if (info === undefined) {
      throw new ChainError('NOT_SUPPORTED', `state type for actor ${actor.code} not found`)
    }
    const codec = actorStateCodec(info.kind, info.actorsVersion)
    if (codec === undefined) return null
    return codec.toJson(decode(codec, getBlock(this.#blocks, actor.head)), context)
  }
}
