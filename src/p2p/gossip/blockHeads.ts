/**
 * Heads out of the blocks topic, for a node that passes no block on: the parents of a block that others sent are a tipset that
 * its producer held for the head, and every block of it is there. Nothing of it is checked here.
 */
import type { Clock } from '../../base/ports.ts'
import type { ChainEpoch } from '../../types/scalars.ts'
import type { TipsetKey } from '../../types/tipset.ts'
import type { PeerName } from '../peerLinks.ts'
import type { PubSub } from '../pubSub.ts'
import { BLOCK_BOUNDS } from './limits.ts'
import { PeerGater } from './peerGater.ts'
import { readBlockMsg } from './readBlockMsg.ts'
import { peerGater } from './scores.ts'
import { guardTopic } from './topicGuard.ts'
import { blocksTopic } from './topics.ts'

/** What {@link followBlockHeads} works with. */
export interface BlockHeadsDeps {
  readonly pubsub: PubSub
  /** The one in the genesis' init actor. */
  readonly networkName: string
  readonly clock: Clock
  /** @param from - who passed the block on; @param height - of the block that names them: the parents are below it */
  readonly onHead: (from: PeerName, parents: TipsetKey, height: ChainEpoch) => void
}

/** Joins the topic. @returns what leaves it */
export function followBlockHeads({ pubsub, networkName, clock, onHead }: BlockHeadsDeps): () => void {
  const topic = blocksTopic(networkName)
  const guarded = guardTopic({
    bounds: BLOCK_BOUNDS,
    clock,
    gater: new PeerGater(peerGater(networkName, false), clock),
    onVerdict: () => undefined,
    validate: ({ data, from }) => {
      const block = readBlockMsg(data.slice())
      if ('verdict' in block) return Promise.resolve(block)
      onHead(from, block.header.parents, block.header.height)
      // Whether it is valid, others say: without their word for it, it goes no further from here.
      return Promise.resolve({ verdict: 'ignore', reason: 'not_judged' })
    },
  })
  return pubsub.join(topic, guarded.validate, guarded.isWelcome)
}
