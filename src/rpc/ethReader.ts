/**
 * What the methods of Ethereum's interface read: executed tipsets by block parameter, transactions by hash.
 */

import { equalBytes, toHex } from '../base/bytes.ts'
import { unlessThrown } from '../base/errors.ts'
import { finish, type Steps } from '../base/steps.ts'
import type { ChainView } from '../chain/chainView.ts'
import { ChainError } from '../chain/errors.ts'
import { messageByCid } from '../chain/messageByCid.ts'
import type { MessagePlaces } from '../chain/messagePlaces.ts'
import { stateRootAfter } from '../chain/recordedState.ts'
import { floorOf, NO_LOOKBACK_LIMIT } from '../chain/searchMessage.ts'
import type { VmHost } from '../chain/vm.ts'
import { type Cid, CODEC_DAG_CBOR, createCid, HASH_BLAKE2B_256, parseCid } from '../codec/cid.ts'
import type { Finality } from '../consensus/finality.ts'
import { type EthBlock, ethBlockOf } from '../eth/ethBlock.ts'
import { EthIndex } from '../eth/ethIndex.ts'
import { ethTipset } from '../eth/ethTipset.ts'
import { ethHashOf } from '../eth/ethTransactionOf.ts'
import { type ExecutedTipset, executedBytes, executedTipset } from '../eth/executedTipset.ts'
import { type LoggedTipset, loggedTipset } from '../eth/loggedTipset.ts'
import type { HeadIndex } from '../index/headIndex.ts'
import { indexedBlock, indexedKey } from '../index/indexedTipset.ts'
import { indexedTransaction } from '../index/indexedTransaction.ts'
import { fromBlocksOrIndex, promptly } from '../index/passing.ts'
import type { BlockEdge } from '../ipld/blockFetcher.ts'
import { BlockMissing } from '../ipld/errors.ts'
import type { MessageGasDeps } from '../mempool/gas/messageGas.ts'
import type { MessagePool } from '../mempool/messagePool.ts'
import { type ChainMessage, chainMessageCid } from '../types/chainMessage.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { SIGNATURE_DELEGATED } from '../types/signature.ts'
import type { SignedMessage } from '../types/signedMessage.ts'
import { equalTipsetKeys, type Tipset, tipsetKeyText } from '../types/tipset.ts'
import { RpcError } from './errors.ts'
import type { CallContext } from './method.ts'
import type { FoundMessage } from './methods/execution.ts'
import { typedFailure } from './typedFailure.ts'
import type { BlockHashParam, BlockParam } from './types/ethCall.ts'

/**
 * Tipsets behind the head that are searched where an index knows the others, and epochs behind it whose messages are fetched for a
 * transaction that nobody knows: one finality.
 */
const NEAR_TIPSETS = 900

/** How a call that looks far down goes on. */
export type Walking = Pick<CallContext, 'walk' | 'signal' | 'scan' | 'execute'>

/** Of what is told as the chain moves: nobody gives it up, and each is short. */
export const UNHURRIED: Walking = { walk: finish, signal: new AbortController().signal }

/** What the methods need. */
export interface EthMethodsDeps {
  readonly view: ChainView
  readonly vm: Pick<VmHost, 'tipsetState' | 'executeTipset' | 'compute' | 'callWithGas'>
  readonly pool: Pick<MessagePool, 'pending' | 'push' | 'nonce'>
  /** Whether blocks that are not at hand are fetched. */
  readonly fetches?: boolean
  /** Of a node that does not execute what it follows: fetches what others' executions left. */
  readonly edge?: BlockEdge | undefined
  /** What estimates of gas need. */
  readonly gas: MessageGasDeps
  /** What `web3_clientVersion` answers: name, version and network. */
  readonly clientVersion: string
  /** Which tipsets are final; default: distances from the head alone. */
  readonly finality?: Finality
  /** Transactions of any age, and logs; undefined: there is no index. */
  readonly index?: HeadIndex | undefined
  /** Where transactions lie, as far as rows know; undefined: there are none. */
  readonly places?: MessagePlaces | undefined
  /** Searches the head's chain for a message, `limit` epochs deep (default: all). */
  readonly findMessage: (messageCid: Cid, call: Walking, limit?: ChainEpoch) => Promise<FoundMessage | undefined>
}

