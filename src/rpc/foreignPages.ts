/**
 * Keeps web pages out that the operator has not let in. A page can send a POST to any address that its browser reaches
 * (`no-cors`, a form): what tells it from everybody else are headers that it cannot choose, Origin, Host, Sec-Fetch-Site.
 *
 * A page whose name was bound to this address after it was loaded (DNS rebinding) calls its own origin, so for callers
 * without a token the name itself must be one that nobody outside can have: an address, `localhost`, a name without a dot,
 * or one that the operator gave.
 *
 * An extension of the browser (a wallet) is no page: its user installed it, and no page can send its origin. As of any other program
 * its token says what it may do; without one it may read.
 */

/** What is looked at of a request. */
export interface RequestHeaders {
  /** The value of a header, any case of the name. */
  header(name: string): string | undefined
}

/** Who is let in besides. */
export interface PageRules {
  /** Origins of pages that may call; `*`: all. */
  readonly origins: readonly string[]
  /** Names under which this node is reached, without a port. */
  readonly hosts: readonly string[]
}

const IP_V4 = /^\d{1,3}(\.\d{1,3}){3}$/
/** Names that the public name system does not give out. @see RFC 6761, RFC 8375, ICANN's reservation of `internal` */
const PRIVATE_NAMES = ['.localhost', '.internal', '.home.arpa', '.local']

/**
 * Origins of extensions. What they are granted is their manifest's affair: no CORS header is for them.
 * @see W3C WebExtensions, `runtime.getURL`; Chrome, Firefox and Safari each have a scheme
 */
const EXTENSION = /^(?:chrome|moz|safari-web)-extension:\/\//

/** Host of a `Host` header or an authority, lower case, without its port. */
function hostName(authority: string): string {
  const end = authority.startsWith('[') ? authority.indexOf(']') + 1 : authority.indexOf(':')
  return (end > 0 ? authority.slice(0, end) : authority).toLowerCase().replace(/\.$/, '')
}

/** Whether a page of the sender's browser made the request, that has no business here. */
export function isForeignPage(request: RequestHeaders, { origins }: PageRules): boolean {
  if (origins.includes('*')) return false
  const origin = request.header('origin')
  if (origin === undefined) {
    const site = request.header('sec-fetch-site')
    return site === 'cross-site' || site === 'same-site'
  }
  if (origins.includes(origin) || EXTENSION.test(origin)) return false
  const host = request.header('host')
  // A page of this node itself. Whether the name is ours is another question.
  return host === undefined || (origin !== `http://${host}` && origin !== `https://${host}`)
}

/** Whether the request names this node by a name that a stranger may own. */
export function isForeignName(request: RequestHeaders, { origins, hosts }: PageRules): boolean {
  const host = request.header('host')
  if (host === undefined || origins.includes('*')) return false
  const name = hostName(host)
  if (name.startsWith('[') || IP_V4.test(name) || !name.includes('.')) return false
  return !hosts.includes(name) && !PRIVATE_NAMES.some((end) => name.endsWith(end))
}
