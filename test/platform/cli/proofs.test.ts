/** `proofs fetch` refuses places that are none, and names those that do not answer. */
import { describe, expect, it } from 'vitest'
import { commandLine } from './commandLine.ts'

const { run } = commandLine()

describe('proofs', () => {
  it('fetch: a peer that cannot be reached is named, with what was wanted of it', async () => {
    const peer = '/ip4/127.0.0.1/tcp/9/p2p/12D3KooWGzxzKZYveHXtpG6AsrUJBcWxHBFS2HsEoGTxrMLvKXtf'
    const { code, err } = await run(['proofs', 'fetch', 'calibnet', '--from', peer])
    expect(code).toBe(1)
    expect(err).toContain(`${peer}: failed to dial`)
    expect(err).toContain('could not fetch v28-')
  })

  it.each([
    ['notaplace', 'expected an address of http(s), or a multiaddr'],
    ['ftp://example.org/', 'expected an address of http(s), or a multiaddr'],
    ['/ip4/127.0.0.1/tcp/9', 'ends with /p2p/ and a peer ID'],
    ['/ip4/127.0.0.1/tcp/banana', 'failed to parse multiaddr'],
    ['/ip4/127.0.0.1/tcp/9/p2p/12D3KooWbad', 'Incorrect length'],
  ])('fetch: %s is refused as usage before any place is asked', async (place, why) => {
    const { code, err } = await run(['proofs', 'fetch', 'calibnet', '--from', 'http://127.0.0.1:9', '--from', place])
    expect(err).toContain(`--from ${place}: `)
    expect(err).toContain(why)
    expect(err).not.toContain('could not fetch')
    expect(code).toBe(2)
  })
})
