/** The whitelist of IP addresses. */
import { describe, expect, it } from 'vitest'
import { IpWhitelist } from '../../src/p2p/peers/ipWhitelist.ts'

describe('whitelist of IP addresses', () => {
  it('has addresses however they are written, and what lies in a subnet', () => {
    const list = new IpWhitelist(['127.0.0.1', '10.1.0.0/16', '2001:DB8::/32', '::1'])
    for (const ip of ['127.0.0.1', '10.1.255.3', '::ffff:10.1.0.1', '2001:db8:7::1', '0:0:0:0:0:0:0:1']) {
      expect([ip, list.has(ip)]).toEqual([ip, true])
    }
    for (const ip of ['127.0.0.2', '10.2.0.1', '2001:db9::', '::2', 'example.org', '']) {
      expect([ip, list.has(ip)]).toEqual([ip, false])
    }
  })

  it('refuses what is neither', () => {
    for (const item of ['10.0.0.0/33', '10.0.0', 'localhost', '1.2.3.4/8/9']) {
      expect(() => new IpWhitelist([item])).toThrow(`Cannot read ${item}: no IP address and no subnet`)
    }
  })
})
