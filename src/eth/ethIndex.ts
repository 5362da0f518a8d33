/**
 * Finds tipsets and messages by Ethereum's hashes: an index over the head's chain that grows as it is asked.
 * @see lotus chain/index
 */
import { toHex } from '../base/bytes.ts'
import { Lru } from '../base/lru.ts'
import type { Steps } from '../base/steps.ts'
import type { ChainView } from '../chain/chainView.ts'
import { type Cid, CODEC_DAG_CBOR, createCid, HASH_BLAKE2B_256 } from '../codec/cid.ts'
import { hasBlock } from '../ipld/blockstore.ts'
import { type ChainMessage, chainMessageCid } from '../types/chainMessage.ts'
import { SIGNATURE_DELEGATED } from '../types/signature.ts'
import { type Tipset, tipsetKeyCid, tipsetKeyText } from '../types/tipset.ts'
import { ethHashOf } from './ethTransactionOf.ts'

/** Tipsets behind the head that are searched: about 20 days of mainnet. */
const MAX_TIPSETS = 57_600

/** Tipsets that a reorganisation left, kept: no chain is left by more. */
const MAX_REVERTED = 900

/** The digest of a tipset key's CID: the hash of the block that Ethereum sees. */
export function ethBlockHash(tipset: Tipset): Uint8Array {
  return tipsetKeyCid(tipset.key).digest
}

/** See the file's comment. */
export class EthIndex {
  readonly #view: ChainView
  readonly #tipsets = new Map<string, Tipset>()
  /** Message CIDs by hash, of delegated messages alone: of all others the hash is in the CID. */
  readonly #messages = new Map<string, Cid>()
  readonly #seen = new Set<string>()
  /** What the head has left, by hash: clients that follow a reorganisation ask for it. */
  readonly #reverted = new Lru<string, Tipset>(MAX_REVERTED)
  /** The lowest tipset that was indexed below the head at that time. */
  #lowest: Tipset | undefined

  constructor(view: ChainView) {
    this.#view = view
    view.store.onHeadChange((reverted) => {
      for (const one of reverted) this.#reverted.set(toHex(ethBlockHash(one)), one)
    })
  }

  /** The tipset of a block hash, if it lies on the head's chain or has been left since the node runs. */
  *tipset(hash: Uint8Array): Steps<Tipset | undefined> {
    const key = toHex(hash)
    return this.#reverted.get(key) ?? (yield* this.#search(() => this.#tipsets.get(key)))
  }

  /** CID of the message of a transaction hash. */
  *messageCid(hash: Uint8Array): Steps<Cid | undefined> {
    const direct = createCid(CODEC_DAG_CBOR, HASH_BLAKE2B_256, hash)
    if (hasBlock(this.#view.store.blocks, direct)) return direct
    const key = toHex(hash)
    return yield* this.#search(() => this.#messages.get(key))
  }

  /**
   * Asks, after each tipset that is added: first those above what is known, then below. What is known has no gap at any time:
   * a search may be given up, and several may walk at once.
   */
  *#search<T>(find: () => T | undefined): Steps<T | undefined> {
    yield* this.#addAbove()
    let found = find()
    while (found === undefined && this.#seen.size < MAX_TIPSETS) {
      const lowest = this.#lowest
      if (lowest === undefined || lowest.height === 0) break
      const next = this.#view.store.parent(lowest)
      if (!this.#seen.has(tipsetKeyText(next.key))) this.#add(next)
      this.#lowest = next
      found = find()
      yield
    }
    // Another search may have gone down to the end meanwhile.
    return found ?? find()
  }

  /** What the head has gained, lowest first. */
  *#addAbove(): Steps<void> {
    const { store } = this.#view
    if (this.#lowest === undefined) this.#add(store.head())
    const above: Tipset[] = []
    for (let tipset = store.head(); !this.#seen.has(tipsetKeyText(tipset.key)); tipset = store.parent(tipset)) {
      above.push(tipset)
      if (tipset.height === 0 || above.length > MAX_TIPSETS) break
      yield
    }
    for (const tipset of above.reverse()) {
      this.#add(tipset)
      yield
    }
  }

  #add(tipset: Tipset): void {
    this.#seen.add(tipsetKeyText(tipset.key))
    this.#tipsets.set(toHex(ethBlockHash(tipset)), tipset)
    if (this.#lowest === undefined || tipset.height < this.#lowest.height) this.#lowest = tipset
    const chainId = BigInt(this.#view.network.chainId)
    for (const block of tipset.blocks) {
      for (const signed of this.#view.blockMessages(block).signed) {
        if (signed.signature.type !== SIGNATURE_DELEGATED) continue
        const one: ChainMessage = { kind: 'signed', message: signed.message, signed }
        this.#messages.set(toHex(ethHashOf(one, chainId)), chainMessageCid(one))
      }
    }
  }
}
