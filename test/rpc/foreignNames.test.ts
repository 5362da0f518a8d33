/** What a node tells of itself beside its methods is told to the same: no page that was not let in, and nobody by a name that a stranger may own. */
import { describe, expect, it } from 'vitest'
import { httpRequest, stubHandler } from './stubTable.ts'

const OWN = '127.0.0.1:1234'
const TOLD = 'what the node tells of itself'
const PATHS = ['/p2p', '/metrics', '/debug/metrics', '/monitor/', '/health/livez', '/health/readyz']
const PEER = { peerId: TOLD, addrs: [] }

async function asked(path: string, headers: Record<string, string>, who: object = {}) {
  const handler = stubHandler({
    metrics: () => TOLD,
    peer: () => PEER,
    presumed: () => TOLD,
    health: { live: () => [{ ok: true, text: TOLD }], ready: () => [{ ok: false, text: TOLD }] },
    files: (name) => (name === '/monitor/' ? { status: 200, headers: {}, body: TOLD } : undefined),
    ...who,
  })
  const { status, body } = await handler.handle(httpRequest('GET', path, '', headers))
  return { status, isTold: body.includes(TOLD) }
}

/** Statuses of health answers count: the node lives, and is not ready. */
const HEALTH: Readonly<Record<string, number>> = { '/health/livez': 200, '/health/readyz': 503 }

describe.each(PATHS)('%s', (path) => {
  const told = { status: HEALTH[path] ?? 200, isTold: true }
  const kept = { status: HEALTH[path] ?? 403, isTold: false }

  it.each([
    ['a name bound to this address', { host: 'evil.example:1234' }],
    ['such a name, from its own page', { host: 'evil.example:1234', 'sec-fetch-site': 'same-origin' }],
    ['such a name with a void token', { host: 'evil.example', authorization: 'Bearer void' }],
    ["such a name with a proxy's credentials", { host: 'evil.example', authorization: 'Basic eDp5' }],
    ['a name that looks like an address', { host: '127.0.0.1.evil.example' }],
  ])('is kept from %s', async (_, headers) => {
    expect(await asked(path, headers as Record<string, string>)).toEqual(kept)
  })

  it.each([
    ['a page of another origin', { host: OWN, origin: 'https://evil.example' }],
    ['a page that hides where it is from', { host: OWN, 'sec-fetch-site': 'cross-site' }],
    ['such a page with a token', { host: OWN, origin: 'https://evil.example', authorization: 'Bearer read' }],
  ])('is kept from %s, but that links may lead to files', async (_, headers) => {
    expect(await asked(path, headers as Record<string, string>)).toEqual(path === '/monitor/' ? told : kept)
  })

  it.each([
    ['a scraper, a load balancer by address', { host: OWN }],
    ['one of HTTP/1.0, without Host', {}],
    ['IPv6', { host: '[::1]:1234' }],
    ['a browser that is told the address', { host: 'localhost:1234', 'sec-fetch-site': 'none' }],
    ['a container', { host: 'petrel:1234' }],
    ['a service of Kubernetes', { host: 'petrel.filecoin.svc.cluster.local:1234' }],
    ['a page of the node itself', { host: OWN, origin: `http://${OWN}` }],
  ])('is told to %s', async (_, headers) => {
    expect(await asked(path, headers as Record<string, string>)).toEqual(told)
  })

  it('is told to whom the operator lets in', async () => {
    const name = { host: 'node.example' }
    expect(await asked(path, name, { allowedHosts: ['node.example'] })).toEqual(told)
    const page = { host: OWN, origin: 'https://app.example' }
    expect(await asked(path, page, { allowedOrigins: ['https://app.example'] })).toEqual(told)
    expect(await asked(path, { ...name, ...page, host: 'evil.example' }, { allowedOrigins: ['*'] })).toEqual(told)
  })
})

it('a token makes up for the name, but of a file, which takes none', async () => {
  const named = { host: 'node.example', authorization: 'Bearer read' }
  for (const path of PATHS) expect((await asked(path, named)).isTold, path).toBe(path !== '/monitor/')
})

it('what is not there is told to anybody', async () => {
  for (const host of [OWN, 'evil.example']) expect((await asked('/nowhere', { host })).status).toBe(404)
})
