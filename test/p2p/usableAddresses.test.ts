/** What is kept of where a peer says that it listens: go-libp2p tells its addresses sorted by bytes, private ones first. */
import { afterEach, expect, it } from 'vitest'
import { usableAddresses } from '../../src/p2p/host/usableAddresses.ts'
import { PeerBook } from '../../src/p2p/peers/peerBook.ts'
import { freePort } from '../support/freePort.ts'
import { connect, newHome, startHost, stopHosts, until } from './testHosts.ts'

afterEach(stopHosts)

const PUBLIC = '/ip4/203.0.114.9/tcp/1347'
/** Of a Lotus with an address of its network and two bridges of containers. @see go-libp2p p2p/host/basic addrs_manager.go */
const SAID: readonly string[] = ['10.0.0.5', '172.17.0.1', '172.18.0.1', '203.0.114.9'].flatMap((ip) => [
  `/ip4/${ip}/tcp/1347`,
  `/ip4/${ip}/udp/1347/quic-v1`,
  `/ip4/${ip}/udp/1347/quic-v1/webtransport`,
])

it('leaves out what nothing dials, and private addresses where nobody is met at such; public ones first', () => {
  const isDialable = (address: { toString(): string }): boolean => address.toString().includes('/tcp/')
  const of = (isPrivateUsable: boolean, said = SAID): string[] => usableAddresses(said, isDialable, isPrivateUsable)
  expect(of(false)).toEqual([PUBLIC])
  expect(of(true)).toEqual([PUBLIC, ...['10.0.0.5', '172.17.0.1', '172.18.0.1'].map((ip) => `/ip4/${ip}/tcp/1347`)])
  const peer = '12D3KooWGnkd9GQKo3apkShQDaq1d6cKJJmsVe6KiQkacUk1T8oZ'
  const others = ['nonsense', `/ip6/fd00::1/tcp/1/p2p/${peer}/p2p-circuit`, `${PUBLIC}/p2p/${peer}/p2p-circuit`]
  expect(of(false, [...others, '/dns4/node.example/tcp/1'])).toEqual([
    '/dns4/node.example/tcp/1',
    `${PUBLIC}/p2p/${peer}/p2p-circuit`,
  ])
})

it('a peer that was met is known by what can be dialled', async () => {
  const real = `/ip4/127.0.0.1/tcp/${await freePort()}`
  const lotus = await startHost({ listen: [real], announce: SAID })
  const home = newHome()
  const node = await startHost({ privateAddresses: false }, home)
  await connect(node, lotus, real)
  await node.stop()
  // Where it was dialled it is all the same.
  expect(new PeerBook(8, home.store).find(lotus.id)?.addresses).toEqual([real, PUBLIC])
  const again = await startHost({ privateAddresses: false, peers: { intervalMs: 50 } }, home)
  await until(() => again.links.peers().includes(lotus.id), 'dialled again')
})
