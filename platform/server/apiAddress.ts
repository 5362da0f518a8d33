/** Where the API listens, as a URL and as a multiaddr: an IPv6 address and a name look other than an IPv4 address does. */
import { isIPv4, isIPv6 } from 'node:net'

/** An address or a name, and a port. */
export interface HostPort {
  readonly host: string
  readonly port: number
}

/** `127.0.0.1:1234`, `[::1]:1234` (RFC 3986, section 3.2.2). */
export function authority({ host, port }: HostPort): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`
}

/** Without a path. */
export function apiUrl(api: HostPort): string {
  return `http://${authority(api)}`
}

/** As it stands in the home's file `api`, which Lotus' command line reads, too. */
export function apiMultiaddr({ host, port }: HostPort): string {
  const kind = isIPv4(host) ? 'ip4' : isIPv6(host) ? 'ip6' : 'dns'
  return `/${kind}/${host}/tcp/${port}/http`
}
