/** Nodes that speak Bitswap with each other in memory. */
import { utf8 } from '../../src/base/bytes.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { type Bitswap, startBitswap } from '../../src/p2p/bitswap/bitswap.ts'
import { BITSWAP_PROTOCOLS, type BitswapMessage, decodeMessage, encodeMessage } from '../../src/p2p/bitswap/messages.ts'
import { ProtoReader } from '../../src/p2p/bitswap/protobuf.ts'
import { MemoryNetwork, type MemoryNode } from '../support/memoryNetwork.ts'
import { VirtualTime } from '../support/virtualTime.ts'

/** The protocol that our own nodes speak. */
export const NEWEST = BITSWAP_PROTOCOLS[0] as string
/** A signal that does not fire. */
export const never = new AbortController().signal

/** A node that serves and fetches. */
export interface SwapNode extends MemoryNode {
  readonly blocks: MemoryBlockstore
  readonly swap: Bitswap
}

/** Nodes in memory, and the time that they live by. */
export class Swaps {
  readonly time = new VirtualTime()
  readonly network = new MemoryNetwork(this.time)
  /** What was warned of, by all nodes. */
  readonly warnings: string[] = []

  add(name: string, ...peers: string[]): SwapNode {
    const node = this.network.addNode(name)
    const blocks = new MemoryBlockstore()
    const quiet = (): void => undefined
    const log = { debug: quiet, info: quiet, warn: (text: string) => void this.warnings.push(text), error: quiet }
    const swap = startBitswap({ links: node.links, blocks, clock: this.time, timers: this.time, log })
    for (const peer of peers) this.network.connect(name, peer)
    return Object.assign(node, { blocks, swap })
  }

  /** A peer that hands each message to `hear`. */
  addScripted(name: string, hear: (message: BitswapMessage, node: MemoryNode) => void | Promise<void>): MemoryNode {
    const node = this.network.addNode(name)
    node.links.handle(NEWEST, async (_, stream) => {
      // One message a stream, as Forest reads.
      const bytes = await stream.read()
      if (bytes === undefined) return
      await stream.closeWrite()
      await hear(decodeMessage(new ProtoReader(bytes).bytes()), node)
    })
    return node
  }
}

/** Sends a message over a stream of its own. */
export async function sendTo(node: MemoryNode, peer: string, message: Partial<BitswapMessage>): Promise<void> {
  const stream = await node.links.open(peer, [NEWEST], never)
  await stream.write(encodeMessage({ wants: [], blocks: [], presences: [], ...message }, NEWEST))
  await stream.closeWrite()
}

/** A block of this text. */
export function block(text: string): { cid: Cid; data: Uint8Array } {
  const data = utf8(text)
  return { cid: blockCid(data), data }
}

/** What was found as text, sorted. */
export function texts(found: readonly (readonly [Cid, Uint8Array])[]): string[] {
  return found.map(([, data]) => new TextDecoder().decode(data)).sort()
}
