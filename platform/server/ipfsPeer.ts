/** One IPFS node as a source of blocks: a host of its own for as long as that takes, which listens nowhere. */
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { withTimeout } from '../../src/base/waiting.ts'
import type { BlockSource } from '../../src/ipld/blockFetcher.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { startBitswap } from '../../src/p2p/bitswap/bitswap.ts'
import { IPFS_BITSWAP_PROTOCOLS } from '../../src/p2p/bitswap/messages.ts'
import { P2pError } from '../../src/p2p/errors.ts'
import { peerOfAddress } from '../../src/p2p/host/addresses.ts'
import { createHost } from '../../src/p2p/host/createHost.ts'
import type { P2pHost } from '../../src/p2p/host/host.ts'
import { KeyStore } from '../../src/wallet/keyStore.ts'
import { MemorySecretStore } from '../../src/wallet/secretStore.ts'
import { systemClock, systemTimers } from './clock.ts'
import { createLogger } from './logger.ts'
import { systemRandom } from './random.ts'
import { streamTransports } from './streamTransports.ts'
import { petrelVersion } from './version.ts'

/** How long it may take until the peer has said what it speaks, milliseconds. */
const MEET_MS = 20_000

/**
 * Runs with the blocks of one peer.
 * @param address - multiaddr with the peer's ID, of TCP or WebSocket
 * @throws P2pError `BAD_ADDRESS`, `DIAL_FAILED`, `TIMEOUT`, `PROTOCOL_UNSUPPORTED` of a peer without IPFS' bitswap; what `run`
 * throws; the signal's reason
 */
export async function withIpfsPeer<T>(
  address: string,
  signal: AbortSignal,
  run: (source: BlockSource) => Promise<T>,
): Promise<T> {
  const peer = peerOfAddress(address)
  if (peer === undefined) throw new P2pError('BAD_ADDRESS', `${address} does not end with /p2p/ and a peer ID`)
  const log = createLogger({ level: 'silent', format: 'text' })
  const ports = { clock: systemClock, timers: systemTimers, random: systemRandom, log }
  const host = await createHost(
    { version: petrelVersion(), networkName: 'ipfs', listen: [], dht: 'client', privateAddresses: true },
    streamTransports,
    { ...ports, keystore: new KeyStore(new MemorySecretStore()), store: new MemoryStore() },
  )
  const protocols = IPFS_BITSWAP_PROTOCOLS
  const bitswap = startBitswap({ ...ports, links: host.links, blocks: new MemoryBlockstore(), protocols })
  try {
    await host.start()
    await meet(host, peer, address, signal)
    if (!protocols.some((name) => host.links.speaks(peer, name))) {
      throw new P2pError('PROTOCOL_UNSUPPORTED', `${address} is no node of IPFS: it has no ${protocols[0]}`)
    }
    return await run(bitswap.source)
  } finally {
    bitswap.stop()
    await host.stop()
  }
}

/** Connected, and its protocols known. */
function meet(host: P2pHost, peer: string, address: string, signal: AbortSignal): Promise<void> {
  const late = (): P2pError => new P2pError('TIMEOUT', `${address} did not say what it speaks in ${MEET_MS} ms`)
  const dial = async (within: AbortSignal): Promise<void> => {
    let end = (): void => undefined
    try {
      const met = new Promise<void>((resolve) => {
        end = host.links.onIdentified((name) => {
          if (name === peer) resolve()
        })
      })
      await host.net.connect({ id: peer, addresses: [address] }, within)
      await met
    } finally {
      end()
    }
  }
  return withTimeout(systemTimers, MEET_MS, late, dial, signal)
}
