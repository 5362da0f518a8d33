/** Net methods over real hosts, and in a node without a network. Shapes: lotus api/types.go, node/impl/net. */
import { afterEach, describe, expect, it } from 'vitest'
import { type Json, parseJson } from '../../src/codec/jsonText.ts'
import { blocksTopic } from '../../src/p2p/gossip/topics.ts'
import type { NetService } from '../../src/p2p/host/netService.ts'
import { OfflineNet } from '../../src/p2p/host/offlineNet.ts'
import { peerPlace } from '../../src/p2p/host/peerPlace.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { HttpHandler } from '../../src/rpc/http.ts'
import { netMethods } from '../../src/rpc/methods/net.ts'
import { PERMISSIONS } from '../../src/rpc/permission.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { connect, NETWORK, startHost, stopHosts, until } from '../p2p/testHosts.ts'
import { silentLog } from '../support/recordedView.ts'
import { verifierOf } from './stubTable.ts'

const STRANGER = '12D3KooWGnkd9GQKo3apkShQDaq1d6cKJJmsVe6KiQkacUk1T8oZ'

afterEach(stopHosts)

interface Asked {
  readonly result?: Json
  readonly error?: { readonly code: number; readonly message: string }
}

function server(net: NetService): { ask(method: string, ...params: Json[]): Promise<Asked>; handler: HttpHandler } {
  const table = createMethodTable(netMethods({ net }))
  const engine = new RpcEngine({ table, json: { addressPrefix: 't' }, log: silentLog })
  const verifier = verifierOf(() => new Set(PERMISSIONS))
  const handler = new HttpHandler(engine, {
    verifier,
    allowedOrigins: ['https://page.example'],
    peer: () => peerPlace(net),
  })
  return {
    handler,
    ask: async (method, ...params) => {
      const answer = await handler.handle({
        verb: 'POST',
        url: '/rpc/v1?token=x',
        header: () => undefined,
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: `Filecoin.${method}`, params }),
      })
      return parseJson(answer.body) as unknown as Asked
    },
  }
}

