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

function priceOf(isHygge: boolean, isCalico: boolean, lengthBytes: number): MessagePrice {
  return {
    compute: isHygge ? BASE_COMPUTE + ACTOR_UPDATE_COMPUTE : BASE_COMPUTE,
    storage: (BASE_BYTES + BigInt(lengthBytes)) * (isCalico ? CALICO_GAS_PER_BYTE : GAS_PER_BYTE),
  }
}

/** The pool's price list. */
export class MinimumGas {
  readonly #heights: PriceHeights

  constructor(heights: PriceHeights) {
    this.#heights = heights
  }

  /** @param lengthBytes - signed CBOR, unsigned for BLS */
  price(epoch: ChainEpoch, lengthBytes: number): MessagePrice {
    const hygge = this.#inForce(this.#heights.hygge, epoch)
    return priceOf(hygge, hygge || this.#inForce(this.#heights.calico, epoch), lengthBytes)
  }

  /** The same as one number. */
  total(epoch: ChainEpoch, lengthBytes: number): bigint {
    const { compute, storage } = this.price(epoch, lengthBytes)
    return compute + storage
  }

  /**
   * What the machine asks for at least: its prices are those of the network's version, whatever height that came at. On a network that
   * starts above Hygge it is more than {@link total}: a message between the two gets into a block, is refused there with exit code 7, and
   * its nonce stays unused.
   * @see ref-fvm fvm/src/executor/default.rs preflight_message
   */
  executed(epoch: ChainEpoch, lengthBytes: number): bigint {
    const { calico, hygge } = this.#heights
    const { compute, storage } = priceOf(hygge <= epoch, hygge <= epoch || calico <= epoch, lengthBytes)
    return compute + storage
  }

  #inForce(height: ChainEpoch, epoch: ChainEpoch): boolean {
    return height > 0 && height <= epoch
  }
}
