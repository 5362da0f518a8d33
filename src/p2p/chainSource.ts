/** Where the syncer has tipsets from: the chain exchange with whichever peer answers best. */
import type { BlockMessages } from '../chain/blockMessages.ts'
import type { Tipset, TipsetKey } from '../types/tipset.ts'
import type { PeerName } from './peerLinks.ts'

/** A tipset that came from a peer, with the messages of each of its blocks when they were asked for. */
export interface FetchedTipset {
  readonly tipset: Tipset
  /** In the order of `tipset.blocks`; their lists have the roots that the headers name. */
  readonly messages: readonly BlockMessages[] | undefined
}

/** What is asked for. */
export interface ChainRequest {
  readonly head: TipsetKey
  /** Tipsets from `head` down to genesis, 1 to 900. */
  readonly length: number
  readonly messages: boolean
}

/** An answer that was checked: tipsets that follow one another, from one peer. */
export interface FetchedChain {
  /** Who answered. */
  readonly peer: PeerName
  /** From `head` downwards, each the parent of the one before; fewer than asked for when the peer stopped early. */
  readonly tipsets: readonly FetchedTipset[]
}

/** Fetches tipsets, headers and messages, from the network. */
export interface ChainSource {
  /**
   * Asks one peer after the other.
   * @param prefer - asked first
   * @throws P2pError `NO_PEERS`, `ALL_PEERS_FAILED`
   */
  fetch(request: ChainRequest, options: { prefer?: PeerName; signal?: AbortSignal }): Promise<FetchedChain>
  /**
   * Messages of tipsets whose headers are known, in that order; each block's lists have the roots that its header names.
   * @param tipsets - each the parent of the one before (or all the other way round): what is not takes a question each
   * @throws as {@link fetch}
   */
  fetchMessages(
    tipsets: readonly Tipset[],
    options: { prefer?: PeerName; signal?: AbortSignal },
  ): Promise<readonly (readonly BlockMessages[])[]>
}
