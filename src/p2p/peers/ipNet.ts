/** IP addresses and subnets, as go's net package reads and writes them. */

/** Addresses with a common head. */
export interface IpNet {
  /** Canonical: `10.0.0.0/8`. */
  readonly text: string
  contains(ip: Uint8Array): boolean
}

const V4_BYTES = 4
const V6_BYTES = 16
const V6_GROUPS = 8

/** @returns 4 or 16 bytes (a v4 address inside v6 as 4); undefined when it is none */
export function parseIp(text: string): Uint8Array | undefined {
  const bytes = text.includes(':') ? parseV6(text) : parseV4(text)
  if (bytes === undefined || bytes.length === V4_BYTES) return bytes
  for (let i = 0; i < 10; i++) if (bytes[i] !== 0) return bytes
  return bytes[10] === 0xff && bytes[11] === 0xff ? bytes.slice(12) : bytes
}

function parseV4(text: string): Uint8Array | undefined {
  const parts = text.split('.')
  if (parts.length !== V4_BYTES) return undefined
  const out = new Uint8Array(V4_BYTES)
  for (let i = 0; i < V4_BYTES; i++) {
    const part = parts[i] as string
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined
    out[i] = Number(part)
  }
  return out
}

function parseV6(text: string): Uint8Array | undefined {
  let body = text
  const v4At = text.lastIndexOf(':') + 1
  if (text.includes('.')) {
    const v4 = parseV4(text.slice(v4At))
    if (v4 === undefined) return undefined
    const group = (at: number): string => (((v4[at] as number) << 8) | (v4[at + 1] as number)).toString(16)
    body = `${text.slice(0, v4At)}${group(0)}:${group(2)}`
  }
  const halves = body.split('::')
  if (halves.length > 2) return undefined
  const groupsOf = (half: string | undefined): string[] => (half === undefined || half === '' ? [] : half.split(':'))
  const head = groupsOf(halves[0])
  const tail = groupsOf(halves[1])
  const missing = V6_GROUPS - head.length - tail.length
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined
  const groups = [...head, ...new Array<string>(missing).fill('0'), ...tail]
  const out = new Uint8Array(V6_BYTES)
  for (let i = 0; i < V6_GROUPS; i++) {
    const group = groups[i] as string
    if (!/^[0-9a-fA-F]{1,4}$/.test(group)) return undefined
    const value = Number.parseInt(group, 16)
    out[2 * i] = value >> 8
    out[2 * i + 1] = value & 255
  }
  return out
}

/** Canonical text: v6 in lower case, its longest run of zeros (two groups or more) as `::` (RFC 5952). */
export function ipText(ip: Uint8Array): string {
  if (ip.length === V4_BYTES) return ip.join('.')
  const groups: number[] = []
  for (let i = 0; i < V6_BYTES; i += 2) groups.push(((ip[i] as number) << 8) | (ip[i + 1] as number))
  let start = -1
  let length = 1
  for (let i = 0; i < V6_GROUPS; i++) {
    let end = i
    while (end < V6_GROUPS && groups[end] === 0) end++
    if (end - i > length) {
      start = i
      length = end - i
    }
  }
  const hex = (from: number, to: number): string =>
    groups
      .slice(from, to)
      .map((group) => group.toString(16))
      .join(':')
  return start < 0 ? hex(0, V6_GROUPS) : `${hex(0, start)}::${hex(start + length, V6_GROUPS)}`
}

/** @param text - `10.0.0.0/8`, `fd00::/8`; bits behind the mask are dropped @returns undefined when it is none */
export function parseIpNet(text: string): IpNet | undefined {
  const [address, bits, rest] = text.split('/')
  if (address === undefined || bits === undefined || rest !== undefined || !/^\d{1,3}$/.test(bits)) return undefined
  const ip = parseIp(address)
  const length = Number(bits)
  if (ip === undefined || length > ip.length * 8) return undefined
  const head = ip.slice()
  for (let i = 0; i < head.length; i++) head[i] = (head[i] as number) & maskByte(length, i)
  return {
    text: `${ipText(head)}/${length}`,
    contains: (other) => {
      if (other.length !== head.length) return false
      for (let i = 0; i < head.length; i++) if (((other[i] as number) & maskByte(length, i)) !== head[i]) return false
      return true
    },
  }
}

function maskByte(length: number, at: number): number {
  const bits = Math.min(8, Math.max(0, length - 8 * at))
  return (0xff << (8 - bits)) & 0xff
}
