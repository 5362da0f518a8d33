/** Which node the page asks; it stands in the page's address, so that a link leads to the same node. */

export type Target =
  | { readonly kind: 'server'; readonly url: string }
  /** A local chain in this tab. */
  | { readonly kind: 'local' }
  /** A node in this tab that follows peers; `peer` is a node's HTTP address, which tells the rest. */
  | { readonly kind: 'follow'; readonly peer: string }

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

/** The target of `#server=…`, `#local`, `#follow=…`; undefined: none is named. */
export function targetOfHash(hash: string): Target | undefined {
  const params = new URLSearchParams(hash.replace(/^#/, ''))
  const server = params.get('server')
  const url = server === null ? undefined : serverUrl(server)
  if (url !== undefined) return { kind: 'server', url }
  if (params.has('local')) return { kind: 'local' }
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
  }
}
