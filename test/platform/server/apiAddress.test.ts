/** Addresses of the API, whatever kind of host it listens on: a command reads what a node wrote. */
import { expect, test } from 'vitest'
import { endpointUrl } from '../../../platform/cli/rpcClient.ts'
import { apiMultiaddr, apiUrl } from '../../../platform/server/apiAddress.ts'

test.each([
  ['127.0.0.1', '/ip4/127.0.0.1/tcp/1234/http', 'http://127.0.0.1:1234'],
  ['::1', '/ip6/::1/tcp/1234/http', 'http://[::1]:1234'],
  ['localhost', '/dns/localhost/tcp/1234/http', 'http://localhost:1234'],
])('%s is %s and %s', (host, multiaddr, url) => {
  const api = { host, port: 1234 }
  expect([apiMultiaddr(api), apiUrl(api)]).toEqual([multiaddr, url])
  expect(endpointUrl(multiaddr)).toBe(url)
  expect(new URL(url).port).toBe('1234')
})
