/** What the parts of the pool share: the pending messages, the tipset that they wait on, and the one door into the set. */
import { errorMessage } from '../../base/errors.ts'
import type { Clock, KeyValueStore, Logger, Timers } from '../../base/ports.ts'
import { encode } from '../../codec/description.ts'
import { allAtHand, type BlockEdge } from '../../ipld/blockFetcher.ts'
import { type Address, isIdAddress } from '../../types/address.ts'
import { type SignedMessage, signedMessage } from '../../types/signedMessage.ts'
import type { Tipset } from '../../types/tipset.ts'
import { signedMessagesOf } from '../blockMessagesOf.ts'
import { ClosableTimers } from '../closableTimers.ts'
import type { MempoolConfig } from '../config.ts'
import { loadConfig } from '../configStore.ts'
import { MempoolError } from '../errors.ts'
import { POOL_BYTES_HIGH } from '../limits.ts'
import { type KeptMessage, LocalMessages } from '../localMessages.ts'
import type { MessageSet, Placement } from '../messageSet.ts'
import type { MinimumGas } from '../minimumGas.ts'
import { PendingMessages } from '../pendingMessages.ts'
import type { PooledMessage } from '../pooledMessage.ts'
import type { ActorReader, MempoolChain, MessagePublisher, MessageVerifier } from '../ports.ts'
import { Reservations } from '../reservations.ts'
import { SenderNonces } from '../senderNonces.ts'
import { Senders } from '../senders.ts'
import { SignatureCheck } from '../signatureCheck.ts'

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
  /** Uniform in [0, 1): shuffles what fills the rest of a block, so that producers' blocks differ. */
  readonly random: () => number
  /** Around what the checks of our own messages read: fetches what they miss. Default: all is at hand, or its caller fetches it. */
  readonly edge?: BlockEdge | undefined
}

/** Settings that do not change while it runs. */
export interface MessagePoolOptions {
  /** First letter of addresses in texts and settings. */
  readonly addressPrefix: 'f' | 't'
  /** Time between two rounds of republishing, ms. Lotus: 10 block delays and the propagation delay, at least 130 s. */
  readonly republishIntervalMs: number
}

/** The state of one pool. */
export class PoolState {
  readonly deps: MessagePoolDeps
  readonly options: MessagePoolOptions
  readonly pending: PendingMessages = new PendingMessages()
  /** Messages with a place that are on their way to disk. */
  readonly reserved: Reservations = new Reservations()
  readonly senders: Senders
  readonly nonces: SenderNonces
  readonly signatures: SignatureCheck
  readonly locals: LocalMessages
  /** Messages on disk that have no place in the pool yet. */
  readonly returning: Set<KeptMessage> = new Set<KeptMessage>()
  readonly timers: ClosableTimers
  readonly edge: BlockEdge
  /** The tipset that pending messages wait on. */
  tipset: Tipset
  config: MempoolConfig

  constructor(deps: MessagePoolDeps, options: MessagePoolOptions) {
    this.deps = deps
    this.options = options
    this.senders = new Senders(deps.chain)
    this.nonces = new SenderNonces(deps.chain, this.senders, options.addressPrefix)
    this.signatures = new SignatureCheck(deps.verifier)
    this.locals = new LocalMessages(deps.store)
    this.config = loadConfig(deps.store, options)
    this.timers = new ClosableTimers(deps.timers)
    this.edge = deps.edge ?? allAtHand
    this.tipset = deps.chain.head()
  }

  /**
   * State after the pool's tipset; waits again if the head moves meanwhile.
   * @throws {@link MempoolError} `CLOSED`
   */
  async stateAfterHead(): Promise<ActorReader> {
    for (;;) {
      if (this.timers.closed) throw new MempoolError('CLOSED', 'Cannot use the message pool: it is closed')
      const tipset = this.tipset
      const actors = await this.deps.chain.stateAfter(tipset)
      if (tipset === this.tipset) return actors
    }
  }

  /** Sends a message to the network, as {@link MessagePublisher} does. */
  publish({ signed }: PooledMessage, onLost?: () => void): Promise<boolean> {
    return this.deps.publish(encode(signedMessage, signed), onLost)
  }

  /** Gives a message its place. It becomes loadable by both its CIDs. */
  place(sender: Address, pooled: PooledMessage, placement: Placement, stateNonce: () => bigint): void {
    const { chain, logger } = this.deps
    this.pending.add(sender, pooled, placement, stateNonce)
    this.pending.of(sender)?.waits(pooled.message.nonce, this.tipset.height)
    this.signatures.remember(pooled)
    try {
      chain.putSignedMessage(pooled.signed)
      chain.putMessage(pooled.message)
    } catch (error) {
      // Of no weight: whoever puts it in a block stores it with the block.
      logger.debug('mempool: a message is not loadable by its CID', { error: errorMessage(error) })
    }
  }

  /** The address by which a sender's messages are kept. */
  keyOf(sender: Address): Address {
    return isIdAddress(sender) ? this.senders.resolve(sender, this.tipset) : sender
  }

  /** A sender's pending messages. */
  setOf(sender: Address): MessageSet | undefined {
    return this.pending.of(this.keyOf(sender))
  }

  /** Messages of a tipset, those of BLS keys with the signatures that are known. */
  messagesOf(tipset: Tipset): SignedMessage[] {
    return signedMessagesOf(tipset.blocks, this.deps.chain, this.signatures)
  }

  /** Whether there is more in it than it should hold. */
  get isAboveHigh(): boolean {
    return this.pending.size > this.config.sizeLimitHigh || this.pending.bytes > POOL_BYTES_HIGH
  }
}
