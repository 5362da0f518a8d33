import type { Multiaddr } from '@multiformats/multiaddr'
import { unlessThrown } from '../../base/errors.ts'
import { P2pError } from '../errors.ts'
import { parseAddress } from './addresses.ts'
import { isPrivateAddress } from './publicAddress.ts'

const CIRCUIT = '/p2p-circuit'

/**
 * Of where a peer is said to listen what is worth keeping, the likeliest first: public addresses, those behind a relay, private
 * ones. A Lotus between containers says a dozen, sorted by bytes, and of these one that leads to it.
 * @param isDialable - whether this node has a transport for it
 * @param isPrivateUsable - whether peers are met at private addresses
 * @see go-libp2p p2p/host/basic/addrs_manager.go (the order)
 */
export function usableAddresses(
  said: readonly string[],
  isDialable: (address: Multiaddr) => boolean,
  isPrivateUsable: boolean,
): string[] {
  const usable = said.filter((address) => {
    const parsed = unlessThrown(() => parseAddress(address), P2pError)
    return parsed !== undefined && isDialable(parsed) && (isPrivateUsable || !isPrivateAddress(address))
  })
  const rank = (address: string): number => (isPrivateAddress(address) ? 2 : address.includes(CIRCUIT) ? 1 : 0)
  return usable
    .map((address) => ({ address, rank: rank(address) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ address }) => address)
}
