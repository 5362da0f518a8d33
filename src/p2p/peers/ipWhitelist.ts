/** IP addresses from which any number of peers may come. */
import { P2pError } from '../errors.ts'
import { type IpNet, ipText, parseIp, parseIpNet } from './ipNet.ts'

/** A set as gossipsub takes it, with subnets: what lies in one of them is in the set. */
export class IpWhitelist extends Set<string> {
  readonly #subnets: readonly IpNet[]

  /** @param items - addresses, and subnets as `10.0.0.0/8` @throws P2pError `BAD_ADDRESS` */
  constructor(items: readonly string[] = []) {
    super()
    const subnets: IpNet[] = []
    for (const item of items) {
      const subnet = parseIpNet(item)
      const ip = parseIp(item)
      if (subnet !== undefined) subnets.push(subnet)
      else if (ip !== undefined) this.add(ipText(ip))
      else throw new P2pError('BAD_ADDRESS', `Cannot read ${item}: no IP address and no subnet`)
    }
    this.#subnets = subnets
  }

  override has(text: string): boolean {
    const ip = parseIp(text)
    if (ip === undefined) return false
    return super.has(ipText(ip)) || this.#subnets.some((subnet) => subnet.contains(ip))
  }
}
