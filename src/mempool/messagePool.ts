/**
 * The message pool: what is waiting to be put in a block.
 *
 *   push -> checks (admission.ts) -> a reserved place -> disk (groupCommit.ts) -> the place (messageSet.ts) -> listeners, network
 *   add  -> checks -> the place -> listeners
 *   head change -> applied nonces leave, messages of reverted tipsets return
 *   select -> chains of each sender by price, packed into a block
 *
 * Work that needs the state after the head waits for it first and then runs without a break, so that two pushes never
 * interleave. Reads are synchronous.
 *
 * @see lotus chain/messagepool/messagepool.go; reference mpool.md
 */
import { errorMessage } from '../base/errors.ts'
import type { Clock, KeyValueStore, Logger, Timers } from '../base/ports.ts'
import type { Cid } from '../codec/cid.ts'
import { encode } from '../codec/description.ts'
import { BlockMissing } from '../ipld/errors.ts'
import { type Address, isIdAddress } from '../types/address.ts'
import type { Message } from '../types/message.ts'
import { BLOCK_MESSAGE_LIMIT } from '../types/protocol.ts'
import { type SignedMessage, signedMessage, signedMessageCid } from '../types/signedMessage.ts'
import { equalTipsetKeys, firstBlock, type Tipset } from '../types/tipset.ts'
import { assertFunds, assertIncludable, assertSender, assertStateless } from './admission.ts'
import { signedMessagesOf } from './blockMessagesOf.ts'
import { candidatesAt } from './candidates.ts'
import type { CheckContext } from './checkMessages.ts'
import { ClosableTimers } from './closableTimers.ts'
import { assertConfig, type MempoolConfig } from './config.ts'
import { loadConfig, saveConfig } from './configStore.ts'
import { createChains } from './createChains.ts'
import { MempoolError, withContext } from './errors.ts'
import { feeCapLowerBound } from './fees.ts'
import { GroupCommit, type StoreWrite } from './groupCommit.ts'
import {
  LATE_RETRY_MS,
  POOL_BYTES_HIGH,
  POOL_BYTES_LOW,
  POOL_BYTES_MAX,
  POOL_HEADROOM,
  REPUBLISH_SPACING_MS,
} from './limits.ts'
import { LocalMessages } from './localMessages.ts'
import type { MessageSet, Placement } from './messageSet.ts'
import type { MinimumGas } from './minimumGas.ts'
import { PendingMessages, type UpdateListener } from './pendingMessages.ts'
import { createPooledMessage, type PooledMessage } from './pooledMessage.ts'
import type { ActorReader, MempoolChain, MessagePublisher, MessageVerifier } from './ports.ts'
import { choosePruned } from './prune.ts'
import { reorgMessages } from './reorgMessages.ts'
import { chooseRepublished } from './republish.ts'
import { Reservations } from './reservations.ts'
import { KEEP_BASE_FEE_DIVISOR } from './rules.ts'
import { selectMessages } from './selectMessages.ts'
import { SenderNonces } from './senderNonces.ts'
import { Senders } from './senders.ts'
import { SignatureCheck } from './signatureCheck.ts'

/** What the pool is made of. */
export interface MessagePoolDeps {
  readonly chain: MempoolChain
  readonly store: KeyValueStore
  readonly verifier: MessageVerifier
  readonly minimumGas: MinimumGas
  readonly publish: MessagePublisher
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: Logger
  /** Uniform in [0, 1): the last fill of a block. */
  readonly random: () => number
}

/** Settings that do not change while it runs. */
export interface MessagePoolOptions {
  /** First letter of addresses in texts and settings. */
  readonly addressPrefix: 'f' | 't'
  /** Time between two rounds of republishing, ms. Lotus: 10 block delays and the propagation delay, at least 130 s. */
  readonly republishIntervalMs: number
}