/** Nobody waits: what would have to be executed is left to the one who does. */
const UNEXECUTED: Pick<VmHost, 'tipsetState'> = {
  tipsetState: () => Promise.reject(new RpcError('FAILED', 'not fetched')),
}

/** Reads executed tipsets, remembering the last ones. */
export class EthReader {
  readonly view: ChainView
  readonly vm: EthMethodsDeps['vm']
  readonly index: EthIndex
  /** Knows what the store has forgotten; undefined: there is none. */
  readonly database: HeadIndex | undefined
  readonly #pool: EthMethodsDeps['pool']
  readonly #finality: Finality | undefined
  /** Of delegated messages: whoever asks for a hash that nobody knows has all of the pool's compared. */
  readonly #hashes = new WeakMap<SignedMessage, Uint8Array>()
  /** Whether the node fetches state that it lacks. */
  readonly fetches: boolean
  readonly edge: BlockEdge | undefined

  constructor({
    view,
    vm,
    pool,
    finality,
    fetches,
    edge,
    index,
  }: Pick<EthMethodsDeps, 'view' | 'vm' | 'pool' | 'finality' | 'fetches' | 'edge' | 'index'>) {
    this.fetches = fetches ?? false
    this.edge = edge
    this.#finality = finality
    this.view = view
    this.vm = vm
    this.#pool = pool
    this.database = index
    this.index = new EthIndex(view, {
      // What would have to be fetched header by header, the index knows.
      tipsets: index?.isFirst === true ? NEAR_TIPSETS : undefined,
      fetched: this.fetches ? NEAR_TIPSETS : 0,
    })
  }

  get chainId(): bigint {
    return BigInt(this.view.network.chainId)
  }

  /** @param strict - a null round is refused with number 12 */
  *tipset(block: BlockParam, strict: boolean): Steps<Tipset> {
    if (block === undefined) throw new RpcError('FAILED', 'invalid block param')
    if (typeof block !== 'string') return yield* this.#named(block)
    try {
      return yield* ethTipset(this.view.store, block, strict, this.#finality)
    } catch (error) {
      throw typedFailure(error)
    }
  }

  /** @see lotus node/impl/eth/tipsetresolver.go GetTipsetByBlockNumberOrHash */
  *#named({ hash, requireCanonical }: BlockHashParam): Steps<Tipset> {
    const found = yield* this.tipsetOfHash(hash)
    const { store } = this.view
    const head = store.head()
    if (!requireCanonical) return found
    if (found.height > head.height) throw new RpcError('FAILED', `failed to get tipset at height: ${found.height}`)
    const there = yield* store.findByHeight(found.height, head, 'previous')
    if (equalTipsetKeys(there.key, found.key)) return found
    throw new RpcError('FAILED', 'tipset is not canonical')
  }

  /**
   * @param context - before the failure's text
   * @throws RpcError `FAILED` where no tipset of the head's chain, and none that it left, has this hash
   * @see lotus chain/store/store.go GetTipSetByCid
   */
  *tipsetOfHash(hash: Uint8Array, context = 'failed to get tipset by hash'): Steps<Tipset> {
    const found = yield* this.index.tipset(hash)
    if (found !== undefined) return found
    const name = String(createCid(CODEC_DAG_CBOR, HASH_BLAKE2B_256, hash))
    throw new RpcError('FAILED', `${context}: cannot find tipset with cid ${name}: ipld: could not find ${name}`)
  }

  /** As {@link tipset}; one that is named by its hash may be as old as a database reaches. */
  async find(block: BlockParam, strict: boolean, call: Walking): Promise<Tipset> {
    // What the database says is on the head's chain: nobody who wants it to be is let down.
    const known = typeof block === 'object' ? await this.#ofDatabase(block.hash) : undefined
    return known ?? call.walk(this.tipset(block, strict))
  }

