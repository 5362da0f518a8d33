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
import { BlockMissing } from '../ipld/errors.ts'
import { type ChainMessage, chainMessageCid } from '../types/chainMessage.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { SIGNATURE_DELEGATED } from '../types/signature.ts'
import { type Tipset, type TipsetKey, tipsetKeyCid, tipsetKeyFromBytes, tipsetKeyText } from '../types/tipset.ts'
import { ethHashOf } from './ethTransactionOf.ts'
import { HeadStretch } from './headStretch.ts'

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

/** How far down an index reaches. */
export interface EthIndexReach {
  /** Tipsets behind the head that are searched. */
  readonly tipsets?: number | undefined
  /** Epochs behind the head whose messages are asked for where they are not at hand. Default: none. */
  readonly fetched?: ChainEpoch | undefined
}

/**
 * Names of tipsets and messages by hash, as far down as was asked. It holds names alone, 300 bytes a tipset: all headers of
 * 20 days would be more than a gigabyte, which one call with a hash that nobody knows would load.
 *
 * Of a chain that a snapshot brought, the messages end long before the headers, and there ends a search for one of them: what lies further
 * down is not known here, and "not known" is what who waits for a transaction must hear, not that a block is missing.
 * @see lotus chain/index/read.go GetCidFromHash, whose rows end as well
 */
export class EthIndex {
  readonly #view: ChainView
  readonly #most: number
  readonly #fetched: ChainEpoch
  /** Keys of tipsets as texts, in the order in which they were met. */
  #texts: string[] = []
  /** Places in it, by hash. */
  readonly #places = new Map<string, number>()
  /** The same by hashes of delegated messages alone: of all others the hash is in the CID. */
  readonly #messages = new Map<number, number>()
  /** What the head has left, by hash: clients that follow a reorganisation ask for it. */
  readonly #reverted = new Lru<string, TipsetKey>(MAX_REVERTED)
  /** What was named, and what was named with its messages. */
  readonly #named: HeadStretch
  readonly #read: HeadStretch

  constructor(view: ChainView, { tipsets = MAX_TIPSETS, fetched = 0 }: EthIndexReach = {}) {
    this.#view = view
    this.#most = tipsets
    this.#fetched = fetched
    const { store } = view
    const common = { store, most: tipsets, placeOf: (tipset: Tipset): number => this.#place(tipset) }
    this.#named = new HeadStretch({
      ...common,
      take: () => undefined,
      isEnd: () => false,
      hasRoom: () => this.#named.size < tipsets,
    })
    this.#read = new HeadStretch({
      ...common,
      take: (tipset) => this.#take(tipset),
      hasRoom: () => this.#read.size < tipsets && this.#messages.size < MAX_MESSAGES,
      isEnd: (error, tipset) => error instanceof BlockMissing && tipset.height <= store.head().height - this.#fetched,
    })
    store.onHeadChange((reverted) => {
      for (const tipset of reverted) this.#reverted.set(nameOf(tipset), tipset.key)
    })
  }

  /** The tipset of a block hash, if it lies on the head's chain or has been left since the node runs. */
  *tipset(hash: Uint8Array): Steps<Tipset | undefined> {
    const name = latin1(hash)
    const left = this.#reverted.get(name)
    if (left !== undefined) return this.#view.store.tipset(left)
    this.#keepBounds()
    return yield* this.#named.search(() => this.#at(this.#places.get(name)))
  }

  /** CID of the message that is at hand under this very hash: of a transaction that is not delegated. */
  directCid(hash: Uint8Array): Cid | undefined {
    const direct = createCid(CODEC_DAG_CBOR, HASH_BLAKE2B_256, hash)
    return hasBlock(this.#view.store.blocks, direct) ? direct : undefined
  }

  /** CID of the message of a transaction hash. */
  *messageCid(hash: Uint8Array): Steps<Cid | undefined> {
    const direct = this.directCid(hash)
    if (direct !== undefined) return direct
    this.#keepBounds()
    return yield* this.#read.search(() => this.#message(hash))
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

  #place(tipset: Tipset): number {
    const name = nameOf(tipset)
    const known = this.#places.get(name)
    if (known !== undefined) return known
    const place = this.#texts.push(tipsetKeyText(tipset.key)) - 1
    this.#places.set(name, place)
    return place
  }

  #take(tipset: Tipset): void {
    // Before anything is changed: where its messages are not at hand, the search is repeated when they are.
    const delegated = [...this.#delegated(tipset)]
    const place = this.#place(tipset)
    for (const { hash } of delegated) {
      let prefix = prefixOf(hash)
      while (this.#messages.has(prefix)) prefix++
      this.#messages.set(prefix, place)
    }
  }

  /** Begins anew where the head's way up has led to too much. */
  #keepBounds(): void {
    if (this.#texts.length <= MOST * this.#most && this.#messages.size <= MOST * MAX_MESSAGES) return
    this.#texts = []
    this.#places.clear()
    this.#messages.clear()
    this.#named.clear()
    this.#read.clear()
  }
}

/** A tipset's hash as a key. */
function nameOf(tipset: Tipset): string {
  return latin1(ethBlockHash(tipset))
}
