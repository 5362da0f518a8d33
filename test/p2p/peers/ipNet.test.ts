/** Addresses and subnets. Expected texts: RFC 5952 section 4, RFC 4291 section 2.2, go net/ip_test.go. */
import { expect, it } from 'vitest'
import { isPublicAddress } from '../../../src/p2p/host/publicAddress.ts'
import { ipText, parseIp, parseIpNet } from '../../../src/p2p/peers/ipNet.ts'

const canonical = (text: string): string | undefined => {
  const ip = parseIp(text)
  return ip === undefined ? undefined : ipText(ip)
}

it('reads and writes addresses', () => {
  expect(canonical('127.0.0.1')).toBe('127.0.0.1')
  expect(canonical('2001:0db8:0:0:1:0:0:1')).toBe('2001:db8::1:0:0:1')
  expect(canonical('2001:db8:0:1:1:1:1:1')).toBe('2001:db8:0:1:1:1:1:1')
  expect(canonical('2001:0:0:1:0:0:0:1')).toBe('2001:0:0:1::1')
  expect(canonical('::')).toBe('::')
  expect(canonical('::1')).toBe('::1')
  expect(canonical('FE80::')).toBe('fe80::')
  expect(canonical('::ffff:192.0.2.1')).toBe('192.0.2.1')
  expect(canonical('::ffff:c000:201')).toBe('192.0.2.1')
  expect(canonical('64:ff9b::192.0.2.33')).toBe('64:ff9b::c000:221')
})

it.each([
  '',
  '1.2.3',
  '1.2.3.4.5',
  '256.1.1.1',
  '01.2.3.4',
  '1.2.3.x',
  ':::',
  '1::2::3',
  '1:2:3:4:5:6:7',
  '12345::',
  'g::',
  '1:2:3:4:5:6:7:8:9',
  '::1.2.3',
])('%s is no address', (text) => {
  expect(parseIp(text)).toBeUndefined()
})

it('reads subnets, drops what is behind the mask, tells what is inside', () => {
  const net = parseIpNet('192.168.77.5/16')
  expect(net?.text).toBe('192.168.0.0/16')
  const inside = (text: string): boolean | undefined => net?.contains(parseIp(text) as Uint8Array)
  expect([inside('192.168.0.0'), inside('192.168.255.255'), inside('192.169.0.0'), inside('::1')]).toEqual([
    true,
    true,
    false,
    false,
  ])
  expect(parseIpNet('10.1.2.3/7')?.text).toBe('10.0.0.0/7')
  expect(parseIpNet('fd12::1/8')?.text).toBe('fd00::/8')
  expect(parseIpNet('0.0.0.0/0')?.contains(parseIp('9.9.9.9') as Uint8Array)).toBe(true)
  for (const wrong of ['10.0.0.0', '10.0.0.0/33', '10.0.0.0/-1', '10.0.0/8', 'x/8', '10.0.0.0/8/8']) {
    expect(parseIpNet(wrong)).toBeUndefined()
  }
})

it('knows what the internet can reach', () => {
  const isPublic = (address: string): boolean => isPublicAddress(address)
  expect(
    ['/ip4/8.8.8.8/tcp/1', '/ip6/2606:4700::1111/tcp/1', '/ip4/172.32.0.1/udp/1/webrtc-direct'].every(isPublic),
  ).toBe(true)
  for (const address of [
    '/ip4/127.0.0.1/tcp/1',
    '/ip4/10.2.3.4/tcp/1',
    '/ip4/172.31.0.1/tcp/1',
    '/ip4/192.168.1.1/tcp/1',
    '/ip4/100.64.0.1/tcp/1',
    '/ip4/169.254.1.1/tcp/1',
    '/ip6/::1/tcp/1',
    '/ip6/fd00::1/tcp/1',
    '/ip6zone/eth0/ip6/fe80::1/tcp/1',
    '/dns4/example.com/tcp/1',
    '/ip4/8.8.8.8/tcp/1/p2p/x/p2p-circuit',
  ]) {
    expect([address, isPublicAddress(address)]).toEqual([address, false])
  }
})
