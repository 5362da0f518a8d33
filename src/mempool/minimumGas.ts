/**
 * The least gas limit that a message may have: what its bytes cost on chain. Lotus' pool takes the prices of the upgrade
 * height in force, and only of upgrades at positive heights, so a network that starts above them keeps the oldest.
 * @see lotus chain/vm/gas.go PricelistByEpoch; gas_v0.go OnChainMessage
 */
import type { ChainEpoch } from '../types/scalars.ts'

/** Price of putting a message on chain. */
export interface MessagePrice {
  readonly compute: bigint
  readonly storage: bigint
}

/** Heights of the upgrades that changed the price; negative or 0: in force from the start, which Lotus' pool ignores. */
export interface PriceHeights {
  readonly calico: ChainEpoch
  readonly hygge: ChainEpoch
}

const BASE_COMPUTE = 38_863n
/** Added by Hygge: the update of the sender actor. */
const ACTOR_UPDATE_COMPUTE = 475_000n
const BASE_BYTES = 36n
const GAS_PER_BYTE = 1_000n
const CALICO_GAS_PER_BYTE = 1_300n

/** The pool's price list. */
export class MinimumGas {
  readonly #heights: PriceHeights

  constructor(heights: PriceHeights) {
    this.#heights = heights
  }

  /** @param lengthBytes - signed CBOR, unsigned for BLS */
  price(epoch: ChainEpoch, lengthBytes: number): MessagePrice {
    const hygge = this.#inForce(this.#heights.hygge, epoch)
    const calico = hygge || this.#inForce(this.#heights.calico, epoch)
    return {
      compute: hygge ? BASE_COMPUTE + ACTOR_UPDATE_COMPUTE : BASE_COMPUTE,
      storage: (BASE_BYTES + BigInt(lengthBytes)) * (calico ? CALICO_GAS_PER_BYTE : GAS_PER_BYTE),
    }
  }

  /** The same as one number. */
  total(epoch: ChainEpoch, lengthBytes: number): bigint {
    const { compute, storage } = this.price(epoch, lengthBytes)
    return compute + storage
  }

  #inForce(height: ChainEpoch, epoch: ChainEpoch): boolean {
    return height > 0 && height <= epoch
  }
}
