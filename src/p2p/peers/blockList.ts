/**
 * Peers, addresses and subnets that the operator refuses.
 * @see lotus node/impl/net/conngater.go; go-libp2p p2p/net/conngater
 */
import { fromUtf8, utf8 } from '../../base/bytes.ts'
import type { KeyValueStore } from '../../base/ports.ts'
import { P2pError } from '../errors.ts'
import type { PeerName } from '../peerLinks.ts'
import { type IpNet, ipText, parseIp, parseIpNet } from './ipNet.ts'

const KEY = utf8('p2p/blocked')

/** What is refused, as text. */
export interface BlockedItems {
  readonly peers: readonly PeerName[]
  readonly addresses: readonly string[]
  readonly subnets: readonly string[]
}

/** The list, kept in the node's store. */
export class BlockList {
  readonly #peers = new Set<PeerName>()
  readonly #addresses = new Set<string>()
  readonly #subnets = new Map<string, IpNet>()
  readonly #store: KeyValueStore | undefined

  constructor(store?: KeyValueStore) {
    this.#store = store
    const kept = store?.get(KEY)
    if (kept === undefined) return
    const { peers, addresses, subnets } = JSON.parse(fromUtf8(kept)) as BlockedItems
    this.#insert({ peers, addresses, subnets })
  }

  /** @throws P2pError `BAD_ADDRESS`, nothing added */
  add(items: BlockedItems): void {
    this.#insert(items)
    this.#save()
  }

  /** @throws P2pError `BAD_ADDRESS` */
  remove(items: BlockedItems): void {
    for (const peer of items.peers) this.#peers.delete(peer)
    for (const address of items.addresses) this.#addresses.delete(ipText(addressOf(address)))
    for (const subnet of items.subnets) this.#subnets.delete(subnetOf(subnet).text)
    this.#save()
  }

  list(): BlockedItems {
    return { peers: [...this.#peers], addresses: [...this.#addresses], subnets: [...this.#subnets.keys()] }
  }

  hasPeer(peer: PeerName): boolean {
    return this.#peers.has(peer)
  }

  /** @param ip - as text; what is no IP address is not on the list */
  hasAddress(ip: string): boolean {
    if (this.#addresses.size === 0 && this.#subnets.size === 0) return false
    const bytes = parseIp(ip)
    if (bytes === undefined) return false
    if (this.#addresses.has(ipText(bytes))) return true
    for (const subnet of this.#subnets.values()) if (subnet.contains(bytes)) return true
    return false
  }

  #insert(items: BlockedItems): void {
    const addresses = items.addresses.map((address) => ipText(addressOf(address)))
    const subnets = items.subnets.map(subnetOf)
    for (const peer of items.peers) this.#peers.add(peer)
    for (const address of addresses) this.#addresses.add(address)
    for (const subnet of subnets) this.#subnets.set(subnet.text, subnet)
  }

  #save(): void {
    this.#store?.put(KEY, utf8(JSON.stringify(this.list())))
  }
}

function addressOf(text: string): Uint8Array {
  const bytes = parseIp(text)
  if (bytes === undefined) throw new P2pError('BAD_ADDRESS', `error parsing IP address ${text}`)
  return bytes
}

function subnetOf(text: string): IpNet {
  const net = parseIpNet(text)
  if (net === undefined) {
    throw new P2pError('BAD_ADDRESS', `error parsing subnet ${text}: invalid CIDR address: ${text}`)
  }
  return net
}
