/** What callers without a token share their bounds by. */
const GROUPS = 8
/** Of a network. */
const NETWORK_GROUPS = 4

/** An address; of IPv6 its network of 64 bits: a customer has one or more (RFC 6177), with any number of addresses. */
export function placeOf(address: string): string {
  // IPv4, also as ::ffff:1.2.3.4.
  if (!address.includes(':') || address.includes('.')) return address
  const [before = [], after] = address.split('::').map((part) => (part === '' ? [] : part.split(':')))
  const groups = [...before]
  if (after !== undefined) {
    while (groups.length + after.length < GROUPS) groups.push('0')
    groups.push(...after)
  }
  return groups.slice(0, NETWORK_GROUPS).join(':')
}
