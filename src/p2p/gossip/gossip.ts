/**
 * Blocks and messages by gossip: the two topics, what is published, and where what comes in goes.
 *
 *   blocks topic -> BlockValidator -> passed on, and BlockGatherer -> onBlock (the syncer), listeners
 *   messages topic -> the pool -> passed on
 *
 * The topics of F3 are not joined: a node that follows finality by certificates needs neither votes nor chains.
 * @see lotus node/modules/services.go HandleIncomingBlocks, HandleIncomingMessages
 */
import { Breather } from '../../base/breather.ts'
import { errorMessage, PetrelError } from '../../base/errors.ts'
import type { Clock, Logger, Timers } from '../../base/ports.ts'
import type { BlockMessages } from '../../chain/blockMessages.ts'
import type { ChainView } from '../../chain/chainView.ts'
import { encode } from '../../codec/description.ts'
import type { BlockEdge, BlockSource } from '../../ipld/blockFetcher.ts'
import type { MessagePool } from '../../mempool/messagePool.ts'
import type { Network } from '../../networks/network.ts'
import { type BlockHeader, headerCid } from '../../types/blockHeader.ts'
import { BLOCK_MESSAGE_LIMIT } from '../../types/protocol.ts'
import type { PeerLinks, PeerName } from '../peerLinks.ts'
import { MERIT_TAGS } from '../peers/peerTags.ts'
import type { PubSub } from '../pubSub.ts'
import { BlockGatherer } from './blockGatherer.ts'
import { type BlockMsg, blockMsg, type FullBlock, toBlockMsg } from './blockMsg.ts'
import { BlockValidator, type BlockValidatorDeps } from './blockValidator.ts'
import { GossipError } from './errors.ts'
import { BLOCK_BOUNDS, JUDGING_MS, LEAST_PATIENCE_MS, MESSAGE_BOUNDS, MESSAGES_REST_MS } from './limits.ts'
import { validateMessage } from './messageValidator.ts'
import { whenNearSync } from './nearSync.ts'
import { PeerGater } from './peerGater.ts'
import { BLOCK_PEER_WEIGHT, MAX_OWN_BLOCK_BYTES, MESSAGE_LIST_LIMIT, MESSAGES_FROM_EPOCHS } from './rules.ts'
import { peerGater } from './scores.ts'
import { guardTopic } from './topicGuard.ts'
import { blocksTopic, messagesTopic } from './topics.ts'

const MS = 1000
/** Envelope beside payload and topic, bytes: peer ID, sequence number, signature, tags and lengths. */
const ENVELOPE_BYTES = 124

/** What gossip is made of. */
export interface GossipDeps extends Pick<BlockValidatorDeps, 'onBeyond'> {
  readonly pubsub: PubSub
  /** The one in the genesis' init actor. */
  readonly networkName: string
  readonly view: ChainView
  /** Takes messages of others; undefined: none are wanted. */
  readonly pool: Pick<MessagePool, 'add'> | undefined
  /** Runs a read of state, fetching what it misses: `BlockFetcher.run`, or a plain call where all state is here. */
  readonly readState: BlockEdge
  /** Where messages of blocks are asked for when they are not at hand: bitswap. */
  readonly source: BlockSource | undefined
  /** Where all messages of a block are asked for when that takes long: the chain exchange. */
  readonly whole?: (block: BlockMsg, signal: AbortSignal) => Promise<BlockMessages>
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
  /** For the syncer. @returns whether it is of use; then its sender is worth keeping */
  readonly onBlock: (from: PeerName, block: FullBlock) => boolean | undefined
  readonly links?: Pick<PeerLinks, 'tag'>
  /** Joins the messages topic at once rather than when the chain is near the clock. */
  readonly bootstrapper?: boolean
}

/** What came in, by verdict and reason, and what is under way. */
export interface GossipStats {
  /** `blocks accept`, `messages ignore NONCE_GAP`, … */
  readonly verdicts: ReadonlyMap<string, number>
  readonly blocksWaiting: number
  readonly blocksGathering: number
  readonly blocksDropped: number
}

/** Gossip, running. */
export interface Gossip {
  /**
   * Sends a block of ours. That nobody is there to hear it is no error.
   * @throws GossipError `BLOCK_INVALID`, `BLOCK_TOO_LARGE`; P2pError
   */
  publishBlock(header: BlockHeader, messages: BlockMessages): Promise<void>
  /**
   * Sends a signed message of the pool (its CBOR); failures are only logged: the pool sends it again.
   * @returns false: nobody has heard it, and somebody may later
   */
  publishMessage(bytes: Uint8Array, onLost?: () => void): Promise<boolean>
  /** Hears of each block that came whole, and of our own. @returns what ends the subscription */
  onIncomingBlock(listener: (header: BlockHeader) => void): () => void
  stats(): GossipStats
  stop(): void
}