describe('of a host', () => {
  it('peers, connecting, disconnecting', async () => {
    const [one, other] = [await startHost(), await startHost()]
    const { ask } = server(one.net)
    expect((await ask('ID')).result).toBe(one.id)
    expect((await ask('NetPeers')).result).toEqual([])
    expect((await ask('NetConnectedness', other.id)).result).toBe(0)
    const { id, addresses } = other.net.addresses()
    expect(await ask('NetConnect', { ID: id, Addrs: [...addresses] })).toMatchObject({ result: null })
    await until(() => one.links.speaks(other.id, '/fil/hello/1.0.0'), 'identify')
    expect((await ask('NetConnectedness', other.id)).result).toBe(1)
    expect((await ask('NetPeers')).result).toEqual([{ ID: other.id, Addrs: [addresses[0]] }])
    expect((await ask('NetAgentVersion', other.id)).result).toBe('petrel-test')
    expect((await ask('NetAgentVersion', STRANGER)).error?.message).toBe('item not found')
    expect((await ask('NetFindPeer', other.id)).result).toEqual({ ID: other.id, Addrs: [...addresses] })
    expect((await ask('NetPing', other.id)).result).toBeGreaterThan(1000)
    expect((await ask('NetAddrsListen')).result).toEqual({ ID: one.id, Addrs: [...one.net.addresses().addresses] })
    expect((await ask('NetAutoNatStatus')).result).toEqual({ Reachability: 0, PublicAddrs: null })

    one.links.tag(other.id, 'hello', 10)
    const info = (await ask('NetPeerInfo', other.id)).result as { [key: string]: Json }
    expect(Object.keys(info)).toEqual(['ID', 'Agent', 'Addrs', 'Protocols', 'ConnMgrMeta'])
    expect(info).toMatchObject({ ID: other.id, Agent: 'petrel-test', Addrs: [...addresses] })
    expect(info.Protocols).toContain('/ipfs/id/1.0.0')
    expect(info.ConnMgrMeta).toMatchObject({
      Value: 10,
      Tags: { hello: 10 },
      Conns: { [addresses[0] as string]: expect.stringMatching(/^20\d\d-/) as Json },
    })
    expect((await ask('NetPeerInfo', STRANGER)).result).toEqual({
      ID: STRANGER,
      Agent: '',
      Addrs: null,
      Protocols: [],
      ConnMgrMeta: null,
    })

    expect((await ask('NetDisconnect', other.id)).result).toBe(null)
    await until(() => one.links.peers().length === 0, 'disconnected')
    expect((await ask('NetConnect', { ID: 'x!', Addrs: [] })).error?.message).toContain('failed to parse peer ID')
  })

  it('traffic, scores, scopes', async () => {
    const [one, other] = [await startHost(), await startHost()]
    one.pubsub.join(blocksTopic(NETWORK), () => 'accept')
    other.pubsub.join(blocksTopic(NETWORK), () => 'accept')
    const { ask } = server(one.net)
    await connect(one, other)
    await until(
      () => one.net.scores().length === 1 && one.parts.router.getMeshPeers(blocksTopic(NETWORK)).length === 1,
      'gossip',
    )
    const stats = (await ask('NetBandwidthStats')).result as { [key: string]: number }
    expect(Object.keys(stats)).toEqual(['TotalIn', 'TotalOut', 'RateIn', 'RateOut'])
    expect(stats.TotalIn).toBeGreaterThan(100)
    expect((await ask('NetBandwidthStatsByPeer')).result).toHaveProperty(other.id)
    expect(Object.keys((await ask('NetBandwidthStatsByProtocol')).result as object)).toContain('/ipfs/id/1.0.0')
    expect((await ask('NetPubsubScores')).result).toEqual([
      {
        ID: other.id,
        Score: {
          Score: expect.any(Number) as number,
          Topics: {
            [blocksTopic(NETWORK)]: {
              TimeInMesh: expect.any(Number) as number,
              FirstMessageDeliveries: 0,
              MeshMessageDeliveries: 0,
              InvalidMessageDeliveries: 0,
            },
          },
          AppSpecificScore: 0,
          IPColocationFactor: 0,
          BehaviourPenalty: 0,
        },
      },
    ])
    const { System } = (await ask('NetStat', 'system')).result as { System: { [key: string]: number } }
    expect(System).toMatchObject({ NumConnsInbound: 0, NumConnsOutbound: 1, NumFD: 1 })
    expect(Object.keys((await ask('NetStat', 'all')).result as object)).toEqual([
      'System',
      'Transient',
      'Protocols',
      'Peers',
    ])
    expect((await ask('NetStat', 'nothing')).error?.message).toBe('invalid scope nothing')
    expect((await ask('NetLimit', 'system')).result).toMatchObject({ Conns: 180, FD: 180 })
    const limit = (await ask('NetLimit', 'system')).result as { [key: string]: Json }
    expect(await ask('NetSetLimit', 'system', { ...limit, Conns: 20 })).toMatchObject({ result: null })
    expect((await ask('NetLimit', 'system')).result).toMatchObject({ Conns: 20, ConnsInbound: 20, FD: 20 })
    const refused = async (scope: string, changes: object): Promise<string | undefined> =>
      (await ask('NetSetLimit', scope, { ...limit, ...changes })).error?.message
    expect(await refused('system', { Conns: 1 })).toBe('Conns must be 8 to 65536')
    expect(await refused('system', { Conns: 20, Memory: 5 })).toBe(
      'not supported: another limit of system than Conns (memory)',
    )
    expect(await refused('transient', {})).toBe('not supported: another limit of transient')
    expect(await refused('nothing', {})).toBe('invalid scope nothing')
  })

  it('blocking and protecting', async () => {
    const [one, other] = [await startHost(), await startHost()]
    const { ask } = server(one.net)
    await connect(one, other)
    expect((await ask('NetProtectList')).result).toBe(null)
    await ask('NetProtectAdd', [other.id, STRANGER])
    expect((await ask('NetProtectList')).result).toEqual([other.id])
    await ask('NetProtectRemove', [other.id])
    expect((await ask('NetProtectList')).result).toBe(null)
    expect((await ask('NetBlockList')).result).toEqual({ Peers: [], IPAddrs: null, IPSubnets: null })
    expect((await ask('NetBlockAdd', { Peers: null, IPAddrs: ['x'], IPSubnets: null })).error?.message).toBe(
      'error parsing IP address x',
    )
    expect(
      (await ask('NetBlockAdd', { Peers: [other.id], IPAddrs: ['1.2.3.4'], IPSubnets: ['10.1.2.3/8'] })).result,
    ).toBe(null)
    await until(() => one.links.peers().length === 0, 'disconnected')
    const { id, addresses } = other.net.addresses()
    expect((await ask('NetConnect', { ID: id, Addrs: [...addresses] })).error?.message).toContain('failed to dial')
    expect((await ask('NetBlockList')).result).toEqual({
      Peers: [other.id],
      IPAddrs: ['1.2.3.4'],
      IPSubnets: ['10.0.0.0/8'],
    })
    await ask('NetBlockRemove', { Peers: [other.id], IPAddrs: [], IPSubnets: [] })
    expect((await ask('NetConnect', { ID: id, Addrs: [...addresses] })).result).toBe(null)
  })
})

