/** Output of `net …` in Lotus' layout. @see lotus cli/net.go; dustin/go-humanize bytestest */
import { expect, it } from 'vitest'
import { binarySize, siBytes } from '../../../platform/cli/goFormat.ts'
import { commandLine } from './commandLine.ts'

const ONE = '12D3KooWGnkd9GQKo3apkShQDaq1d6cKJJmsVe6KiQkacUk1T8oZ'
const TWO = '12D3KooWSQARTHX8TvRhzC54E4ibXGp6KcJPZbqpCKXXSZCxAmYT'

const { run, answer, calls } = commandLine()

it('peers: by id, descending; with agents', async () => {
  answer({
    NetPeers: [
      { ID: ONE, Addrs: ['/ip4/1.2.3.4/tcp/5'] },
      { ID: TWO, Addrs: ['/ip4/1.2.3.5/tcp/6'] },
    ],
    NetAgentVersion: 'lotus-1.36.2',
  })
  expect((await run(['net', 'peers'])).out).toBe(`${TWO}, [/ip4/1.2.3.5/tcp/6]\n${ONE}, [/ip4/1.2.3.4/tcp/5]\n`)
  expect((await run(['net', 'peers', '-a'])).out).toBe(
    `${TWO}, [/ip4/1.2.3.5/tcp/6], lotus-1.36.2\n${ONE}, [/ip4/1.2.3.4/tcp/5], lotus-1.36.2\n`,
  )
})

it('listen, id', async () => {
  answer({ NetAddrsListen: { ID: ONE, Addrs: ['/ip4/1.2.3.4/tcp/5', '/ip4/1.2.3.4/tcp/6/ws'] }, ID: ONE })
  expect((await run(['net', 'listen'])).out).toBe(`/ip4/1.2.3.4/tcp/5/p2p/${ONE}\n/ip4/1.2.3.4/tcp/6/ws/p2p/${ONE}\n`)
  expect((await run(['net', 'id'])).out).toBe(`${ONE}\n`)
})

it('connect: one call for each peer, its addresses together', async () => {
  answer({ NetConnect: null })
  const args = [`/ip4/1.2.3.4/tcp/5/p2p/${ONE}`, `/ip4/1.2.3.4/tcp/6/ws/p2p/${ONE}`, `/dns4/a.b/tcp/1/p2p/${TWO}`]
  expect((await run(['net', 'connect', ...args])).out).toBe(`connect ${ONE}: success\nconnect ${TWO}: success\n`)
  expect(calls().map(({ params }) => params)).toEqual([
    [{ ID: ONE, Addrs: ['/ip4/1.2.3.4/tcp/5', '/ip4/1.2.3.4/tcp/6/ws'] }],
    [{ ID: TWO, Addrs: ['/dns4/a.b/tcp/1'] }],
  ])
})

it('connect by peer ID alone', async () => {
  answer({ NetConnect: null })
  expect((await run(['net', 'connect', ONE])).out).toBe(`connect ${ONE}: success\n`)
  expect(calls().map(({ params }) => params)).toEqual([[{ ID: ONE, Addrs: [] }]])
  expect((await run(['net', 'ping', 'x'])).err).toMatch(/failed to parse peer ID/)
})

it('connect and disconnect say failure and why', async () => {
  answer({})
  const failed = await run(['net', 'disconnect', ONE])
  expect(failed.out).toBe(`disconnect ${ONE}: failure\n`)
  expect(failed.code).toBe(1)
  expect((await run(['net', 'connect', '/ip4/1.2.3.4/tcp/5'])).err).toBe(
    'ERROR: found no ipfs peers at /ip4/1.2.3.4/tcp/5\n',
  )
})

it('connect by miner', async () => {
  // /ip4/127.0.0.1/tcp/1234 in binary
  answer({ StateMinerInfo: { PeerId: ONE, Multiaddrs: ['BH8AAAEGBNI='] }, NetConnect: null })
  expect((await run(['net', 'connect', 't01000'])).out).toBe(
    `t01000 -> {${ONE}: [/ip4/127.0.0.1/tcp/1234]}\nconnect ${ONE}: success\n`,
  )
})

it('find-peer, scores, reachability', async () => {
  answer({
    NetFindPeer: { ID: ONE, Addrs: ['/ip4/1.2.3.4/tcp/5', '/ip4/1.2.3.4/udp/5/quic-v1'] },
    NetPubsubScores: [{ ID: ONE, Score: { Score: -99.7444572106237 } }],
    NetAutoNatStatus: { Reachability: 1, PublicAddrs: ['/ip4/1.2.3.4/tcp/5'] },
  })
  expect((await run(['net', 'find-peer', ONE])).out).toBe(`{${ONE}: [/ip4/1.2.3.4/tcp/5 /ip4/1.2.3.4/udp/5/quic-v1]}\n`)
  expect((await run(['net', 'scores'])).out).toBe(`${ONE}, -99.744457\n`)
  expect((await run(['net', 'reachability'])).out).toBe(
    'AutoNAT status:  Public\nPublic address: [/ip4/1.2.3.4/tcp/5]\n',
  )
})