/** Joins the topics. */
export function startGossip(deps: GossipDeps): Gossip {
  const { pubsub, networkName, view, clock, timers, log, pool } = deps
  const topics = { blocks: blocksTopic(networkName), messages: messagesTopic(networkName) }
  const listeners = new Set<(header: BlockHeader) => void>()
  const verdicts = new Map<string, number>()
  const validator = new BlockValidator(deps)

  const tell = (header: BlockHeader): void => {
    for (const listener of [...listeners]) {
      try {
        listener(header)
      } catch (error) {
        log.error('gossip: listener failed', { error: errorMessage(error) })
      }
    }
  }
  const gatherer = new BlockGatherer({
    blocks: view.store.blocks,
    source: deps.source,
    clock,
    timers,
    log,
    whole: deps.whole,
    patienceMs: patienceMs(view.network),
    onWhole: (from, block) => {
      tell(block.header)
      if (deps.onBlock(from, block) === true) deps.links?.tag(from, MERIT_TAGS.broughtBlock, BLOCK_PEER_WEIGHT)
    },
  })

  // Each topic takes turns of its own: a block does not wait behind a flood of messages.
  const breather = (restMs: number): Breather => new Breather({ clock, timers }, JUDGING_MS, restMs)
  const gater = new PeerGater(peerGater(networkName, deps.bootstrapper ?? false), clock)
  const count = (outcome: string): void => {
    verdicts.set(outcome, (verdicts.get(outcome) ?? 0) + 1)
  }
  const blocks = guardTopic({
    bounds: BLOCK_BOUNDS,
    clock,
    gater,
    breather: breather(0),
    onVerdict: (outcome) => count(`blocks ${outcome}`),
    validate: async (received) => {
      const judged = await validator.validate(received)
      if (judged.verdict === 'accept') gatherer.add(received.from, judged.block)
      return judged
    },
  })
  const leaves = [pubsub.join(topics.blocks, blocks.validate, blocks.isWelcome)]
  if (pool !== undefined) {
    const messages = guardTopic({
      bounds: MESSAGE_BOUNDS,
      clock,
      gater,
      breather: breather(MESSAGES_REST_MS),
      onVerdict: (outcome) => count(`messages ${outcome}`),
      validate: (received) => validateMessage(received, { pool, readState: deps.readState, log }),
    })
    const epochs = deps.bootstrapper === true ? Number.POSITIVE_INFINITY : MESSAGES_FROM_EPOCHS
    leaves.push(
      whenNearSync(view, clock, epochs, () => {
        leaves.push(pubsub.join(topics.messages, messages.validate, messages.isWelcome))
      }),
    )
  }

  return {
    publishBlock: async (header, messages) => {
      const data = ownBlockData({ header, messages }, topics.blocks)
      validator.see(headerCid(header))
      tell(header)
      try {
        await pubsub.publish(topics.blocks, data)
      } catch (error) {
        if (!isNobodyThere(error)) throw error
        log.debug('gossip: block heard by nobody', { cid: headerCid(header).toString() })
      }
    },
    publishMessage: async (bytes, onLost) => {
      try {
        await pubsub.publish(topics.messages, bytes, onLost)
        return true
      } catch (error) {
        log.debug('gossip: message not published', { error: errorMessage(error) })
        // One that is too large nobody will ever hear.
        return error instanceof PetrelError && error.code === 'TOO_LARGE'
      }
    },
    onIncomingBlock: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    stats: () => ({
      verdicts,
      blocksWaiting: gatherer.waiting,
      blocksGathering: gatherer.running,
      blocksDropped: gatherer.dropped,
    }),
    stop: () => {
      for (const leave of leaves) leave()
      gatherer.stop()
      listeners.clear()
    },
  }
}

/** How long a block is waited for without any new message of it, ms: until the next one is due. */
export function patienceMs({
  blockDelaySecs,
  propagationDelaySecs,
}: Pick<Network, 'blockDelaySecs' | 'propagationDelaySecs'>): number {
  return Math.max(LEAST_PATIENCE_MS, (blockDelaySecs + propagationDelaySecs) * MS)
}

function isNobodyThere(error: unknown): boolean {
  return error instanceof PetrelError && error.code === 'NO_PEERS'
}

/**
 * The payload of a block of ours, if others will take it.
 * @see lotus chain/consensus/common.go validateLocalBlock
 */
function ownBlockData(block: FullBlock, topic: string): Uint8Array {
  const { bls, signed } = block.messages
  if (block.header.blockSig === null) {
    throw new GossipError('BLOCK_INVALID', 'Cannot publish block: it has no signature')
  }
  const isTooLong = bls.length > MESSAGE_LIST_LIMIT || signed.length > MESSAGE_LIST_LIMIT
  if (isTooLong || bls.length + signed.length > BLOCK_MESSAGE_LIMIT) {
    throw new GossipError('BLOCK_INVALID', `Cannot publish block: it has ${bls.length + signed.length} messages`)
  }
  const data = encode(blockMsg, toBlockMsg(block))
  const size = data.length + topic.length + ENVELOPE_BYTES
  if (size > MAX_OWN_BLOCK_BYTES) {
    throw new GossipError('BLOCK_TOO_LARGE', `Cannot publish block of ${size} bytes: at most ${MAX_OWN_BLOCK_BYTES}`)
  }
  return data
}