it('without a network: a name and nobody', async () => {
  const { ask } = server(new OfflineNet(STRANGER))
  expect((await ask('ID')).result).toBe(STRANGER)
  expect((await ask('NetAddrsListen')).result).toEqual({ ID: STRANGER, Addrs: [] })
  expect((await ask('NetPeers')).result).toEqual([])
  expect((await ask('NetPubsubScores')).result).toEqual([])
  expect((await ask('NetBandwidthStats')).result).toEqual({ TotalIn: 0, TotalOut: 0, RateIn: 0, RateOut: 0 })
  expect((await ask('NetBandwidthStatsByPeer')).result).toEqual({})
  expect((await ask('NetConnect', { ID: STRANGER, Addrs: [] })).error?.message).toBe(
    'not supported: connecting in a node without a network (--no-net)',
  )
  expect((await ask('NetListening')).result).toBe(true)
})

it('a tab finds the addresses it can dial', async () => {
  const direct = '/ip4/1.2.3.4/udp/5/webrtc-direct/certhash/uEiA1r_hbxF1auvrW2R47OjbpaTBp8AmllTKCL4OyaThwLw'
  const host = await startHost({ announce: ['/ip4/1.2.3.4/tcp/5', '/dns4/node.example/tcp/443/tls/ws', direct] })
  const { handler } = server(host.net)
  const get = (origin?: string, verb = 'GET') =>
    handler.handle({ verb, url: '/p2p', header: (name) => (name === 'origin' ? origin : undefined), body: '' })
  const { status, headers, body } = await get('https://page.example')
  expect(status).toBe(200)
  expect(headers['Access-Control-Allow-Origin']).toBe('https://page.example')
  const place = JSON.parse(body) as { peerId: string; addrs: string[] }
  expect(place.peerId).toBe(host.id)
  expect(place.addrs).toEqual([`/dns4/node.example/tcp/443/tls/ws/p2p/${host.id}`, `${direct}/p2p/${host.id}`])
  const elsewhere = await get('https://elsewhere.example')
  expect([elsewhere.status, elsewhere.headers['Access-Control-Allow-Origin']]).toEqual([403, undefined])
  expect((await get(undefined, 'POST')).status).toBe(404)
})