it('ping: each pong and the average', async () => {
  let ns = 0
  answer({
    NetConnect: null,
    NetPing: () => {
      ns += 1_000_000
      return ns
    },
  })
  expect((await run(['net', 'ping', '-c', '3', '-i', '1ms', `/ip4/1.2.3.4/tcp/5/p2p/${ONE}`])).out).toBe(
    `PING ${ONE}\nPong received: time=1ms\nPong received: time=2ms\nPong received: time=3ms\nAverage latency: 2ms\n`,
  )
})

it('bandwidth: columns of the tabwriter', async () => {
  const stats = { TotalIn: 82_854_982, TotalOut: 999, RateIn: 1500.7, RateOut: 0 }
  answer({ NetBandwidthStats: stats, NetBandwidthStatsByProtocol: { '/fil/hello/1.0.0': stats } })
  expect((await run(['net', 'bandwidth'])).out).toBe(
    'Segment  TotalIn  TotalOut  RateIn    RateOut\nTotal    83 MB    999 B     1.5 kB/s  0 B/s\n',
  )
  expect((await run(['net', 'bandwidth', '--by-protocol'])).out).toBe(
    'Segment           TotalIn  TotalOut  RateIn    RateOut\n/fil/hello/1.0.0  83 MB    999 B     1.5 kB/s  0 B/s\n',
  )
})

it('block add, remove, list', async () => {
  answer({
    NetBlockAdd: null,
    NetBlockRemove: null,
    NetBlockList: { Peers: [ONE, TWO], IPAddrs: ['9.9.9.9', '1.2.3.4'], IPSubnets: null },
  })
  await run(['net', 'block', 'add', 'ip', '1.2.3.4'])
  await run(['net', 'block', 'remove', 'peer', ONE])
  expect(calls().map(({ params }) => params[0])).toEqual([
    { Peers: null, IPAddrs: ['1.2.3.4'], IPSubnets: null },
    { Peers: [ONE], IPAddrs: null, IPSubnets: null },
  ])
  expect((await run(['net', 'block', 'list'])).out).toBe(
    `Blocked Peers:\n\t${TWO}\n\t${ONE}\nBlocked IPs:\n\t1.2.3.4\n\t9.9.9.9\n`,
  )
})

it('stat of a scope', async () => {
  const use = {
    NumStreamsInbound: 32,
    NumStreamsOutbound: 0,
    NumConnsInbound: 1,
    NumConnsOutbound: 0,
    NumFD: 1,
    Memory: 0,
  }
  const limit = {
    Streams: 128,
    StreamsInbound: 64,
    StreamsOutbound: 64,
    Conns: 64,
    ConnsInbound: 64,
    ConnsOutbound: 64,
    FD: 64,
  }
  answer({ NetStat: { System: use }, NetLimit: { Memory: 1_572_864, ...limit } })
  const { out } = await run(['net', 'stat', 'system'])
  expect(out.split('\n')[1]).toBe(`\tmemory:      [${' '.repeat(64)}] 0 B/1.5 MiB`)
  expect(out.split('\n')[2]).toBe(`\tstreams in:  [${'|'.repeat(32)}${' '.repeat(32)}] 32/64`)
  expect(JSON.parse((await run(['net', 'limit', 'system'])).out)).toEqual({ Memory: 1_572_864, ...limit })
})

it('protect, unprotect, list-protected', async () => {
  answer({ NetProtectAdd: null, NetProtectRemove: null, NetProtectList: [ONE] })
  expect((await run(['net', 'protect', ONE, TWO])).out).toBe(`added to protected peers:\n ${ONE}\n ${TWO}\n`)
  expect((await run(['net', 'unprotect', ONE])).out).toBe(`removed from protected peers: ${ONE}\n`)
  expect((await run(['net', 'list-protected'])).out).toBe(`${ONE}\n`)
  expect((await run(['net', 'protect', 'nonsense!'])).err).toBe(
    'ERROR: failed to parse peer ID: invalid cid: not base58\n',
  )
})

it('sizes', () => {
  // humanize.Bytes examples: 82854982 -> 83 MB; bytestest: 999 -> 999 B, 1000 -> 1.0 kB, 999*1000*1000 -> 999 MB
  expect([82_854_982, 803, 999, 1000, 999_000_000].map(siBytes)).toEqual([
    '83 MB',
    '803 B',
    '999 B',
    '1.0 kB',
    '999 MB',
  ])
  expect([0, 1024, 1_234_567].map(binarySize)).toEqual(['0 B', '1 KiB', '1.177 MiB'])
})
