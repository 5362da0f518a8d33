/** Greets with a head: what a follower hears of it is all that it knows of the peer's chain. */
import { encode } from '../../src/codec/description.ts'
import { HELLO_PROTOCOL } from '../../src/p2p/hello.ts'
import { type HelloMessage, helloMessage } from '../../src/p2p/helloMessage.ts'
import type { RawPeer } from './rawPeer.ts'

/** Resolves when the greeting was answered. @throws when it was refused */
export async function claimHead(peer: RawPeer, head: HelloMessage): Promise<void> {
  const hello = await peer.open(HELLO_PROTOCOL)
  await hello.write(encode(helloMessage, head))
  await hello.closeWrite()
  await hello.read()
}
