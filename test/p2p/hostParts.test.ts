/** Small parts of the host: certificate (checked by Node's own X.509), datastore, addresses, traffic, identity. */
import { createHash, createPrivateKey, X509Certificate } from 'node:crypto'
import { expect, it } from 'vitest'
import { peerOfAddress, withoutPeer, withPeer } from '../../src/p2p/host/addresses.ts'
import { BoundedDatastore } from '../../src/p2p/host/boundedDatastore.ts'
import { deriveCertificate } from '../../src/p2p/host/certificate.ts'
import { MAX_METERED_NAMES } from '../../src/p2p/host/hostLimits.ts'
import { loadIdentity } from '../../src/p2p/host/identity.ts'
import { Traffic } from '../../src/p2p/host/traffic.ts'
import { ValidationQueue } from '../../src/p2p/host/validationQueue.ts'
import type { Verdict } from '../../src/p2p/pubSub.ts'
import { KeyStore } from '../../src/wallet/keyStore.ts'
import { MemorySecretStore } from '../../src/wallet/secretStore.ts'
import { VirtualTime } from '../support/virtualTime.ts'

const random = { fill: (out: Uint8Array) => void crypto.getRandomValues(out as Uint8Array<ArrayBuffer>) }

it('the certificate: signed by its own key, named by its hash, the same every time', () => {
  for (let i = 0; i < 8; i++) {
    const seed = new Uint8Array(32).fill(i)
    const made = deriveCertificate(seed)
    const certificate = new X509Certificate(made.pem)
    expect(certificate.verify(certificate.publicKey)).toBe(true)
    expect(certificate.checkPrivateKey(createPrivateKey(made.privateKey))).toBe(true)
    expect(certificate.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' })
    expect(Date.parse(certificate.validTo)).toBeGreaterThan(Date.parse('2049-01-01'))
    const hash = createHash('sha256').update(certificate.raw).digest()
    expect(made.certhash).toBe(`u${Buffer.concat([Buffer.from([0x12, 0x20]), hash]).toString('base64url')}`)
    expect(deriveCertificate(seed)).toEqual(made)
  }
})

it('the identity is kept as Lotus keeps it, and refused when it is of another kind', async () => {
  const keystore = new KeyStore(new MemorySecretStore())
  const made = await loadIdentity(keystore, random)
  expect(made.name).toMatch(/^12D3KooW/)
  expect((await loadIdentity(keystore, random)).name).toBe(made.name)
  const { type, privateKey } = await keystore.get('libp2p-host')
  expect(type).toBe('libp2p-host')
  // protobuf: Type = Ed25519 (1), Data = 64 bytes: seed and public key. @see libp2p specs peer-ids
  expect([...privateKey.subarray(0, 4)]).toEqual([0x08, 0x01, 0x12, 0x40])
  expect(privateKey.length).toBe(68)
  const other = new KeyStore(new MemorySecretStore())
  await other.put('libp2p-host', { type: 'libp2p-host', privateKey: new Uint8Array([1, 2, 3]) })
  await expect(loadIdentity(other, random)).rejects.toMatchObject({ code: 'BAD_IDENTITY' })
})

it('addresses: the peer at the end, behind a relay the one behind it', () => {
  const relay = '12D3KooWGnkd9GQKo3apkShQDaq1d6cKJJmsVe6KiQkacUk1T8oZ'
  const peer = '12D3KooWSQARTHX8TvRhzC54E4ibXGp6KcJPZbqpCKXXSZCxAmYT'
  expect(peerOfAddress(`/ip4/1.2.3.4/tcp/5/p2p/${peer}`)).toBe(peer)
  expect(peerOfAddress(`/ip4/1.2.3.4/tcp/5/p2p/${relay}/p2p-circuit`)).toBeUndefined()
  expect(peerOfAddress(`/ip4/1.2.3.4/tcp/5/p2p/${relay}/p2p-circuit/p2p/${peer}`)).toBe(peer)
  expect(peerOfAddress('/dnsaddr/bootstrap.example')).toBeUndefined()
  expect(() => peerOfAddress('nonsense')).toThrowError('failed to parse multiaddr "nonsense"')
  expect(withoutPeer(`/ip4/1.2.3.4/tcp/5/p2p/${peer}`, peer)).toBe('/ip4/1.2.3.4/tcp/5')
  expect(withPeer(`/ip4/1.2.3.4/tcp/5/p2p/${peer}`, peer)).toBe(`/ip4/1.2.3.4/tcp/5/p2p/${peer}`)
})

it('the datastore forgets what was used longest ago', () => {
  const key = (name: string) => ({ toString: () => name }) as never
  const store = new BoundedDatastore(3, 10)
  for (const name of ['/peers/a', '/peers/b', '/peers/c']) store.put(key(name), new Uint8Array([1]))
  store.get(key('/peers/a'))
  store.put(key('/other/d'), new Uint8Array([2]))
  expect(store.size).toBe(3)
  expect(store.has(key('/peers/b'))).toBe(false)
  expect(() => store.get(key('/peers/b'))).toThrowError(expect.objectContaining({ name: 'NotFoundError' }) as Error)
  expect([...store.queryKeys({ prefix: '/peers/' })].map(String)).toEqual(['/peers/c', '/peers/a'])
  expect([...store.query({ prefix: '/', offset: 1, limit: 1 })].map(({ key: found }) => String(found))).toEqual([
    '/peers/a',
  ])
  const batch = store.batch()
  batch.delete(key('/peers/a'))
  batch.put(key('/peers/e'), new Uint8Array([3]))
  expect(store.has(key('/peers/e'))).toBe(false)
  void batch.commit()
  expect([store.has(key('/peers/a')), store.has(key('/peers/e'))]).toEqual([false, true])
})

it('traffic: totals and rates that fade', async () => {
  const time = new VirtualTime()
  const traffic = new Traffic(time, () => 'peer')
  const stream = {
    protocol: '/x',
    readBufferLength: 0,
    send: (_data: { byteLength: number }) => true,
    onData: (_data: { byteLength: number }) => undefined,
  }
  traffic.trackProtocolStream(stream as never)
  for (let i = 0; i < 20; i++) {
    stream.send({ byteLength: 1000 })
    stream.onData({ byteLength: 50 })
    await time.advance(1000)
  }
  const { totalIn, totalOut, rateIn, rateOut } = traffic.totals()
  expect([totalIn, totalOut]).toEqual([1000, 20_000])
  expect(rateOut).toBeGreaterThan(990)
  expect(rateIn).toBeGreaterThan(49)
  expect(traffic.byPeer().get('peer')).toEqual({ totalIn, totalOut, rateIn, rateOut })
  expect(traffic.byProtocol().get('/x')).toEqual({ totalIn, totalOut, rateIn, rateOut })
  await time.advance(60_000)
  expect(traffic.totals().rateOut).toBe(0)
  expect(traffic.totals().totalOut).toBe(20_000)
})

it('traffic is counted of so many names; of one more what was idle longest is forgotten', () => {
  const namesAfter = (streams: number): [protocols: string[], peers: string[]] => {
    let count = 0
    const traffic = new Traffic(new VirtualTime(), () => `peer ${count}`)
    for (; count < streams; count++) {
      const stream = {
        protocol: `/protocol/${count}`,
        readBufferLength: 0,
        send: (_data: { byteLength: number }) => true,
      }
      traffic.trackProtocolStream(stream as never)
      stream.send({ byteLength: 1 })
    }
    return [[...traffic.byProtocol().keys()], [...traffic.byPeer().keys()]]
  }
  for (const [i, names] of namesAfter(MAX_METERED_NAMES).entries())
    expect([names.length, names[0]]).toEqual([MAX_METERED_NAMES, ['/protocol/0', 'peer 0'][i]])
  for (const [i, names] of namesAfter(MAX_METERED_NAMES + 1).entries())
    expect([names.length, names[0]]).toEqual([MAX_METERED_NAMES, ['/protocol/1', 'peer 1'][i]])
})

it('the validation queue: bounded in all and for each peer', async () => {
  const queue = new ValidationQueue(4, 2)
  const give: ((verdict: Verdict) => void)[] = []
  const ask = (peer: string): Promise<Verdict> =>
    queue.run(
      peer,
      () => new Promise((resolve) => give.push(resolve)),
      () => undefined,
    )
  const first = ask('a')
  void ask('a')
  expect(await ask('a')).toBe('ignore')
  void ask('b')
  void ask('c')
  expect(await ask('d')).toBe('ignore')
  expect([queue.size, queue.dropped]).toEqual([4, 2])
  give[0]?.('reject')
  expect(await first).toBe('reject')
  expect(queue.size).toBe(3)
  let failure: unknown
  const failed = await queue.run(
    'e',
    () => Promise.reject(new Error('ours')),
    (error) => {
      failure = error
    },
  )
  expect([failed, String(failure)]).toEqual(['ignore', 'Error: ours'])
})