/** How a message comes in. */
export interface PushOptions {
  /** By MpoolPushUntrusted: fewer messages per sender. */
  readonly untrusted?: boolean
  /** Written to disk together with the message, before anything leaves the node. */
  readonly also?: readonly StoreWrite[]
  /** {@link MessagePool.generation} when the message got its nonce. */
  readonly generation?: number
}

/** A message that was found good and has its place, not yet for others to see. */
export interface ReservedMessage {
  readonly cid: Cid
  /** Resolves when it survives a crash and is in the pool; rejects with the store's error, and then it never was there. */
  readonly durable: Promise<void>
}

/** What the checks found. */
interface Admitted {
  readonly sender: Address
  readonly placement: Placement
  readonly stateNonce: bigint
  /** Whether to send it to the network now. */
  readonly publish: boolean
}

/** The pending messages and the tipset that they wait on. */
export interface PendingSnapshot {
  readonly messages: readonly SignedMessage[]
  readonly tipset: Tipset
}

/** The pool. Made by {@link openMessagePool}. */
export class MessagePool {
  readonly #deps: MessagePoolDeps
  readonly #options: MessagePoolOptions
  readonly #pending = new PendingMessages()
  readonly #senders: Senders
  readonly #nonces: SenderNonces
  readonly #signatures: SignatureCheck
  readonly #locals: LocalMessages
  readonly #reserved = new Reservations()
  readonly #commits: GroupCommit
  #inTrouble = false
  readonly #timers: ClosableTimers
  #unfollow: () => void = () => undefined
  #tipset: Tipset
  #config: MempoolConfig
  #republished: ReadonlySet<string> = new Set()
  #pruneAllowedAtMs = 0

  constructor(deps: MessagePoolDeps, options: MessagePoolOptions) {
    this.#deps = deps
    this.#options = options
    this.#senders = new Senders(deps.chain)
    this.#nonces = new SenderNonces(deps.chain, this.#senders, options.addressPrefix)
    this.#signatures = new SignatureCheck(deps.verifier)
    this.#locals = new LocalMessages(deps.store)
    this.#commits = new GroupCommit(deps.store, deps.timers, (error) => this.#storeTrouble(error))
    this.#config = loadConfig(deps.store, options)
    this.#timers = new ClosableTimers(deps.timers)
    this.#tipset = deps.chain.head()
  }

  /** Follows the chain and takes our own messages back from disk. */
  async start(): Promise<void> {
    this.#unfollow = this.#deps.chain.onHeadChange((reverted, applied) => this.#headChange(reverted, applied))
    this.#tipset = this.#deps.chain.head()
    await this.#loadLocal()
    this.#scheduleRepublish()
  }

  /** Stops timers and forgets its listeners. What is on disk stays. */
  close(): void {
    this.#unfollow()
    this.#timers.close()
  }

  /** The tipset that pending messages wait on. */
  get tipset(): Tipset {
    return this.#tipset
  }

  /** Messages in the pool. */
  get size(): number {
    return this.#pending.size
  }

