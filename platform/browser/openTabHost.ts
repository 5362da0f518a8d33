/** The libp2p host of a tab. Loaded when it is wanted: a local chain and a snapshot have no peers. */
import type { KeyValueStore } from '../../src/base/ports.ts'
import type { Network } from '../../src/networks/network.ts'
import type { NodePorts } from '../../src/node/nodePorts.ts'
import { createHost } from '../../src/p2p/host/createHost.ts'
import type { P2pHost } from '../../src/p2p/host/host.ts'
import type { KeyStore } from '../../src/wallet/keyStore.ts'
import { TAB_LISTEN, tabTransports } from './transports.ts'
import { VERSION } from './version.ts'

/** What a tab's host is made of. */
export interface TabHostDeps {
  readonly network: Network
  readonly networkName: string
  readonly bootstrap: readonly string[]
  readonly keystore: KeyStore
  readonly meta: KeyValueStore
  readonly ports: NodePorts
}

/**
 * Makes a host; it does not dial yet.
 * @throws P2pError `BAD_IDENTITY`, `BAD_ADDRESS`
 */
export function openTabHost({ network, networkName, bootstrap, keystore, meta, ports }: TabHostDeps): Promise<P2pHost> {
  return createHost(
    {
      version: VERSION,
      networkName,
      listen: TAB_LISTEN,
      bootstrap,
      dht: 'client',
      privateAddresses: network.beacon.kind === 'mock',
    },
    tabTransports(),
    { ...ports, keystore, store: meta },
  )
}
