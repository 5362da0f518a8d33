/** Peers as sources: each for certificates, all together, by bitswap, for blocks. */
import type { BlockSource } from '../ipld/blockFetcher.ts'
import type { CertClient } from '../p2p/certExchange/client.ts'
import type { PeerName } from '../p2p/peerLinks.ts'
import type { LightSource } from './lightSource.ts'

/** What blocks of all peers are listed under. */
const ALL_PEERS = 'peers'

/** What {@link peerSources} asks. */
export interface PeerSourcesDeps {
  readonly certificates: Pick<CertClient, 'peers' | 'request'>
  readonly blocks: BlockSource
  /** What came from peers, bytes; 0 where nobody counts. */
  readonly bytesReceived: () => number
}

/** @returns the sources that there are now; the same object for the same peer */
export function peerSources({ certificates, blocks, bytesReceived }: PeerSourcesDeps): () => readonly LightSource[] {
  const known = new Map<PeerName, LightSource>()
  const all: LightSource = {
    name: ALL_PEERS,
    kind: 'peer',
    get bytesReceived() {
      return bytesReceived()
    },
    blocks: (cids, signal) => blocks.fetch(cids, signal),
  }
  return () => {
    const peers = certificates.peers()
    for (const name of known.keys()) if (!peers.includes(name)) known.delete(name)
    for (const name of peers) if (!known.has(name)) known.set(name, certificateSource(name, certificates))
    return [all, ...known.values()]
  }
}

function certificateSource(name: PeerName, client: Pick<CertClient, 'request'>): LightSource {
  return {
    name,
    kind: 'peer',
    // Counted with all peers.
    bytesReceived: 0,
    certificates: async (firstInstance, limit, signal) => {
      const answer = await client.request(name, { firstInstance, limit, includePowerTable: false }, signal)
      return answer.certificates.map(({ certificate }) => certificate)
    },
    powerTable: async (firstInstance, signal) =>
      (await client.request(name, { firstInstance, limit: 0, includePowerTable: true }, signal)).powerTable,
  }
}
