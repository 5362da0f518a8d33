/** Which addresses the internet can reach. @see go-multiaddr net/private.go */
import { parseIp, parseIpNet } from '../peers/ipNet.ts'
import { ipOfAddress } from './gater.ts'

const NOT_PUBLIC = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  '::/128',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
  'ff00::/8',
  '2001:db8::/32',
].map(parseIpNet)

/** A multiaddr that leads to a public IP directly: no name, no circuit. */
export function isPublicAddress(address: string): boolean {
  if (address.includes('/p2p-circuit')) return false
  const ip = parseIp(ipOfAddress(address) ?? '')
  return ip !== undefined && !NOT_PUBLIC.some((net) => net?.contains(ip))
}

/** A multiaddr that begins with an IP, be it a relay's, that the internet cannot reach. */
export function isPrivateAddress(address: string): boolean {
  const ip = parseIp(ipOfAddress(address) ?? '')
  return ip !== undefined && NOT_PUBLIC.some((net) => net?.contains(ip) === true)
}