  /** As {@link tipsetOfHash}, as far down as a database reaches. */
  async findHash(hash: Uint8Array, call: Walking, context?: string): Promise<Tipset> {
    return (await this.#ofDatabase(hash)) ?? call.walk(this.tipsetOfHash(hash, context))
  }

  /**
   * CID of the message of a transaction on the chain, as far down as its messages are at hand.
   * @see lotus node/impl/eth/transaction.go getCidForTransaction: what its index does not know is not found, which is no failure
   */
  async messageCid(hash: Uint8Array, { walk, scan, signal }: Walking): Promise<Cid | undefined> {
    const direct = this.index.directCid(hash)
    if (direct !== undefined) return direct
    // Who waits for a transaction asks every few seconds: what is on no tipset is not searched for. All that is executed such an index knows.
    if (this.pendingMessage(hash) !== undefined || this.database?.isFirst === true) return undefined
    const search = async (own: AbortSignal): Promise<Cid | undefined> => walk(this.index.messageCid(hash), own)
    return scan === undefined ? search(signal) : scan(search)
  }

  async #ofDatabase(hash: Uint8Array): Promise<Tipset | undefined> {
    const index = this.database
    if (index === undefined) return undefined
    const key = await promptly(index, () => indexedKey(index, toHex(hash)))
    return key === undefined ? undefined : this.view.store.tipset(key)
  }

  /**
   * The delegated message that is a transaction and has no receipt yet: in the pool, or in the head, which is executed with the next
   * tipset. (Lotus looks into the pool alone: there such a transaction is nowhere for an epoch.)
   */
  pendingMessage(hash: Uint8Array): SignedMessage | undefined {
    const isIt = (signed: SignedMessage): boolean =>
      signed.signature.type === SIGNATURE_DELEGATED && equalBytes(this.#delegatedHash(signed), hash)
    return this.#pool.pending().messages.find(isIt) ?? this.#inHead().find(isIt)
  }

  #inHead(): readonly SignedMessage[] {
    // Of headers alone, what is in them is not at hand.
    const messages = unlessThrown(() => this.view.tipsetMessages(this.view.store.head()), BlockMissing) ?? []
    return messages.flatMap((message) => (message.kind === 'signed' ? [message.signed] : []))
  }

  /** Hash of the transaction that a message is. @param found - the message with this CID */
  hashOfMessage(cid: Cid, found: ChainMessage = messageByCid(this.view.store.blocks, cid)): Uint8Array {
    const isDelegated = found.kind === 'signed' && found.signed.signature.type === SIGNATURE_DELEGATED
    return isDelegated ? this.#delegatedHash(found.signed) : cid.digest
  }

  #delegatedHash(signed: SignedMessage): Uint8Array {
    let hash = this.#hashes.get(signed)
    if (hash === undefined) {
      hash = ethHashOf({ kind: 'signed', message: signed.message, signed }, this.chainId)
      this.#hashes.set(signed, hash)
    }
    return hash
  }

  /**
   * The state that a tipset left. A node that fetches what it lacks takes the next header's word for it: it may have
   * neither the state nor the receipts yet, and to execute the tipset would need much more.
   */
  async stateRoot(tipset: Tipset, call: Walking): Promise<Cid> {
    return stateRootAfter(tipset, this.view.store, this.vm, call, this.fetches)
  }

  /**
   * What is made of a tipset, of its execution or, where that is forgotten, of an index.
   * @throws as {@link fromBlocksOrIndex}
   */
  told<T>(tipset: Tipset, call: Walking, make: (block: EthBlock) => T | Promise<T>): Promise<T> {
    const own = async (): Promise<T> => make(await this.block(tipset, call))
    return fromBlocksOrIndex(this.database, own, async (index) => {
      const block = await indexedBlock(index, tipset)
      return block === undefined ? undefined : make(block)
    })
  }

  /** A tipset of which nothing is forgotten. @param call - of the one who asks; default: nobody else waits */
  async block(tipset: Tipset, call?: Walking): Promise<EthBlock> {
    return ethBlockOf(await this.executed(tipset, call), this.chainId)
  }

  /** Its logs alone. */
  async logged(tipset: Tipset, call: Walking): Promise<LoggedTipset> {
    const known = rememberedExecuted(this.view, tipset)
    return known === undefined
      ? loggedTipset(this.view, this.vm, tipset, call, this.edge)
      : ethBlockOf(known, this.chainId)
  }

  /** Begins to fetch what its logs are read from; where that needs more than fetching, nothing. */
  fetchLogged(tipset: Tipset, call: Walking): void {
    if (this.edge === undefined || rememberedExecuted(this.view, tipset) !== undefined) return
    loggedTipset(this.view, UNEXECUTED, tipset, call, this.edge).catch(() => undefined)
  }

  /** @param call - of the one who asks; default: nobody else waits */
  executed(tipset: Tipset, call?: Walking): Promise<ExecutedTipset> {
    return keptExecuted(this, tipset, call)
  }
}

