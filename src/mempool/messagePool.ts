/**
 * The message pool: what is waiting to be put in a block.
 *
 *   push -> checks (pool/admitting.ts) -> a reserved place -> disk (groupCommit.ts) -> the place (messageSet.ts) -> listeners, network
 *   add  -> checks -> the place -> listeners
 *   head change -> applied nonces leave, messages of reverted tipsets return (pool/followHead.ts)
 *   select -> chains of each sender by price, packed into a block
 *
 * Work that needs the state after the head waits for it first and then runs without a break, so that two pushes never
 * interleave. Reads are synchronous.
 *
 * @see lotus chain/messagepool/messagepool.go
 */
import { finish, type Steps, type Walk } from '../base/steps.ts'
import type { Cid } from '../codec/cid.ts'
import { BlockMissing } from '../ipld/errors.ts'
import type { Address } from '../types/address.ts'
import type { Message } from '../types/message.ts'
import { BLOCK_MESSAGE_LIMIT } from '../types/protocol.ts'
import type { SignedMessage } from '../types/signedMessage.ts'
import { equalTipsetKeys, type Tipset } from '../types/tipset.ts'
import { candidatesAt } from './candidates.ts'
import type { CheckContext } from './checkMessages.ts'
import { assertConfig, type MempoolConfig } from './config.ts'
import { saveConfig } from './configStore.ts'
import { MempoolError } from './errors.ts'
import type { MessageSet } from './messageSet.ts'
import type { UpdateListener } from './pendingMessages.ts'
import { Admitting, type PushOptions, type ReservedMessage } from './pool/admitting.ts'
import { followHead } from './pool/followHead.ts'
import { loadLocal } from './pool/loading.ts'
import { pendingAt } from './pool/pendingAt.ts'
import { type MessagePoolDeps, type MessagePoolOptions, PoolState } from './pool/poolState.ts'
import { Pruning } from './pool/pruning.ts'
import { Publishing } from './pool/publishing.ts'
import { Republishing } from './pool/republishing.ts'
import { createPooledMessage, type PooledMessage } from './pooledMessage.ts'
import type { ActorReader } from './ports.ts'
import { selectMessages } from './selectMessages.ts'

/** The pending messages and the tipset that they wait on. */
export interface PendingSnapshot {
  readonly messages: readonly SignedMessage[]
  readonly tipset: Tipset
}

/** The pool. Made by {@link openMessagePool}. */
export class MessagePool {
  readonly #state: PoolState
  readonly #pruning: Pruning
  readonly #republishing: Republishing
  readonly #admitting: Admitting
  #unfollow: () => void = () => undefined

  constructor(deps: MessagePoolDeps, options: MessagePoolOptions) {
    this.#state = new PoolState(deps, options)
    this.#pruning = new Pruning(this.#state)
    this.#republishing = new Republishing(this.#state)
    this.#admitting = new Admitting(this.#state, this.#pruning, new Publishing(this.#state))
  }

