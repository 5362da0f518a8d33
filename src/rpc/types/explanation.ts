/** Answer of MpoolExplain. Output only. */
import type { Cid } from '../../codec/cid.ts'
import { type Codec, cid, int, listOrEmpty, nullable, struct, text } from '../../codec/description.ts'
import type { HeldUp } from '../../mempool/explainMessage.ts'
import { type Address, address } from '../../types/address.ts'
import { type ChainEpoch, chainEpoch, type Nonce, nonce } from '../../types/scalars.ts'

/** Where a message is, and what holds it up. */
export interface Explanation {
  /**
   * `pending`; `included`: in the head's blocks, the next tipset executes it; `executed`; `replaced`: another message has its
   * nonce; `unknown`: this node has never seen it, or it left the pool.
   */
  readonly state: 'pending' | 'included' | 'executed' | 'replaced' | 'unknown'
  /** The same as a sentence. */
  readonly text: string
  readonly from: Address | null
  readonly nonce: Nonce | null
  /** The message that counts: itself, or the one that replaced it. */
  readonly message: Cid | null
  /** Epoch of the tipset that executed it, or has it in its blocks. */
  readonly height: ChainEpoch | null
  readonly exitCode: number | null
  /** Of a pending message: what to repair first. Empty: nothing, the next blocks may take it. */
  readonly reasons: readonly HeldUp[]
}

const heldUp: Codec<HeldUp> = struct<HeldUp>('petrel.HeldUp', [
  ['code', 'Code', text as Codec<HeldUp['code']>],
  ['text', 'Text', text],
  ['command', 'Command', text],
])

/** JSON of an {@link Explanation}. */
export const explanation: Codec<Explanation> = struct<Explanation>('petrel.MpoolExplanation', [
  ['state', 'State', text as Codec<Explanation['state']>],
  ['text', 'Text', text],
  ['from', 'From', nullable(address)],
  ['nonce', 'Nonce', nullable(nonce)],
  ['message', 'Message', nullable(cid)],
  ['height', 'Height', nullable(chainEpoch)],
  ['exitCode', 'ExitCode', nullable(int)],
  ['reasons', 'Reasons', listOrEmpty(heldUp) as Codec<readonly HeldUp[]>],
])
