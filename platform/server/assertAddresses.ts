/** Looks whether a node can meet others by the addresses that it was given, before a start has written anything. */
import { assertPortFree } from './assertPortFree.ts'
import { PlatformError } from './errors.ts'
import type { NetOptions } from './options.ts'

/**
 * @throws PlatformError `CONFIG_INVALID`: a bootstrap address that names no peer; `ADDRESS_IN_USE`, `LISTEN_FAILED`;
 *   P2pError `BAD_ADDRESS`
 */
export async function assertAddresses({ listen, announce, hide, bootstrap }: NetOptions): Promise<void> {
  // libp2p's share of it is loaded only where there is something to read.
  if ([...listen, ...announce, ...hide, ...bootstrap].length === 0) return
  const [{ parseAddress, peerOfAddress }, { announceFilter }] = await Promise.all([
    import('../../src/p2p/host/addresses.ts'),
    import('../../src/p2p/host/announceFilter.ts'),
  ])
  for (const address of announce) parseAddress(address)
  announceFilter(hide)
  for (const address of bootstrap) {
    if (peerOfAddress(address) !== undefined) continue
    const message = `Cannot connect to ${address} first: it names no peer, expected /p2p/<peer ID> at its end`
    throw new PlatformError('CONFIG_INVALID', message)
  }
  for (const address of listen) {
    const components = parseAddress(address).getComponents()
    const ip = components.find(({ name }) => name === 'ip4' || name === 'ip6')?.value
    const port = components.find(({ name }) => name === 'tcp' || name === 'udp')
    if (ip === undefined || port === undefined) continue
    await assertPortFree(ip, Number(port.value), '--listen', port.name === 'udp' ? 'udp' : 'tcp')
  }
}
