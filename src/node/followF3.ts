/**
 * Finality on a node: the calculator, and F3 where the network has it. Certificates are kept, served, fetched from peers, and
 * what they make final becomes the checkpoint. Wiring only.
 */
import { F3 } from '../consensus/f3/f3.ts'
import { f3ManifestOf } from '../consensus/f3/manifest.ts'
import { Finality } from '../consensus/finality.ts'
import type { BlockEdge } from '../ipld/blockFetcher.ts'
import { CertClient } from '../p2p/certExchange/client.ts'
import { serveCertExchange } from '../p2p/certExchange/server.ts'
import type { PeerLinks } from '../p2p/peerLinks.ts'
import { F3Follower } from '../sync/f3Follower.ts'
import type { TipsetKey } from '../types/tipset.ts'
import type { NodeLight, NodeParts, NodeReplica } from './nodeParts.ts'
import type { NodePorts } from './nodePorts.ts'

/** What is known about finality. */
export interface NodeFinality {
  /** undefined: the network has no F3. */
  readonly f3: F3 | undefined
  readonly finality: Finality
}

/** What of a node says what is final. */
interface FinalityParts extends Pick<NodeParts, 'view' | 'meta' | 'keptCertificates'> {
  readonly light?: Pick<NodeLight, 'f3'> | undefined
  readonly replica?: Pick<NodeReplica, 'final'> | undefined
}

/** Reads what an earlier run kept; nothing runs. A light node knows what is final by certificates alone, a replica is told. */
export function openFinality({ view, meta, light, replica, keptCertificates: kept }: FinalityParts): NodeFinality {
  const { network, store } = view
  const { chainFinality, safeHeightDistance: safeDistance } = network.protocol
  if (replica !== undefined) {
    const finality = new Finality({
      store,
      chainFinality,
      safeDistance,
      f3: () => replica.final(),
      byCertificatesAlone: true,
    })
    return { f3: undefined, finality }
  }
  const manifest = f3ManifestOf(network)
  const f3 = light?.f3 ?? (manifest === undefined ? undefined : new F3({ view, manifest, store: meta, kept }))
  const finality = new Finality({
    store,
    chainFinality,
    safeDistance,
    ...(f3 === undefined
      ? {}
      : { f3: () => f3.finalizedTipset(), onF3: (listener) => f3.onCertificate(() => listener()) }),
    byCertificatesAlone: light !== undefined,
  })
  return { f3, finality }
}

/** What following takes besides F3 itself: peers, and the syncer's checkpoint. */
export interface FollowF3Deps {
  readonly f3: F3
  readonly links: PeerLinks
  /** Runs what reads the chain, fetching what is missing. */
  readonly edge: BlockEdge
  /** The syncer's. */
  readonly checkpoint: (key: TipsetKey) => Promise<void>
}

/** Serves certificates and asks for new ones. @returns what ends both */
export function followF3({ f3, links, edge, checkpoint }: FollowF3Deps, ports: NodePorts): { stop(): Promise<void> } {
  const { clock, timers, log } = ports
  const f3Network = f3.manifest.networkName
  const peers = new CertClient({ links, f3Network, clock, timers })
  const server = serveCertExchange({ links, f3Network, certificates: f3, clock, timers, log })
  const follower = new F3Follower({ f3, peers, links, clock, timers, log, run: edge, checkpoint })
  follower.start()
  return {
    stop: async () => {
      server.stop()
      await follower.stop()
    },
  }
}
