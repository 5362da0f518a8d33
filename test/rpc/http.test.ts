import { describe, expect, it } from 'vitest'
import { httpRequest, stubHandler } from './stubTable.ts'

const call = (method: string, params: unknown[] = [], id: unknown = 1): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })

describe('HTTP', () => {
  it('serves both namespaces', async () => {
    for (const name of ['Node.StateNetworkName', 'Filecoin.StateNetworkName']) {
      const answer = await stubHandler().handle(httpRequest('POST', '/rpc/v0', call(name)))
      expect(answer.body).toBe('{"id":1,"jsonrpc":"2.0","result":"testing"}\n')
    }
  })

  it('takes a token in the query, the header first', async () => {
    const handler = stubHandler()
    const body = call('Filecoin.WalletList')
    expect((await handler.handle(httpRequest('POST', '/rpc/v1?token=write', body))).body).toContain('"result":[]')
    expect((await handler.handle(httpRequest('POST', '/rpc/v1?token=bad', body))).status).toBe(401)
    const both = httpRequest('POST', '/rpc/v1?token=write', body, { authorization: 'Bearer read' })
    expect((await handler.handle(both)).body).toContain('missing permission')
    expect((await handler.handle(httpRequest('POST', '/rpc/v1', body, { authorization: 'write' }))).status).toBe(401)
  })

  it('refuses one byte more than the limit', async () => {
    const body = call('Filecoin.StateNetworkName')
    const fits = stubHandler({ maxRequestBytes: body.length })
    expect((await fits.handle(httpRequest('POST', '/rpc/v1', body))).status).toBe(200)
    const tight = stubHandler({ maxRequestBytes: body.length - 1 })
    const answer = await tight.handle(httpRequest('POST', '/rpc/v1', body))
    expect(answer.status).toBe(500)
    expect(answer.body).toBe(
      `{"error":{"code":-32700,"message":"request bigger than maximum ${body.length - 1} allowed"},"id":null,"jsonrpc":"2.0"}\n`,
    )
  })

  it('refuses one that says how long it is before any of it is read, in the same words', async () => {
    const body = 'x'.repeat(200)
    const handler = stubHandler({ maxRequestBytes: 199 })
    const asked = (length: number) =>
      handler.admit(httpRequest('POST', '/rpc/v1', '', { 'content-length': `${length}` }))
    expect(asked(199)).toBe(199)
    expect(asked(200)).toEqual(await handler.handle(httpRequest('POST', '/rpc/v1', body)))
  })

  it('ignores what follows the first value', async () => {
    const answer = await stubHandler().handle(
      httpRequest('POST', '/rpc/v1', `${call('Filecoin.StateNetworkName')} trailing }`),
    )
    expect(answer.body).toBe('{"id":1,"jsonrpc":"2.0","result":"testing"}\n')
  })

  it('matches keys of the request without regard to case', async () => {
    const answer = await stubHandler().handle(
      httpRequest('POST', '/rpc/v1', '{"ID":7,"Method":"Filecoin.StateNetworkName","PARAMS":null}'),
    )
    expect(answer.body).toBe('{"id":7,"jsonrpc":"2.0","result":"testing"}\n')
  })

  it('says in health answers what is taken for granted', async () => {
    const silent = await stubHandler().handle(httpRequest('GET', '/health/livez', ''))
    expect([silent.status, silent.body]).toEqual([200, ''])
    const handler = stubHandler({
      presumed: () => 'presumed: seals',
      health: { live: () => [], ready: () => [{ ok: false, text: 'no peer' }] },
    })
    const ready = await handler.handle(httpRequest('GET', '/health/readyz', ''))
    expect([ready.status, ready.body]).toEqual([503, '[!] no peer\npresumed: seals\n'])
    expect((await handler.handle(httpRequest('GET', '/health/livez', ''))).body).toBe('presumed: seals\n')
  })

  it('leaves no CORS header unless the origin is allowed', async () => {
    const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' }
    const closed = await stubHandler().handle(httpRequest('OPTIONS', '/rpc/v1', '', headers))
    expect(closed.status).toBe(403)
    expect(Object.keys(closed.headers)).toEqual(['Content-Type'])
    const open = stubHandler({ allowedOrigins: ['https://app.example'] })
    const preflight = await open.handle(httpRequest('OPTIONS', '/rpc/v1', '', headers))
    expect(preflight.status).toBe(204)
    expect(preflight.headers['Access-Control-Allow-Origin']).toBe('https://app.example')
    // A page reads no other headers than it is let: neither of which epoch an answer is, nor when to come again.
    const answer = await open.handle(
      httpRequest('POST', '/rpc/v1', call('Filecoin.ChainHead'), { origin: 'https://app.example' }),
    )
    const exposed = answer.headers['Access-Control-Expose-Headers']?.split(', ')
    expect(exposed).toEqual(['X-Petrel-Epoch', 'Retry-After'])
    const other = await open.handle(
      httpRequest('POST', '/rpc/v1', call('Filecoin.ChainHead'), { origin: 'https://evil.example' }),
    )
    expect(other.headers['Access-Control-Allow-Origin']).toBeUndefined()
  })

  it('serves a v1 method on v0 but not on v2', async () => {
    const answer = await stubHandler().handle(httpRequest('POST', '/rpc/v2', call('Filecoin.StateNetworkName')))
    expect(answer.status).toBe(500)
    expect(answer.body).toContain("method 'Filecoin.StateNetworkName' not found")
  })
})
