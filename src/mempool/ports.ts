/** What the pool needs of the rest of the node, as narrow as it goes. */
import type { Steps } from '../base/steps.ts'
import type { BlockMessages } from '../chain/blockMessages.ts'
import type { HeadListener } from '../chain/headChange.ts'
import type { Cid } from '../codec/cid.ts'
import type { BlockEdge } from '../ipld/blockFetcher.ts'
import type { ActorState } from '../types/actor.ts'
import type { Address } from '../types/address.ts'
import type { BlockHeader } from '../types/blockHeader.ts'
import type { ChainMessage } from '../types/chainMessage.ts'
import type { Message } from '../types/message.ts'
import type { ChainEpoch, TokenAmount } from '../types/scalars.ts'
import type { SignedMessage } from '../types/signedMessage.ts'
import type { Tipset, TipsetKey } from '../types/tipset.ts'

/** What of a sender decides which of its messages can be in the next block. */
export type SenderState = Pick<ActorState, 'nonce' | 'balance'>

/** Actors of one state. */
export interface ActorReader {
  /** @returns undefined when the address is unknown */
  actor(address: Address): ActorState | undefined
  /**
   * The same, with every block hashed that is read: asked before anybody is blamed for what was read here.
   * @throws BlockDamaged
   */
  checkedActor(address: Address): ActorState | undefined
  /** For who asks about every sender of the pool. */
  senders(): Steps<(address: Address) => SenderState | undefined>
}

/** The chain as the pool sees it. Synchronous parts may throw `BlockMissing`; then nothing has changed. */
export interface MempoolChain {
  head(): Tipset
  /** @returns what ends the subscription */
  onHeadChange(listener: HeadListener): () => void
  loadTipset(key: TipsetKey): Tipset
  blockMessages(header: BlockHeader): BlockMessages
  /** Messages of all its blocks in execution order, each once. */
  tipsetMessages(tipset: Tipset): readonly ChainMessage[]
  /** Keeps a message loadable by its CID. */
  putMessage(message: Message): void
  putSignedMessage(message: SignedMessage): void
  /** The state that the tipset builds on. */
  stateBefore(tipset: Tipset): ActorReader
  /** The state that executing the tipset leaves. */
  stateAfter(tipset: Tipset): Promise<ActorReader>
  /** Base fee of a block on top of the tipset, attoFIL per gas. */
  computeBaseFee(tipset: Tipset): TokenAmount
  /**
   * The key address behind an f0 address, read in the state 900 epochs back so that no reorg changes it.
   * @throws when it has none
   */
  keyAddressAtFinality(address: Address, tipset: Tipset): Address
  /** The ancestor of a tipset that no reorg takes away any more; undefined when the chain is too short. */
  finalTipset(tipset: Tipset): Tipset | undefined
  networkVersion(epoch: ChainEpoch): number
  /**
   * Runs until the blocks that it misses are here; `run` may be called many times. Undefined where all state is at hand,
   * so that nothing throws `BlockMissing`.
   */
  readonly fetching?: BlockEdge
  /** Name of an actor's code in its manifest: `account`, `ethaccount`, `placeholder`, …; undefined when unknown. */
  actorKind(code: Cid): string | undefined
}

/** Checks the signature of a message against its sender. */
export interface MessageVerifier {
  /** @returns Lotus' text for what is wrong, undefined when nothing is */
  messageSignatureError(signed: SignedMessage): string | undefined
  /** Whether BLS messages hold, all in one check, which is cheaper. False: some may not, each has to be asked about. */
  areBlsMessagesValid(all: readonly SignedMessage[]): boolean
}

/**
 * Sends the CBOR of a signed message to the network. Without a network it does nothing.
 * @param onLost - called once if all peers that it was sent to leave soon after: nobody may have heard it
 * @returns false: there is a network, nobody there has heard it, and somebody may later. Never rejects.
 */
export type MessagePublisher = (bytes: Uint8Array, onLost?: () => void) => Promise<boolean>
