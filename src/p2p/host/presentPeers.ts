/**
 * What comes from a peer that has left meanwhile is not done any more. The messages of an RPC are checked one by one, with pauses; by
 * the time it comes to what stands behind them, a GRAFT for one, the peer may be gone. Gossipsub would take it into its mesh, and nothing
 * would take it out again: twelve such peers and the node forwards to nobody.
 * @see go-libp2p-pubsub gossipsub.go HandleRPC (a peer's departure and its RPCs are taken one after the other)
 */
import type { PeerName } from '../peerLinks.ts'
import { around } from './around.ts'
import type { Router } from './router.ts'

/** The parts of gossipsub's class that its types keep private. */
interface Receiver {
  readonly peers: ReadonlyMap<PeerName, unknown>
  handleReceivedRpc(from: { toString(): string }, rpc: unknown): Promise<void>
  handleControlMessage(from: PeerName, control: unknown): Promise<void>
  handleIdontwant(from: PeerName, idontwant: unknown): void
}

/** Lets a router hear those peers only that it has. @throws P2pError `NOT_SUPPORTED` */
export function onlyPresentPeers(router: Router): void {
  const receiver = router as unknown as Receiver
  const { peers } = receiver
  around(receiver, 'handleReceivedRpc', (handle) => async (from, rpc) => {
    if (peers.has(from.toString())) await handle(from, rpc)
  })
  // After the messages, and after the peers of a PRUNE were dialled.
  around(receiver, 'handleControlMessage', (handle) => async (from, control) => {
    if (peers.has(from)) await handle(from, control)
  })
  around(receiver, 'handleIdontwant', (handle) => (from, idontwant) => {
    if (peers.has(from)) handle(from, idontwant)
  })
}
