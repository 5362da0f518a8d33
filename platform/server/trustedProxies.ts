/**
 * Whose word for their clients' addresses counts. Bounds of callers without a token are by address: behind a reverse proxy all of
 * them would share its own. What a client writes into `X-Forwarded-For` itself stands left of what the proxy adds, so it is read from
 * the right, up to the first address that is no proxy's.
 */
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { MAX_PROXY_HOPS } from '../../src/base/bounds.ts'
import { PlatformError } from './errors.ts'

/** IPv4 as IPv6 writes it. */
const MAPPED = '::ffff:'
const FAMILIES = { 4: ['ipv4', 32], 6: ['ipv6', 128] } as const

/** An address as proxies write it, with a port or in brackets; undefined: it is none. */
function addressIn(text: string): string | undefined {
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
  const address = bare.toLowerCase().startsWith(MAPPED) && bare.includes('.') ? bare.slice(MAPPED.length) : bare
  // A zone says something on its own machine alone.
  return isIP(address) === 0 || address.includes('%') ? undefined : address
}

/** @throws PlatformError `CONFIG_INVALID` */
function addTo(list: BlockList, network: string): void {
  const [, address = '', prefix] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(network) ?? []
  const family = isIP(address)
  const isOne = (family === 4 || family === 6) && !address.includes('%')
  const [kind, width] = FAMILIES[family === 6 ? 6 : 4]
  const bits = prefix === undefined ? width : Number(prefix)
  if (!isOne || bits > width) {
    const reason = `expected an address or a network (10.0.0.0/8), got "${network}"`
    throw new PlatformError('CONFIG_INVALID', reason, { network })
  }
  if (bits === 0) {
    const reason = `${network} is everybody: each caller could choose its address`
    throw new PlatformError('CONFIG_INVALID', reason, { network })
  }
  list.addSubnet(address, bits, kind)
}

/** See the file's head. */
export class TrustedProxies {
  #list = new BlockList()
  #isEmpty = true

  /**
   * @param networks - addresses, or networks of them: `10.0.0.0/8`, `fd00::/8`
   * @throws PlatformError `CONFIG_INVALID` for what is neither, or is everybody
   */
  constructor(networks: readonly string[]) {
    this.replace(networks)
  }

  /** From now on these, and no others. @throws as the constructor; then those from before stay */
  replace(networks: readonly string[]): void {
    const list = new BlockList()
    for (const network of networks) addTo(list, network)
    this.#list = list
    this.#isEmpty = networks.length === 0
  }

  #trusts(address: string): boolean {
    return this.#list.check(address, address.includes(':') ? 'ipv6' : 'ipv4')
  }

  /** Address of who asks: the connection's own, or what a trusted proxy says of it. */
  clientOf({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): string {
    const own = socket.remoteAddress ?? ''
    if (this.#isEmpty) return own
    let client = addressIn(own)
    if (client === undefined) return own
    // Of a header that comes several times node:http makes one.
    const said = String(headers['x-forwarded-for'] ?? '')
    let end = said.length
    for (let hop = 0; hop < MAX_PROXY_HOPS && end > 0 && this.#trusts(client); hop++) {
      const start = said.lastIndexOf(',', end - 1)
      const before = addressIn(said.slice(start + 1, end).trim())
      // Whatever is left of it nobody vouches for.
      if (before === undefined) return client
      client = before
      end = start
    }
    return client
  }
}
