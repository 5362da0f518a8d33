/**
 * Addresses that others are never told.
 * @see lotus node/modules/lp2p/addrs.go MakeAddrsFactory; go-multiaddr-mask ParseMask
 */
import type { Multiaddr } from '@multiformats/multiaddr'
import { P2pError } from '../errors.ts'
import { type IpNet, parseIp, parseIpNet } from '../peers/ipNet.ts'
import { parseAddress } from './addresses.ts'
import { ipOfAddress } from './gater.ts'

const MASK = /^\/ip[46]\/([^/]+)\/ipcidr\/(\d+)$/

/**
 * @param hidden - exact addresses, and masks: `/ip4/10.0.0.0/ipcidr/8` stands for all addresses inside
 * @returns what takes them out of a list
 * @throws P2pError `BAD_ADDRESS`
 */
export function announceFilter(hidden: readonly string[]): (addresses: Multiaddr[]) => Multiaddr[] {
  const exact = new Set<string>()
  const subnets: IpNet[] = []
  for (const text of hidden) {
    const [, ip, bits] = MASK.exec(text) ?? []
    if (ip === undefined) {
      exact.add(parseAddress(text).toString())
      continue
    }
    const subnet = parseIpNet(`${ip}/${bits}`)
    if (subnet === undefined) throw new P2pError('BAD_ADDRESS', `error parsing subnet ${text}: invalid CIDR address`)
    subnets.push(subnet)
  }
  const isHidden = (address: string): boolean => {
    if (exact.has(address)) return true
    const ip = parseIp(ipOfAddress(address) ?? '')
    return ip !== undefined && subnets.some((subnet) => subnet.contains(ip))
  }
  return (addresses) => addresses.filter((address) => !isHidden(address.toString().replace(/\/p2p\/[^/]+$/, '')))
}
