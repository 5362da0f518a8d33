import type { KadDHT } from '@libp2p/kad-dht'
import type { Libp2p } from 'libp2p'
import type { PeerName } from '../peerLinks.ts'
import type { Bans } from '../peers/bans.ts'
import type { BlockList } from '../peers/blockList.ts'
import type { IpWhitelist } from '../peers/ipWhitelist.ts'
import type { PeerTags } from '../peers/peerTags.ts'
import type { ConnectionBounds, HostLimits } from './hostLimits.ts'
import type { HostLinks } from './hostLinks.ts'
import type { HostOptions, HostPorts } from './hostOptions.ts'
import type { HostPubSub } from './hostPubSub.ts'
import type { HostIdentity } from './identity.ts'
import type { Router } from './router.ts'
import type { Traffic } from './traffic.ts'

/** What a host is put together of, see `createHost`. */
export interface HostParts {
  readonly node: Libp2p
  readonly identity: HostIdentity
  readonly router: Router
  readonly dht: KadDHT
  readonly links: HostLinks
  readonly pubsub: HostPubSub
  readonly bans: Bans
  readonly blocked: BlockList
  readonly tags: PeerTags
  readonly traffic: Traffic
  readonly limits: HostLimits
  readonly connections: ConnectionBounds
  readonly ipWhitelist: IpWhitelist
  /** Multiaddrs of the bootstrap peers, and their names where those are in them. */
  readonly bootstrap: readonly string[]
  readonly bootstrappers: ReadonlySet<PeerName>
  readonly options: HostOptions
  readonly ports: HostPorts
}
