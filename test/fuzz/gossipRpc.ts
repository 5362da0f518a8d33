/**
 * What a peer says on its stream of gossip: subscriptions, envelopes with signatures, control. Read by the router that a node has, with
 * its bounds.
 */

import { generateKeyPairFromSeed } from '@libp2p/crypto/keys'
import type { GossipSub, GossipSubComponents } from '@libp2p/gossipsub'
import { RPC } from '@libp2p/gossipsub/message'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { ed25519 } from '@noble/curves/ed25519.js'
import { concatBytes, utf8 } from '../../src/base/bytes.ts'
import { PetrelError } from '../../src/base/errors.ts'
import { createRouter } from '../../src/p2p/host/router.ts'
import { IpWhitelist } from '../../src/p2p/peers/ipWhitelist.ts'
import type { FuzzTarget } from './fuzzTarget.ts'

const TOPIC = '/fil/msgs/fuzz'
const SECRET = new Uint8Array(32).fill(2)
/** A peer ID that holds its key (Ed25519), as bytes. */
const ID = concatBytes(Uint8Array.of(0, 0x24, 8, 1, 18, 32), ed25519.getPublicKey(SECRET))
const MESSAGE_ID = new Uint8Array(32).fill(3)

function envelope(text: string): RPC.Message {
  const message = { from: ID, data: utf8(text), seqno: new Uint8Array(8).fill(1), topic: TOPIC }
  const signed = concatBytes(utf8('libp2p-pubsub:'), RPC.Message.encode(message))
  return { ...message, signature: ed25519.sign(signed, SECRET) }
}

function seeds(): Uint8Array[] {
  const messages = [envelope('a message'), envelope('another')]
  const control: RPC.ControlMessage = {
    ihave: [{ topicID: TOPIC, messageIDs: [MESSAGE_ID] }],
    iwant: [{ messageIDs: [MESSAGE_ID, MESSAGE_ID] }],
    graft: [{ topicID: TOPIC }],
    prune: [{ topicID: TOPIC, peers: [{ peerID: ID }], backoff: 60 }],
    idontwant: [{ messageIDs: [MESSAGE_ID] }],
  }
  return [
    RPC.encode({ subscriptions: [{ subscribe: true, topic: TOPIC }], messages }),
    RPC.encode({ subscriptions: [], messages: [], control }),
  ]
}

/** The parts of the router's class that its types keep private. */
interface Reader extends GossipSub {
  start(): Promise<void>
  decodeRpc(bytes: Uint8Array): RPC
  handleReceivedRpc(from: unknown, rpc: RPC): Promise<void>
}

async function open(): Promise<{ readonly router: Reader; readonly peer: unknown }> {
  const own = await generateKeyPairFromSeed('Ed25519', new Uint8Array(32).fill(1))
  const log = Object.assign(() => undefined, { error: () => undefined, trace: () => undefined })
  const components = {
    privateKey: own,
    peerId: peerIdFromPrivateKey(own),
    logger: { forComponent: () => log },
    registrar: { handle: () => Promise.resolve(), register: () => Promise.resolve('') },
    connectionManager: { getConnections: () => [] },
    peerStore: { merge: () => Promise.resolve() },
  } as unknown as GossipSubComponents
  const router = createRouter({
    topics: [TOPIC],
    topicScores: {},
    bootstrappers: new Set(),
    hasShown: () => false,
    bootstrapper: false,
    ipWhitelist: new IpWhitelist(),
  })(components) as Reader
  await router.start()
  router.subscribe(TOPIC)
  router.addEventListener('gossipsub:message', () => void accepted++)
  return { router, peer: peerIdFromPrivateKey(await generateKeyPairFromSeed('Ed25519', SECRET)) }
}

const opened = (): ReturnType<typeof open> => (kept ??= open())
let kept: ReturnType<typeof open> | undefined
let way = ''
/** Envelopes that reached the validators. */
let accepted = 0

export const gossipRpc: FuzzTarget = {
  seeds,
  way: () => way,
  run: async (input) => {
    const { router, peer } = await opened()
    let rpc: RPC
    try {
      rpc = router.decodeRpc(input)
    } catch (cause) {
      // The library has no class of its own; its caller passes on to the next RPC.
      throw new PetrelError('MALFORMED', cause instanceof Error ? cause.message : '', {}, { cause })
    }
    const before = accepted
    await router.handleReceivedRpc(peer, rpc)
    const kinds = Object.entries(rpc.control ?? {}).filter(([, of]) => of.length > 0)
    way = `${rpc.subscriptions.length > 0} ${rpc.messages.length > 0} ${accepted > before} ${kinds.map(([kind]) => kind)}`
  },
}
