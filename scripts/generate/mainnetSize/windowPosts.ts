/**
 * Proofs of storage of a generated chain: every miner proves the partitions of each deadline while it is open. Actors take
 * them on trust until somebody disputes them, so any bytes of a proof's length will do.
 * @see builtin-actors v18 actors/miner/src/lib.rs submit_windowed_post
 */

import { provingPeriodStart } from '../../../src/actors/miner/provingPeriod.ts'
import { EMPTY_BYTES } from '../../../src/base/bytes.ts'
import { liveSectors } from '../../../src/chain/queries/minerActor.ts'
import { encode } from '../../../src/codec/description.ts'
import { drawRandomnessFromDigest } from '../../../src/crypto/drawRandomness.ts'
import { EMPTY_BIT_FIELD } from '../../../src/ipld/bitfield.ts'
import { CHALLENGE_WINDOW, DEADLINES_PER_PERIOD } from '../../../src/state/deadline.ts'
import { submitWindowedPoStParams } from '../../../src/state/params/miner/proving.ts'
import type { StateTree } from '../../../src/state/stateTree.ts'
import { idAddress } from '../../../src/types/address.ts'
import type { SignedMessage } from '../../../src/types/signedMessage.ts'
import { workerKey } from './accounts.ts'
import type { MessageMaker } from './messages.ts'
import { PURPOSE, random32 } from './random.ts'
import { minerId, minerIn, sectorCounts, WINDOW_POST_PROOF } from './sectors.ts'
import type { StateSize } from './size.ts'

/** DomainSeparationTag PoStChainCommit. @see go-state-types crypto/randomness.go */
const TAG_POST_CHAIN_COMMIT = 9
const SUBMIT_WINDOWED_POST = 5n
const PROOF_BYTES = 192
const GAS_LIMIT = 200_000_000n
/** Epochs of a window that a miner lets pass before it proves: one value for each. */
const FIRST_EPOCH = 3
const SPREAD = 40

/** Partitions of a miner's deadline that have sectors to be proven. */
function provable(tree: StateTree, index: number, at: number): number[] {
  const miner = minerIn(tree, index)
  if (miner === undefined) return []
  return miner.partitions(miner.deadline(at)).flatMap((partition, number) => {
    const { faults, recoveries } = partition
    return liveSectors(partition).subtract(faults.subtract(recoveries)).isEmpty ? [] : [number]
  })
}

/** Which deadlines are proven; the windows of a miner are numbered from its first one in the chain. */
export class WindowPosts {
  readonly #size: StateSize
  readonly #sectors: readonly number[]
  readonly #starts: readonly number[]
  /** Number of the newest window that needs no proof any more. */
  readonly #proven: number[]

  /** @param tree - after `height` */
  constructor(size: StateSize, tree: StateTree, height: number) {
    this.#size = size
    this.#sectors = sectorCounts(size)
    this.#starts = this.#sectors.map((_, miner) => provingPeriodStart(idAddress(BigInt(minerId(miner))), 0))
    this.#proven = this.#sectors.map((_, miner) => {
      const window = this.#window(miner, height)
      return this.#isProven(tree, miner, window % DEADLINES_PER_PERIOD) ? window : window - 1
    })
  }

  #window(miner: number, epoch: number): number {
    return Math.floor((epoch - (this.#starts[miner] as number)) / CHALLENGE_WINDOW)
  }

  #isProven(tree: StateTree, miner: number, at: number): boolean {
    return minerIn(tree, miner)?.deadline(at).partitionsPoSted.isEmpty !== true
  }

  /**
   * Proofs that are due in the epoch after `height`.
   * @param digest - of the ticket at `height`
   */
  make(maker: MessageMaker, height: number, digest: Uint8Array, max: number): SignedMessage[] {
    const out: SignedMessage[] = []
    for (let miner = 0; miner < this.#sectors.length && out.length < max; miner++) {
      const window = this.#window(miner, height + 1)
      const opened = (this.#starts[miner] as number) + window * CHALLENGE_WINDOW
      const wait = FIRST_EPOCH + (random32(this.#size.seed, PURPOSE.messages, miner) % SPREAD)
      if ((this.#proven[miner] as number) >= window || height + 1 < opened + wait) continue
      const message = this.#message(maker, miner, window % DEADLINES_PER_PERIOD, height, digest)
      if (message === 'sent already') continue
      this.#proven[miner] = window
      if (message !== undefined) out.push(message)
    }
    return out
  }

  #message(
    maker: MessageMaker,
    miner: number,
    at: number,
    height: number,
    digest: Uint8Array,
  ): SignedMessage | undefined | 'sent already' {
    const partitions = provable(maker.tree, miner, at)
    if (partitions.length === 0) return undefined
    const params = encode(submitWindowedPoStParams, {
      deadline: at,
      partitions: partitions.map((index) => ({ index, skipped: EMPTY_BIT_FIELD })),
      proofs: [{ postProof: WINDOW_POST_PROOF, proofBytes: new Uint8Array(PROOF_BYTES).fill(miner & 0xff) }],
      chainCommitEpoch: height,
      chainCommitRand: drawRandomnessFromDigest(digest, TAG_POST_CHAIN_COMMIT, height, EMPTY_BYTES),
    })
    const to = idAddress(BigInt(minerId(miner)))
    const signed = maker.sign(workerKey(this.#size, miner), {
      to,
      method: SUBMIT_WINDOWED_POST,
      params,
      gasLimit: GAS_LIMIT,
    })
    return signed ?? 'sent already'
  }
}
