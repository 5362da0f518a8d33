/** The libp2p host of a process. Loaded when it is wanted: it is a third of the program. Node and Deno. */
import type { KeyValueStore } from '../../src/base/ports.ts'
import type { Network } from '../../src/networks/network.ts'
import type { NodePorts } from '../../src/node/nodePorts.ts'
import type { P2pHost } from '../../src/p2p/host/host.ts'
import type { KeyStore } from '../../src/wallet/keyStore.ts'
import { ed25519Signing } from './ed25519Signing.ts'
import { keepPorts, keptListen } from './keptPorts.ts'
import type { NetOptions } from './options.ts'

/** What a host is made of here. */
export interface OpenHostDeps {
  readonly network: Network
  /** The one in the genesis' init actor. */
  readonly networkName: string
  readonly keystore: KeyStore
  readonly meta: KeyValueStore
  readonly version: string
  readonly ports: NodePorts
}

const LOOPBACK = '127.0.0.1'

/**
 * Makes a host; it does not listen yet.
 * @throws P2pError `BAD_IDENTITY`, `BAD_ADDRESS`; WalletError
 */
export async function openHost(options: NetOptions, deps: OpenHostDeps): Promise<P2pHost> {
  const { network, networkName, keystore, meta, version, ports } = deps
  const [{ createHost }, { nodeTransports }, { natServices }] = await Promise.all([
    import('../../src/p2p/host/createHost.ts'),
    import('./transports.ts'),
    import('./natServices.ts'),
  ])
  const isLocal = network.beacon.kind === 'mock'
  const isChosen = options.listen.length > 0
  const host = await createHost(
    {
      version,
      networkName,
      listen: isChosen ? options.listen : await keptListen(isLocal ? LOOPBACK : '0.0.0.0', meta),
      announce: options.announce,
      noAnnounce: options.hide,
      bootstrap: [...options.bootstrap, ...network.bootstrap],
      dht: isLocal ? 'server' : 'auto',
      privateAddresses: isLocal,
      relay: true,
      ...(isLocal ? {} : { services: await natServices(options.upnp) }),
    },
    nodeTransports,
    { ...ports, keystore, store: meta, signing: ed25519Signing },
  )
  if (!isChosen) host.onListening((addresses) => keepPorts(addresses, meta))
  return host
}
