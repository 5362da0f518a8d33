/**
 * How a process learns whether the internet reaches it: other nodes dial it back (AutoNAT), and, if wanted, the router opens
 * a port (UPnP, loaded only then: it reads XML). Without AutoNAT libp2p tells nobody of a public address that it listens on.
 * @see lotus node/modules/lp2p/nat.go AutoNATService; libp2p/specs autonat/autonat-v1.md
 */
import { autoNAT } from '@libp2p/autonat'
import type { HostOptions } from '../../src/p2p/host/hostOptions.ts'

/** Services of a process that may be on the internet. @param upnp - asks the router for ports */
export async function natServices(upnp: boolean): Promise<NonNullable<HostOptions['services']>> {
  if (!upnp) return { autonat: autoNAT() }
  const { uPnPNAT } = await import('@libp2p/upnp-nat')
  return { autonat: autoNAT(), upnp: uPnPNAT({ portMappingDescription: 'petrel' }) }
}