  /** Their length as signed CBOR, bytes. */
  get bytes(): number {
    return this.#pending.bytes
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
    const pooled = createPooledMessage(signed)
    return this.#admit(pooled, { local: true, untrusted: options.untrusted ?? false }, (admitted) => {
      const { generation = this.generation, also = [] } = options
      if (generation !== this.generation) {
        throw new MempoolError('NUMBER_VOID', 'Cannot use the nonce: a message before it was not written')
      }
      const { sender, placement, stateNonce } = admitted
      this.#reserved.reserve(sender, pooled, placement, this.#pending.of(sender), stateNonce)
      const durable = this.#commits.add({
        writes: [this.#locals.saved(pooled), ...also],
        confirm: () => this.#confirm(pooled, admitted),
        drop: () => this.#reserved.drop(),
      })
      // Who waits for several looks at them one after the other.
      durable.catch(() => undefined)
      return { cid: pooled.cid, durable }
    })
  }

  /** What is reserved from now on is flushed once, when the returned function is called. */
  holdFlush(): () => void {
    return this.#commits.hold()
  }

  /** Changes when messages on their way to disk failed. */
  get generation(): number {
    return this.#reserved.generation
  }

  /**
   * Takes a message that a peer sent.
   * @throws {@link MempoolError}; `gossipVerdict` of its code says what the peer is told
   */
  async add(signed: SignedMessage): Promise<void> {
    const pooled = createPooledMessage(signed)
    await this.#admit(pooled, { local: false, untrusted: false }, (admitted) => this.#placeNow(pooled, admitted))
  }

  /**
   * The next free nonce of a sender.
   * @throws {@link MempoolError} `SENDER_UNKNOWN`
   */
  nonce(sender: Address): Promise<bigint> {
    return this.#nextNonce(sender, (key) => this.#pending.of(key))
  }

  /**
   * The same, behind messages on their way to disk: for the next one of this node.
   * @param least - smaller ones were given out before
   * @throws {@link MempoolError} `SENDER_UNKNOWN`
   */
  numberFor(sender: Address, least: bigint): Promise<bigint> {
    return this.#nextNonce(sender, (key) => this.#reserved.of(key) ?? this.#pending.of(key), least)
  }

  async #nextNonce(
    sender: Address,
    setOf: (key: Address) => MessageSet | undefined,
    least: bigint = 0n,
  ): Promise<bigint> {
    const after = await this.#stateAfterHead()
    const stateNonce = this.#nonces.next(sender, this.#tipset, after)
    const from = stateNonce > least ? stateNonce : least
    return setOf(this.#keyOf(sender))?.freeFrom(from) ?? from
  }

  /** All pending messages; each sender's by nonce. */
  pending(): PendingSnapshot {
    return { messages: this.#pending.all(), tipset: this.#tipset }
  }

  /** One sender's pending messages by nonce, as the pool keeps them. */
  pendingOf(sender: Address): PooledMessage[] {
    return this.#setOf(sender)?.toSorted() ?? []
  }

  /** First nonce that a sender's pending messages leave free; undefined when there are none. */
  nextNonceOf(sender: Address): bigint | undefined {
    return this.#setOf(sender)?.nextNonce
  }

  /**
   * The messages that were pending when `tipset` was the head, as far as the pool can tell.
   * @see lotus node/impl/full/mpool.go MpoolPending
   */
  pendingAt(tipset: Tipset): SignedMessage[] {
    const result = [...this.#pending.all()]
    if (this.#tipset.height > tipset.height) return result
    const seen = new Set(result.map((signed) => signedMessageCid(signed).key))
    for (let at = tipset; ; at = this.#deps.chain.loadTipset(firstBlock(at).parents)) {
      if (this.#tipset.height === at.height) {
        if (equalTipsetKeys(this.#tipset.key, at.key)) return result
        // other blocks of the same epoch: what ours hold is not pending there either
        for (const signed of this.#messagesOf(this.#tipset)) seen.add(signedMessageCid(signed).key)
      }
      for (const signed of this.#messagesOf(at)) {
        const { key } = signedMessageCid(signed)
        if (seen.has(key)) continue
        seen.add(key)
        result.push(signed)
      }
      if (this.#tipset.height >= at.height) return result
    }
  }

  /** Called for every change from now on, in order. */
  subscribe(listener: UpdateListener): () => void {
    return this.#pending.subscribe(listener)
  }

  /**
   * The messages for a block on top of `tipset`.
   * @param ticketQuality - 0 to 1
   * @returns undefined when nothing is pending
   */
  async select(tipset: Tipset, ticketQuality: number): Promise<SignedMessage[] | undefined> {
    const { chain } = this.#deps
    const actors = await chain.stateAfter(tipset)
    if (this.#isAboveHigh()) this.#prune(actors, tipset)
    const parts = { pending: this.#pending, senders: this.#senders, signatures: this.#signatures, chain }
    const candidates = candidatesAt(tipset, this.#tipset, parts)
    if (candidates.length === 0) return undefined
    const priority = this.#config.priorityAddrs
      .map((address) => this.#senders.tryResolve(address, this.#tipset))
      .filter((address) => address !== undefined)
    const selected = selectMessages(candidates, {
      actors,
      ticketQuality,
      priority,
      random: this.#deps.random,
      conditions: {
        baseFee: chain.computeBaseFee(tipset),
        epoch: tipset.height,
        minimumGas: this.#deps.minimumGas,
      },
    })
    return selected.slice(0, BLOCK_MESSAGE_LIMIT).map((pooled) => pooled.signed)
  }

  /**
   * Empties the pool.
   * @param local - our own messages too, on disk as well
   * @see lotus chain/messagepool/messagepool.go Clear
   */
  async clear(local: boolean): Promise<void> {
    for (const { sender, set } of [...this.#pending.senders()]) {
      const ours = this.#pending.isLocal(sender)
      if (ours && !local) continue
      if (ours) this.#locals.delete([...set.messages.values()].map(({ signed }) => signed))
      this.#pending.forget(sender)
    }
    if (!local) return
    this.#republished = new Set()
    await this.#deps.store.flush()
  }

  /** What checks of messages look at, besides the pending ones. */
  async checkContext(): Promise<Omit<CheckContext, 'pendingStart'>> {
    const after = await this.#stateAfterHead()
    const tipset = this.#tipset
    const { chain, minimumGas } = this.#deps
    return { tipset, after, chain, minimumGas, stateNonce: (sender) => this.#nonces.next(sender, tipset, after) }
  }

  config(): MempoolConfig {
    return this.#config
  }

  /** @throws {@link MempoolError} `CONFIG_INVALID` */
  async setConfig(config: MempoolConfig): Promise<void> {
    assertConfig(config)
    await saveConfig(this.#deps.store, config, this.#options)
    this.#config = config
  }

  /** Sends our best messages to the network again. */
  async republish(): Promise<void> {
    const { chain, minimumGas } = this.#deps
    const tipset = this.#tipset
    this.#republished = new Set()
    const actors = await chain.stateAfter(tipset)
    const baseFee = feeCapLowerBound(chain.computeBaseFee(tipset), KEEP_BASE_FEE_DIVISOR)
    const chains = []
    for (const sender of this.#pending.locals()) {
      const set = this.#pending.of(sender)
      if (set === undefined) continue
      const conditions = { actor: actors.actor(sender), baseFee, epoch: tipset.height, minimumGas }
      for (const chain of createChains(set.toSorted(), conditions)) chains.push(chain)
    }
    const chosen = chooseRepublished(chains, baseFee)
    const sent = new Set<string>()
    for (const pooled of chosen) {
      if (sent.size > 0) await this.#timers.pause(REPUBLISH_SPACING_MS)
      if (this.#timers.closed) return
      this.#deps.publish(encode(signedMessage, pooled.signed))
      sent.add(pooled.cid.key)
    }
    this.#republished = sent
  }

  /** State after the pool's tipset; waits again if the head moves meanwhile. */
  async #stateAfterHead(): Promise<ActorReader> {
    for (;;) {
      if (this.#timers.closed) throw new MempoolError('CLOSED', 'Cannot use the message pool: it is closed')
      const tipset = this.#tipset
      const actors = await this.#deps.chain.stateAfter(tipset)
      if (tipset === this.#tipset) return actors
    }
  }

  /**
   * Checks a message, and in the same breath gives it its place.
   * @param place - must refuse what it cannot place without having changed anything
   */
  async #admit<T>(
    pooled: PooledMessage,
    how: { local: boolean; untrusted: boolean },
    place: (admitted: Admitted) => T,
  ): Promise<T> {
    assertStateless(pooled, this.#tipset, this.#deps.chain, this.#signatures)
    const after = await this.#stateAfterHead()
    const tipset = this.#tipset
    const { message } = pooled
    const stateNonce = this.#stateNonce(message, after)
    if (stateNonce > message.nonce) {
      throw new MempoolError(
        'NONCE_TOO_LOW',
        `minimum expected nonce is ${stateNonce}, got ${message.nonce}: message nonce too low`,
      )
    }
    const { addressPrefix } = this.#options
    assertSender(pooled, tipset, after, this.#deps.chain, addressPrefix)
    const publish = assertIncludable(pooled, tipset, this.#deps.chain, this.#deps.minimumGas, how.local)
    const sender = this.#senders.resolve(message.from, tipset)
    if (!how.local) this.#assertRoom(pooled)
    const pending = this.#reserved.of(sender) ?? this.#pending.of(sender)
    assertFunds(pooled, after.actor(message.from)?.balance ?? 0n, pending)
    const placement = { strict: !how.local, untrusted: how.untrusted, sender: message.from.toString(addressPrefix) }
    try {
      return place({ sender, placement, stateNonce, publish })
    } catch (error) {
      throw withContext('failed to add locked', error)
    }
  }

  /** What is on its way to disk counts as placed. */
  #placeNow(pooled: PooledMessage, { sender, placement, stateNonce }: Admitted): void {
    const draft = this.#reserved.of(sender)
    draft?.add(pooled, placement)
    try {
      this.#place(sender, pooled, placement, () => stateNonce)
    } catch (error) {
      draft?.remove(pooled.message.nonce, false)
      throw error
    }
    if (this.#isAboveHigh()) this.#pruneSoon()
  }

  /** The message is durable: everybody may see it. */
  #confirm(pooled: PooledMessage, { sender, placement, stateNonce, publish }: Admitted): void {
    this.#reserved.settle(sender)
    this.#pending.markLocal(sender)
    try {
      const now = (): bigint => this.#stateNonceNow(pooled.message.from) ?? stateNonce
      this.#place(sender, pooled, { ...placement, strict: false, untrusted: false }, now)
    } catch (error) {
      // Replaced by a better one of a peer's while it was written. It stays on disk until its nonce is used.
      this.#deps.logger.warn('mempool: a message of ours was replaced at once', { error: errorMessage(error) })
      return
    }
    if (publish) this.#deps.publish(encode(signedMessage, pooled.signed))
    if (this.#isAboveHigh()) this.#pruneSoon()
  }

  #storeTrouble(error: unknown): void {
    const { logger } = this.#deps
    if (error !== undefined) {
      logger.error('mempool: messages are refused, they cannot be written', { error: errorMessage(error) })
    } else if (this.#inTrouble) logger.info('mempool: messages are written again')
    this.#inTrouble = error !== undefined
  }

  #isAboveHigh(): boolean {
    return this.#pending.size > this.#config.sizeLimitHigh || this.#pending.bytes > POOL_BYTES_HIGH
  }

  /** Between two prunings a flood must not take all memory. It says nothing against who sent the message. */
  #assertRoom({ sizeBytes }: PooledMessage): void {
    const { size, bytes } = this.#pending
    if (size < this.#config.sizeLimitHigh + POOL_HEADROOM && bytes + sizeBytes <= POOL_BYTES_MAX) return
    this.#pruneSoon()
    throw new MempoolError('SOFT_FAILURE', 'message pool is full: validation failure')
  }

  #stateNonce(message: Message, after: ActorReader): bigint {
    try {
      return this.#nonces.next(message.from, this.#tipset, after)
    } catch (error) {
      if (!(error instanceof MempoolError)) throw error
      const text = `failed to look up actor state nonce: ${error.message}: validation failure`
      throw new MempoolError('SOFT_FAILURE', text, error.info, { cause: error })
    }
  }

  /** The head may have moved since the message was admitted. Undefined: it cannot be told without waiting. */
  #stateNonceNow(sender: Address): bigint | undefined {
    try {
      return this.#nonces.next(sender, this.#tipset)
    } catch (error) {
      if (error instanceof MempoolError || error instanceof BlockMissing) return undefined
      throw error
    }
  }

  /** The one door into the set. Its messages become loadable by both CIDs. */
  #place(sender: Address, pooled: PooledMessage, placement: Placement, stateNonce: () => bigint): void {
    this.#pending.add(sender, pooled, placement, stateNonce)
    this.#signatures.remember(pooled)
    try {
      this.#deps.chain.putSignedMessage(pooled.signed)
      this.#deps.chain.putMessage(pooled.message)
    } catch (error) {
      // Of no weight: whoever puts it in a block stores it with the block.
      this.#deps.logger.debug('mempool: a message is not loadable by its CID', { error: errorMessage(error) })
    }
  }

  #setOf(sender: Address): MessageSet | undefined {
    return this.#pending.of(this.#keyOf(sender))
  }

  #keyOf(sender: Address): Address {
    return isIdAddress(sender) ? this.#senders.resolve(sender, this.#tipset) : sender
  }

  #messagesOf(tipset: Tipset): SignedMessage[] {
    return signedMessagesOf(tipset.blocks, this.#deps.chain, this.#signatures)
  }

  #headChange(reverted: readonly Tipset[], applied: readonly Tipset[]): void {
    const last = applied[applied.length - 1]
    const oldestReverted = reverted[reverted.length - 1]
    const { chain, logger } = this.#deps
    try {
      const change = reorgMessages({ reverted, applied }, chain, this.#signatures)
      if (last !== undefined) this.#tipset = last
      else if (oldestReverted !== undefined) this.#tipset = chain.loadTipset(firstBlock(oldestReverted).parents)
      let early = false
      for (const { from, nonce, cidKey } of change.applied) {
        const sender = this.#senders.tryResolve(from, this.#tipset)
        if (sender !== undefined) {
          this.#pending.remove(sender, nonce, true)
          this.#reserved.of(sender)?.remove(nonce, true)
        }
        early ||= this.#republished.has(cidKey)
      }
      for (const signed of change.returned) this.#putBack(signed)
      if (early) this.#republishSoon()
    } catch (error) {
      // the chain moves on whatever becomes of the pool; the next change starts from the new head
      if (last !== undefined) this.#tipset = last
      logger.error('mempool: head change failed', { error: errorMessage(error) })
    }
  }

  /** A message of a reverted tipset returns unchecked: it was valid where it stood. */
  #putBack(signed: SignedMessage): void {
    const sender = this.#senders.tryResolve(signed.message.from, this.#tipset)
    if (sender === undefined) return
    const initial = (): bigint => {
      try {
        return this.#nonces.next(signed.message.from, this.#tipset)
      } catch (error) {
        // the reorg took the sender itself away; it may come back
        if (error instanceof MempoolError) return 0n
        throw error
      }
    }
    const text = signed.message.from.toString(this.#options.addressPrefix)
    try {
      this.#place(sender, createPooledMessage(signed), { strict: false, untrusted: false, sender: text }, initial)
    } catch (error) {
      if (!(error instanceof MempoolError)) throw error
      this.#deps.logger.warn('mempool: message of a reverted tipset not put back', { error: error.message })
    }
  }

  #pruneSoon(): void {
    if (this.#deps.clock.monotonicMs() < this.#pruneAllowedAtMs) return
    this.#pruneAllowedAtMs = this.#deps.clock.monotonicMs() + this.#config.pruneCooldownNs / 1e6
    void this.#stateAfterHead()
      .then((actors) => this.#prune(actors, this.#tipset))
      .catch((error: unknown) => {
        this.#deps.logger.warn('mempool: pruning failed', { error: errorMessage(error) })
      })
  }

  /** Prunes at once, cooldown or not. */
  async prune(): Promise<void> {
    this.#prune(await this.#stateAfterHead(), this.#tipset)
  }

  #prune(actors: ActorReader, tipset: Tipset): void {
    const { chain, minimumGas } = this.#deps
    const priority = new Set<string>()
    for (const address of this.#config.priorityAddrs) {
      const sender = this.#senders.tryResolve(address, this.#tipset)
      if (sender !== undefined) priority.add(sender.key)
    }
    const baseFee = feeCapLowerBound(chain.computeBaseFee(tipset), KEEP_BASE_FEE_DIVISOR)
    const pruned = choosePruned(
      this.#pending.senders(),
      (sender) => priority.has(sender.key) || this.#pending.isLocal(sender),
      actors,
      { baseFee, epoch: tipset.height, minimumGas },
      { messages: this.#config.sizeLimitLow, bytes: POOL_BYTES_LOW },
    )
    for (const { sender, nonce } of pruned) this.#pending.remove(sender, nonce, false)
  }

  /** What the chain has for good leaves the disk; what it has, but may lose again, is kept there and passed over. */
  async #loadLocal(): Promise<void> {
    const late: SignedMessage[] = []
    for (const signed of this.#locals.load()) {
      try {
        await this.#loadOne(signed)
      } catch (error) {
        if (!(error instanceof BlockMissing) || this.#deps.chain.fetching === undefined) throw error
        late.push(signed)
      }
    }
    if (late.length > 0) void this.#loadLate(late)
  }

  /** Those whose state has to be fetched: peers that have it may come later, so until it is here. */
  async #loadLate(messages: readonly SignedMessage[]): Promise<void> {
    const { chain, logger } = this.#deps
    for (const signed of messages) {
      while (!this.#timers.closed) {
        try {
          await chain.fetching?.(() => this.#loadOne(signed))
          break
        } catch (error) {
          logger.debug('mempool: message from disk waits', { error: errorMessage(error) })
          await this.#timers.pause(LATE_RETRY_MS)
        }
      }
    }
  }

  /** Changes nothing before it has read all that it needs. @throws BlockMissing */
  async #loadOne(signed: SignedMessage): Promise<void> {
    const sender = this.#senders.tryResolve(signed.message.from, this.#tipset)
    const isFinal = this.#isFinal(signed.message)
    if (sender !== undefined) this.#pending.markLocal(sender)
    if (isFinal) this.#locals.delete([signed])
    else await this.#addLoaded(signed)
  }

  #isFinal({ from, nonce }: Message): boolean {
    const { chain } = this.#deps
    const tipset = chain.finalTipset(this.#tipset)
    return tipset !== undefined && (chain.stateBefore(tipset).actor(from)?.nonce ?? 0n) > nonce
  }

  /** As a local push, but it is on disk already and nothing is sent. */
  async #addLoaded(signed: SignedMessage): Promise<void> {
    try {
      // before the signature is checked: most of what is on disk has been included long ago
      const after = await this.#stateAfterHead()
      if (this.#nonces.next(signed.message.from, this.#tipset, after) > signed.message.nonce) return
      const pooled = createPooledMessage(signed)
      await this.#admit(pooled, { local: true, untrusted: false }, (admitted) => this.#placeNow(pooled, admitted))
    } catch (error) {
      if (error instanceof BlockMissing) throw error
      this.#deps.logger.warn('mempool: message from disk not added', {
        cid: signedMessageCid(signed).toString(),
        error: errorMessage(error),
      })
    }
  }

  #scheduleRepublish(): void {
    if (this.#timers.closed) return
    this.#timers.after(this.#options.republishIntervalMs, () => {
      this.#republishSoon()
      this.#scheduleRepublish()
    })
  }

  #republishSoon(): void {
    void this.republish().catch((error: unknown) => {
      this.#deps.logger.warn('mempool: republishing failed', { error: errorMessage(error) })
    })
  }
}

/** A pool that follows the chain and holds what was ours before. */
export async function openMessagePool(deps: MessagePoolDeps, options: MessagePoolOptions): Promise<MessagePool> {
  const pool = new MessagePool(deps, options)
  await pool.start()
  return pool
}
