/**
 * Finds tipsets and messages by Ethereum's hashes: an index over the head's chain that grows as it is asked.
 * @see lotus chain/index
 */
import { equalBytes, fromLatin1, latin1 } from '../base/bytes.ts'
import { Lru } from '../base/lru.ts'
import type { Steps } from '../base/steps.ts'
import type { ChainView } from '../chain/chainView.ts'
import { type Cid, CODEC_DAG_CBOR, createCid, HASH_BLAKE2B_256 } from '../codec/cid.ts'
import { hasBlock } from '../ipld/blockstore.ts'
import { type ChainMessage, chainMessageCid } from '../types/chainMessage.ts'
import { SIGNATURE_DELEGATED } from '../types/signature.ts'
import { type Tipset, type TipsetKey, tipsetKeyCid, tipsetKeyFromBytes, tipsetKeyText } from '../types/tipset.ts'
import { ethHashOf } from './ethTransactionOf.ts'

/** Tipsets behind the head that are searched: about 20 days of mainnet. */
const MAX_TIPSETS = 57_600
/** Delegated messages behind the head that are searched, about: each takes some 50 bytes. */
const MAX_MESSAGES = 1_000_000
/** Above so many times that, which the head's way up may lead to, the index is begun anew. */
const MOST = 1.5

/** Tipsets that a reorganisation left, kept: no chain is left by more. */
const MAX_REVERTED = 900

/** The digest of a tipset key's CID: the hash of the block that Ethereum sees. */
export function ethBlockHash(tipset: Tipset): Uint8Array {
  return tipsetKeyCid(tipset.key).digest
}

/** Bytes of a hash that are its message's name here, as a number: others with the same one are told apart by reading them. */
const PREFIX_BYTES = 6

function prefixOf(hash: Uint8Array): number {
  let prefix = 0
  for (const byte of hash.subarray(0, PREFIX_BYTES)) prefix = prefix * 256 + byte
  return prefix
}

/**
 * Names of tipsets and messages by hash, as far down as was asked. It holds names alone, 300 bytes a tipset: all headers of
 * 20 days would be more than a gigabyte, which one call with a hash that nobody knows would load.
 */
export class EthIndex {
  readonly #view: ChainView
  readonly #most: number
  /** Keys of tipsets as texts, in the order in which they were added. */
  #texts: string[] = []
  /** Places in it, by hash. */
  readonly #places = new Map<string, number>()
  /** The same by hashes of delegated messages alone: of all others the hash is in the CID. */
  readonly #messages = new Map<number, number>()
  /** What the head has left, by hash: clients that follow a reorganisation ask for it. */
  readonly #reverted = new Lru<string, TipsetKey>(MAX_REVERTED)
  /** The lowest tipset that was indexed below the head at that time. */
  #lowest: Tipset | undefined

  /** @param most - tipsets behind the head that are searched */
  constructor(view: ChainView, most: number = MAX_TIPSETS) {
    this.#view = view
    this.#most = most
    view.store.onHeadChange((reverted) => {
      for (const tipset of reverted) this.#reverted.set(nameOf(tipset), tipset.key)
    })
  }

  /** The tipset of a block hash, if it lies on the head's chain or has been left since the node runs. */
  *tipset(hash: Uint8Array): Steps<Tipset | undefined> {
    const name = latin1(hash)
    const left = this.#reverted.get(name)
    if (left !== undefined) return this.#view.store.tipset(left)
    return yield* this.#search(() => this.#at(this.#places.get(name)))
  }

  /** CID of the message of a transaction hash. */
  *messageCid(hash: Uint8Array): Steps<Cid | undefined> {
    const direct = createCid(CODEC_DAG_CBOR, HASH_BLAKE2B_256, hash)
    if (hasBlock(this.#view.store.blocks, direct)) return direct
    return yield* this.#search(() => this.#message(hash))
  }

  #at(place: number | undefined): Tipset | undefined {
    if (place === undefined) return undefined
    return this.#view.store.tipset(tipsetKeyFromBytes(fromLatin1(this.#texts[place] as string)))
  }

  #message(hash: Uint8Array): Cid | undefined {
    for (let prefix = prefixOf(hash); ; prefix++) {
      const tipset = this.#at(this.#messages.get(prefix))
      if (tipset === undefined) return undefined
      for (const delegated of this.#delegated(tipset))
        if (equalBytes(delegated.hash, hash)) return chainMessageCid(delegated.message)
    }
  }

  *#delegated(tipset: Tipset): Iterable<{ readonly hash: Uint8Array; readonly message: ChainMessage }> {
    const chainId = BigInt(this.#view.network.chainId)
    for (const block of tipset.blocks) {
      for (const signed of this.#view.blockMessages(block).signed) {
        if (signed.signature.type !== SIGNATURE_DELEGATED) continue
        const message: ChainMessage = { kind: 'signed', message: signed.message, signed }
        yield { hash: ethHashOf(message, chainId), message }
      }
    }
  }

  /**
   * Asks, after each tipset that is added: first those above what is known, then below. What is known has no gap at any time:
   * a search may be given up, and several may walk at once.
   */
  *#search<T>(find: () => T | undefined): Steps<T | undefined> {
    if (this.#texts.length > MOST * this.#most || this.#messages.size > MOST * MAX_MESSAGES) this.#forget()
    yield* this.#addAbove()
    let found = find()
    while (found === undefined && this.#texts.length < this.#most && this.#messages.size < MAX_MESSAGES) {
      const lowest = this.#lowest
      if (lowest === undefined || lowest.height === 0) break
      const next = this.#view.store.parent(lowest)
      this.#add(next)
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
    const above: TipsetKey[] = []
    for (let tipset = store.head(); !this.#places.has(nameOf(tipset)); tipset = store.parent(tipset)) {
      above.push(tipset.key)
      if (tipset.height === 0 || above.length > this.#most) break
      yield
    }
    for (const key of above.reverse()) {
      this.#add(store.tipset(key))
      yield
    }
  }

  #add(tipset: Tipset): void {
    const name = nameOf(tipset)
    const isKnown = this.#places.has(name)
    // Before anything is changed: where its messages are not at hand, the search is repeated when they are.
    const delegated = isKnown ? [] : [...this.#delegated(tipset)]
    if (this.#lowest === undefined || tipset.height < this.#lowest.height) this.#lowest = tipset
    if (isKnown) return
    const place = this.#texts.push(tipsetKeyText(tipset.key)) - 1
    this.#places.set(name, place)
    for (const { hash } of delegated) {
      let prefix = prefixOf(hash)
      while (this.#messages.has(prefix)) prefix++
      this.#messages.set(prefix, place)
    }
  }

  #forget(): void {
    this.#texts = []
    this.#places.clear()
    this.#messages.clear()
    this.#lowest = undefined
  }
}

/** A tipset's hash as a key. */
function nameOf(tipset: Tipset): string {
  return latin1(ethBlockHash(tipset))
}
