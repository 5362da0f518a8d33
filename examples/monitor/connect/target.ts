/** Which node the page asks; it stands in the page's address, so that a link leads to the same node. */

export type Target =
  | { readonly kind: 'server'; readonly url: string }
  /** A local chain in this tab. */
  | { readonly kind: 'local' }
  /** A node in this tab that follows peers; `peer` is a node's HTTP address, which tells the rest. */
  | { readonly kind: 'follow'; readonly peer: string }
  /** A light node in this tab: `network` is built in, unless the page brings one of its own. */
  | {
      readonly kind: 'light'
      readonly network: string
      /** RPC endpoints that it asks and does not believe. */
      readonly sources: readonly string[]
      /** Multiaddrs of peers to begin with; none: the network's own. */
      readonly peers: readonly string[]
    }

/** `ws://host/rpc/v1` of whatever address of a node a person writes; undefined: it is none. */
export function serverUrl(text: string): string | undefined {
  const given = text.trim()
  const full = /^[a-z]+:\/\//i.test(given) ? given : `ws://${given}`
  if (given === '' || !URL.canParse(full)) return undefined
  const url = new URL(full)
  const protocols: Readonly<Record<string, string>> = { 'http:': 'ws:', 'https:': 'wss:', 'ws:': 'ws:', 'wss:': 'wss:' }
  const protocol = protocols[url.protocol]
  if (protocol === undefined || url.host === '') return undefined
  return `${protocol}//${url.host}${url.pathname === '/' ? '/rpc/v1' : url.pathname}`
}

/** `https://…` of an RPC endpoint that a person writes; undefined: it is none. */
function endpointUrl(text: string): string | undefined {
  const url = serverUrl(text.includes('://') ? text : `https://${text}`)
  return url?.replace(/^ws/, 'http')
}

/** A light node's sources as a person writes them, apart by spaces: RPC endpoints, and multiaddrs of peers; undefined: one is neither. */
export function lightSources(text: string): { sources: string[]; peers: string[] } | undefined {
  const found: { sources: string[]; peers: string[] } = { sources: [], peers: [] }
  for (const address of text.split(/[\s,]+/).filter(Boolean)) {
    if (address.startsWith('/')) {
      found.peers.push(address)
      continue
    }
    const url = endpointUrl(address)
    if (url === undefined) return undefined
    found.sources.push(url)
  }
  return found
}

/** The target of `#server=…`, `#local`, `#follow=…`, `#light=…&from=…`; undefined: none is named. */
export function targetOfHash(hash: string): Target | undefined {
  const params = new URLSearchParams(hash.replace(/^#/, ''))
  const server = params.get('server')
  const url = server === null ? undefined : serverUrl(server)
  if (url !== undefined) return { kind: 'server', url }
  if (params.has('local')) return { kind: 'local' }
  const network = params.get('light')
  if (network !== null && network !== '') {
    const from = lightSources(params.getAll('from').join(' '))
    return from === undefined ? undefined : { kind: 'light', network, ...from }
  }
  const peer = params.get('follow')
  return peer === null || peer === '' ? undefined : { kind: 'follow', peer }
}

export function hashOf(target: Target): string {
  switch (target.kind) {
    case 'server':
      return `#server=${target.url}`
    case 'local':
      return '#local'
    case 'follow':
      return `#follow=${target.peer}`
    case 'light': {
      const from = [...target.sources, ...target.peers].map((source) => `&from=${encodeURIComponent(source)}`)
      return `#light=${target.network}${from.join('')}`
    }
  }
}
