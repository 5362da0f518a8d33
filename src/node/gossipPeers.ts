/** Whom a node could tell of messages and blocks. */
import { blocksTopic, messagesTopic } from '../p2p/gossip/topics.ts'
import type { P2pHost } from '../p2p/host/host.ts'
import type { NodeMethodsDeps } from '../rpc/methods/node.ts'

const NOBODY = { messages: [], blocks: [], scores: [] } as const

/** @param host - undefined: a node that follows nobody */
export function gossipPeers(host: P2pHost | undefined): ReturnType<NodeMethodsDeps['gossip']> {
  if (host === undefined) return NOBODY
  const { pubsub, networkName, net } = host
  return {
    messages: pubsub.subscribers(messagesTopic(networkName)),
    blocks: pubsub.subscribers(blocksTopic(networkName)),
    scores: net.scores(),
  }
}
