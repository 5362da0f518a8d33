/**
 * The ports that a node without `--listen` took when it was started last: with them its peers, which keep its addresses, find it again.
 * What another program has taken since is left to it.
 */
import { fromUtf8, utf8 } from '../../src/base/bytes.ts'
import { PetrelError, unlessThrown } from '../../src/base/errors.ts'
import type { KeyValueStore } from '../../src/base/ports.ts'
import { assertPortFree } from './assertPortFree.ts'

const PREFIX = 'p2p/port/'

/** What a node listens on by itself, each on a port of its own. */
const KINDS = [
  { name: 'tcp', transport: 'tcp', pattern: /^\/ip4\/[^/]+\/tcp\/(\d+)$/, after: '' },
  { name: 'ws', transport: 'tcp', pattern: /^\/ip4\/[^/]+\/tcp\/(\d+)\/ws$/, after: '/ws' },
  {
    name: 'webrtc',
    transport: 'udp',
    pattern: /^\/ip4\/[^/]+\/udp\/(\d+)\/webrtc-direct(?:\/|$)/,
    after: '/webrtc-direct',
  },
] as const

const MAX_PORT = 0xffff

/** 0: none, or none that is readable. */
function keptPort(store: KeyValueStore, name: string): number {
  const bytes = store.get(utf8(PREFIX + name))
  const port = Number(bytes && unlessThrown(() => fromUtf8(bytes), PetrelError))
  return Number.isInteger(port) && port > 0 && port <= MAX_PORT ? port : 0
}

/** Multiaddrs for TCP, WebSocket and WebRTC: on the ports of the last start where they are free, else on any. */
export function keptListen(ip: string, store: KeyValueStore): Promise<string[]> {
  return Promise.all(
    KINDS.map(async ({ name, transport, after }) => {
      const port = keptPort(store, name)
      const isFree = await assertPortFree(ip, port, '', transport).then(
        () => true,
        () => false,
      )
      return `/ip4/${ip}/${transport}/${isFree ? port : 0}${after}`
    }),
  )
}

/** Keeps the ports of what is listened on for the next start, where the disk takes them. @param addresses - multiaddrs */
export function keepPorts(addresses: readonly string[], store: KeyValueStore): void {
  for (const { name, pattern } of KINDS) {
    const port = addresses.map((address) => pattern.exec(address)?.[1]).find((found) => found !== undefined)
    if (port === undefined || Number(port) === keptPort(store, name)) continue
    unlessThrown(() => store.put(utf8(PREFIX + name), utf8(port)), PetrelError)
  }
}
