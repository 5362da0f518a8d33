/** The URL of an index, which may name several servers. */

/** `postgres://user:password@`, `host:port,host:port`, the rest. */
const FORM = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]+)(.*)$/
const DEFAULT_PORT = 5432
const TARGET = 'target_session_attrs'
/** What of libpq's values is known: any server, or one that takes writes. */
const TARGETS: readonly string[] = ['any', 'read-write', 'primary']

/** One URL for each server; empty: it is no URL of PostgreSQL. */
export function serverUrls(url: string): readonly string[] {
  const [, start, hosts, rest] = FORM.exec(url) ?? []
  if (start === undefined || hosts === undefined || rest === undefined) return []
  const urls = hosts.split(',').map((host) => `${start}${host}${rest}`)
  if (!urls.every((text) => URL.canParse(text))) return []
  return urls.map((text) => {
    const server = new URL(text)
    // The library's own search never ends where no server takes writes.
    server.searchParams.delete(TARGET)
    return server.toString()
  })
}

/** Where the server of a URL listens; an IPv6 address without its brackets. */
export function serverAddress(url: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(url)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? DEFAULT_PORT : Number(port) }
}

/** Whether a URL names servers, and asks of them what is known. */
export function isServersUrl(url: string): boolean {
  return serverUrls(url).length > 0 && TARGETS.includes(targetOf(url) ?? 'any')
}

/** Whether only a server is good that takes writes. */
export function wantsPrimary(url: string): boolean {
  return (targetOf(url) ?? 'any') !== 'any'
}

function targetOf(url: string): string | null {
  return new URLSearchParams(url.split('?')[1] ?? '').get(TARGET)
}

/** `postgres://user@host:5432,host:5432/name`: what may be shown of {@link serverUrls}. */
export function shownUrl(urls: readonly string[]): string {
  const [first, ...others] = urls.map((text) => new URL(text))
  if (first === undefined) return 'postgres'
  first.password = ''
  first.search = ''
  return first.toString().replace(first.host, [first, ...others].map(({ host }) => host).join(','))
}
