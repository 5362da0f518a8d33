/** Addresses that others are not told. Masks as in go-multiaddr-mask and lotus node/config NoAnnounceAddresses. */
import { multiaddr } from '@multiformats/multiaddr'
import { afterEach, expect, it } from 'vitest'
import { announceFilter } from '../../src/p2p/host/announceFilter.ts'
import { newHost, stopHosts } from './testHosts.ts'

afterEach(stopHosts)

const ALL = [
  '/ip4/10.1.2.3/tcp/1',
  '/ip4/11.1.2.3/tcp/1',
  '/ip4/11.1.2.3/tcp/2',
  '/ip4/192.168.7.9/udp/4/webrtc-direct',
  '/ip6/fd12::1/tcp/1',
  '/ip6/2001:db8::1/tcp/1',
  '/dns4/example.com/tcp/1',
]

function told(hidden: readonly string[]): string[] {
  return announceFilter(hidden)(ALL.map((one) => multiaddr(one))).map(String)
}

it('takes out exact addresses and what lies inside a mask', () => {
  expect(told([])).toEqual(ALL)
  expect(told(['/ip4/11.1.2.3/tcp/1'])).toEqual(ALL.filter((one) => one !== '/ip4/11.1.2.3/tcp/1'))
  expect(told(['/ip4/10.0.0.0/ipcidr/8', '/ip4/192.168.0.0/ipcidr/16'])).toEqual([
    '/ip4/11.1.2.3/tcp/1',
    '/ip4/11.1.2.3/tcp/2',
    '/ip6/fd12::1/tcp/1',
    '/ip6/2001:db8::1/tcp/1',
    '/dns4/example.com/tcp/1',
  ])
  expect(told(['/ip6/fd00::/ipcidr/8', '/ip4/0.0.0.0/ipcidr/0'])).toEqual([
    '/ip6/2001:db8::1/tcp/1',
    '/dns4/example.com/tcp/1',
  ])
  for (const wrong of ['/ip4/10.0.0.0/ipcidr/33', '/ip4/10.0.0/ipcidr/8', 'nonsense']) {
    expect(() => announceFilter([wrong])).toThrow(expect.objectContaining({ code: 'BAD_ADDRESS' }))
  }
})

it('a host tells nobody of them', async () => {
  const listen = ['/ip4/127.0.0.1/tcp/0']
  const open = await newHost({ listen })
  const hiding = await newHost({ listen, noAnnounce: ['/ip4/127.0.0.0/ipcidr/8'] })
  await open.start()
  await hiding.start()
  expect(open.net.addresses().addresses).toHaveLength(1)
  expect(hiding.net.addresses().addresses).toEqual([])
})