/** An executed tipset; the last ones are remembered. */
export async function keptExecuted(
  { view, vm, edge }: Pick<EthMethodsDeps, 'view' | 'vm' | 'edge'>,
  tipset: Tipset,
  call?: Walking,
): Promise<ExecutedTipset> {
  const known = rememberedExecuted(view, tipset)
  if (known !== undefined) return known
  const executed = await executedTipset(view, vm, tipset, call, edge)
  view.store.cache.keep(executedKey(tipset), executed, executedBytes(executed))
  return executed
}

function rememberedExecuted(view: ChainView, tipset: Tipset): ExecutedTipset | undefined {
  return view.store.cache.get(executedKey(tipset)) as ExecutedTipset | undefined
}

function executedKey({ key }: Tipset): string {
  return `executed ${tipsetKeyText(key)}`
}

/** A transaction on the chain. */
export interface Located {
  /** The tipset that holds it. */
  readonly tipset: Tipset
  /** Its index there. */
  readonly index: number
}

/**
 * Finds a transaction on the head's chain, `limit` epochs deep (default: all); undefined: it is not there.
 * @throws ChainError `MESSAGE_REPLACED` when its nonce went to another one
 */
export type Locate = (hash: Uint8Array, call: Walking, limit?: ChainEpoch) => Promise<Located | undefined>

/** A {@link Locate} that asks rows first, the database where there is one, then the node's own index. */
export function locateIn(reader: EthReader, deps: Pick<EthMethodsDeps, 'findMessage' | 'index' | 'places'>): Locate {
  const { store } = reader.view
  const { index: database, places } = deps
  return async (hash, call, limit = NO_LOOKBACK_LIMIT) => {
    const head = store.head()
    const place = await places?.ofHash(hash, head, floorOf(head, limit), call.walk)
    if (place !== undefined) return { tipset: store.parent(place.tipset), index: place.position }
    if (database !== undefined) {
      const row = await indexedTransaction(database, hash, limit)
      if (row !== undefined) return { tipset: store.tipset(row.key.map(parseCid)), index: row.position }
      // All that is executed is in the index.
      if (database.isFirst) return undefined
    }
    const found = await reader.messageCid(hash, call)
    const where = found === undefined ? undefined : await foundOrNot(deps.findMessage(found, call, limit))
    if (where === undefined) return undefined
    const tipset = store.parent(store.tipset(where.tipset))
    const messages = reader.view.tipsetMessages(tipset)
    const index = messages.findIndex((message) => chainMessageCid(message).equals(where.message))
    return index < 0 ? undefined : { tipset, index }
  }
}

/** A transaction whose message is unknown is simply not there. */
async function foundOrNot(search: Promise<FoundMessage | undefined>): Promise<FoundMessage | undefined> {
  try {
    return await search
  } catch (error) {
    if (error instanceof ChainError && error.code === 'NOT_FOUND') return undefined
    throw error
  }
}