  /** Follows the chain and takes our own messages back from disk. */
  async start(): Promise<void> {
    const { chain } = this.#state.deps
    this.#unfollow = chain.onHeadChange((reverted, applied) =>
      followHead(this.#state, this.#republishing, reverted, applied),
    )
    this.#state.tipset = chain.head()
    await loadLocal(this.#state, this.#admitting)
    this.#republishing.schedule()
  }

  /** Stops timers and forgets its listeners. What is on disk stays. */
  close(): void {
    this.#unfollow()
    this.#state.timers.close()
  }

  /** The tipset that pending messages wait on. */
  get tipset(): Tipset {
    return this.#state.tipset
  }

  /** Messages in the pool. */
  get size(): number {
    return this.#state.pending.size
  }

  /** Of these, those of senders that send by this node. */
  get localSize(): number {
    let size = 0
    const { pending } = this.#state
    for (const sender of pending.locals()) size += pending.of(sender)?.size ?? 0
    return size
  }

  /** Epochs that the oldest of these has waited, since it came or this process started; 0 where there is none. */
  get localWaitEpochs(): number {
    const { pending, tipset } = this.#state
    let longest = 0
    for (const sender of pending.locals()) {
      const since = pending.of(sender)?.waitsSince ?? tipset.height
      longest = Math.max(longest, tipset.height - since)
    }
    return longest
  }

  /** Their length as signed CBOR, bytes. */
  get bytes(): number {
    return this.#state.pending.bytes
  }

  /**
   * Takes a message of ours: checked, on disk, placed, then sent to the network (unless its fee cap is too low for now).
   * @returns its CID, when it survives a crash
   * @throws {@link MempoolError}; the store's error: then the message leaves no trace
   */
  async push(signed: SignedMessage, options: PushOptions = {}): Promise<Cid> {
    const { cid, durable } = await this.reserve(signed, options)
    await durable
    return cid
  }

  /**
   * The first half of {@link MessagePool.push}: when it resolves the message has its place and is on its way to disk.
   * @throws {@link MempoolError}; `NUMBER_VOID` when the nonce was chosen behind a message that failed since
   */
  reserve(signed: SignedMessage, options: PushOptions = {}): Promise<ReservedMessage> {
    return this.#admitting.reserve(createPooledMessage(signed), options)
  }

  /** The same for many, one after the other, until one is refused: their signatures are verified together where that is cheaper. */
  reserveAll(all: readonly SignedMessage[], options: PushOptions = {}): AsyncIterable<ReservedMessage> {
    return this.#admitting.reserveAll(all, options)
  }

  /** What is reserved from now on is flushed once, when the returned function is called. */
  holdFlush(): () => void {
    return this.#admitting.holdFlush()
  }

  /** A message is being made: what is on its way to disk waits a moment for it. Call what is returned when it came or failed. */
  announce(): () => void {
    return this.#admitting.announce()
  }

  /** Changes when messages on their way to disk failed. */
  get generation(): number {
    return this.#state.reserved.generation
  }

  /**
   * Takes a message that a peer sent.
   * @throws {@link MempoolError}; `gossipVerdict` of its code says what the peer is told
   */
  async add(signed: SignedMessage): Promise<void> {
    await this.#admitting.add(createPooledMessage(signed), { local: false })
  }

  /**
   * The next free nonce of a sender.
   * @throws {@link MempoolError} `SENDER_UNKNOWN`
   */
  nonce(sender: Address): Promise<bigint> {
    return this.#nextNonce(sender, (key) => this.#state.pending.of(key))
  }

  /**
   * The same, behind messages on their way to disk: for the next one of this node. What is not here is fetched.
   * @param least - smaller ones were given out before
   * @param signal - ends the fetching
   * @throws {@link MempoolError} `SENDER_UNKNOWN`
   */
  numberFor(sender: Address, least: bigint, signal?: AbortSignal): Promise<bigint> {
    const { reserved, pending, edge } = this.#state
    return edge(() => this.#nextNonce(sender, (key) => reserved.of(key) ?? pending.of(key), least), signal)
  }

  async #nextNonce(
    sender: Address,
    setOf: (key: Address) => MessageSet | undefined,
    least: bigint = 0n,
  ): Promise<bigint> {
    const state = this.#state
    const after = await state.stateAfterHead()
    const stateNonce = state.nonces.next(sender, state.tipset, after)
    const from = stateNonce > least ? stateNonce : least
    return setOf(state.keyOf(sender))?.freeFrom(from) ?? from
  }

  /** All pending messages; each sender's by nonce. */
  pending(): PendingSnapshot {
    return { messages: this.#state.pending.all(), tipset: this.#state.tipset }
  }

  /** One sender's pending messages by nonce, as the pool keeps them. */
  pendingOf(sender: Address): readonly PooledMessage[] {
    return this.#state.setOf(sender)?.toSorted() ?? []
  }

  /** The same with those on their way to disk, which nobody is to see. */
  placedOf(sender: Address): readonly PooledMessage[] {
    const { reserved, pending } = this.#state
    const key = this.#state.keyOf(sender)
    return (reserved.of(key) ?? pending.of(key))?.toSorted() ?? []
  }

  /** First nonce that a sender's pending messages leave free; undefined when there are none. */
  nextNonceOf(sender: Address): bigint | undefined {
    return this.#state.setOf(sender)?.nextNonce
  }

  /** The messages that were pending when `tipset` was the head, as far as the pool can tell. */
  pendingAt(tipset: Tipset): SignedMessage[] {
    return pendingAt(this.#state, tipset)
  }

  /** Called for every change from now on, in order. */
  subscribe(listener: UpdateListener): () => void {
    return this.#state.pending.subscribe(listener)
  }

  /**
   * The messages for a block on top of `tipset`.
   * @param ticketQuality - 0 to 1
   * @param walk - how to take the steps; default: all at once
   * @returns undefined when nothing is pending
   * @throws ChainError `PATH_TOO_LONG` as a rejection
   */
  async select(tipset: Tipset, ticketQuality: number, walk: Walk = finish): Promise<SignedMessage[] | undefined> {
    const actors = await this.#state.deps.chain.stateAfter(tipset)
    // By another tipset's state every sender that has sent since would have a gap, and its messages go.
    if (this.#state.isAboveHigh && equalTipsetKeys(tipset.key, this.tipset.key)) this.#pruning.prune(actors, tipset)
    const selected = await walk(this.#selection(tipset, actors, ticketQuality))
    return selected?.slice(0, BLOCK_MESSAGE_LIMIT).map((pooled) => pooled.signed)
  }

  *#selection(tipset: Tipset, actors: ActorReader, ticketQuality: number): Steps<PooledMessage[] | undefined> {
    const { deps, pending, senders, signatures } = this.#state
    const { chain, minimumGas, random } = deps
    const candidates = yield* candidatesAt(tipset, this.tipset, { pending, senders, signatures, chain })
    if (candidates.length === 0) return undefined
    const priority = this.config()
      .priorityAddrs.map((address) => senders.tryResolve(address, this.tipset))
      .filter((address) => address !== undefined)
    const conditions = { baseFee: chain.computeBaseFee(tipset), epoch: tipset.height, minimumGas }
    return yield* selectMessages(candidates, { actors, ticketQuality, priority, random, conditions })
  }

  /**
   * Empties the pool.
   * @param local - our own messages too, on disk as well
   * @see lotus chain/messagepool/messagepool.go Clear
   */
  async clear(local: boolean): Promise<void> {
    const { pending, locals, returning, deps } = this.#state
    for (const { sender } of [...pending.senders()]) if (local || !pending.isLocal(sender)) pending.forget(sender)
    // What the chain has already may be needed again after a reorganisation; all else would come back at a start.
    const cleared = locals.load().filter((kept) => (local || kept.ofStranger) && !this.#isUsed(kept.signed.message))
    locals.delete(cleared.map(({ signed }) => signed))
    for (const kept of returning) if (local || kept.ofStranger) returning.delete(kept)
    if (!local) return
    this.#republishing.forget()
    await deps.store.flush()
  }

  #isUsed({ from, nonce }: Message): boolean {
    try {
      return this.#state.nonces.next(from, this.tipset) > nonce
    } catch (error) {
      if (error instanceof MempoolError || error instanceof BlockMissing) return false
      throw error
    }
  }

  /** What checks of messages look at, besides the pending ones. */
  async checkContext(): Promise<Omit<CheckContext, 'pendingStart'>> {
    const { deps, nonces } = this.#state
    const after = await this.#state.stateAfterHead()
    const { tipset } = this
    const { chain, minimumGas } = deps
    return { tipset, after, chain, minimumGas, stateNonce: (sender) => nonces.next(sender, tipset, after) }
  }

  /** The settings as they are now. */
  config(): MempoolConfig {
    return this.#state.config
  }

  /** @throws {@link MempoolError} `CONFIG_INVALID` */
  async setConfig(config: MempoolConfig): Promise<void> {
    assertConfig(config)
    await saveConfig(this.#state.deps.store, config, this.#state.options)
    this.#state.config = config
  }

  /** Sends our best messages to the network again. */
  republish(): Promise<void> {
    return this.#republishing.republish()
  }

  /** Prunes at once, cooldown or not. */
  async prune(): Promise<void> {
    this.#pruning.prune(await this.#state.stateAfterHead(), this.tipset)
  }
}

/** A pool that follows the chain and holds what was ours before. */
export async function openMessagePool(deps: MessagePoolDeps, options: MessagePoolOptions): Promise<MessagePool> {
  const pool = new MessagePool(deps, options)
  await pool.start()
  return pool
}
