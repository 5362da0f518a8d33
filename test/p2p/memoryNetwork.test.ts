/** The network of the tests keeps its promises. */
import { describe, expect, it } from 'vitest'
import { utf8 } from '../../src/base/bytes.ts'
import { MemoryNetwork } from '../support/memoryNetwork.ts'
import { VirtualTime } from '../support/virtualTime.ts'

const never = new AbortController().signal
const ECHO = '/echo/1'

function pair(): {
  time: VirtualTime
  network: MemoryNetwork
  a: ReturnType<MemoryNetwork['addNode']>
  b: ReturnType<MemoryNetwork['addNode']>
} {
  const time = new VirtualTime()
  const network = new MemoryNetwork(time)
  const a = network.addNode('a')
  const b = network.addNode('b')
  b.links.handle(ECHO, async (_, stream) => {
    for (let bytes = await stream.read(); bytes !== undefined; bytes = await stream.read()) await stream.write(bytes)
    await stream.closeWrite()
  })
  return { time, network, a, b }
}

describe('memory network', () => {
  it('carries bytes both ways and ends', async () => {
    const { network, a, b } = pair()
    network.connect('a', 'b')
    const stream = await a.links.open('b', ['/other', ECHO], never)
    expect(stream.protocol).toBe(ECHO)
    await stream.write(utf8('one'))
    expect(await stream.read()).toEqual(utf8('one'))
    await stream.closeWrite()
    expect(await stream.read()).toBeUndefined()
    expect(a.openStreams + b.openStreams).toBe(0)
  })

  it('says who is there and when', async () => {
    const { time, network, a, b } = pair()
    const heard: string[] = []
    a.links.onIdentified((peer) => heard.push(`+${peer}`))
    a.links.onDisconnected((peer) => heard.push(`-${peer}`))
    expect(a.links.peers()).toEqual([])
    network.connect('a', 'b')
    await time.settle()
    expect(a.links.speaks('b', ECHO)).toBe(true)
    expect(b.links.speaks('a', ECHO)).toBe(false)
    network.cut('b', 'a')
    await time.settle()
    expect(heard).toEqual(['+b', '-b'])
    await expect(a.links.open('b', [ECHO], never)).rejects.toMatchObject({ code: 'NOT_CONNECTED' })
  })

  it('refuses unknown protocols, resets on a cut, bans', async () => {
    const { network, a } = pair()
    network.connect('a', 'b')
    await expect(a.links.open('b', ['/x'], never)).rejects.toMatchObject({ code: 'PROTOCOL_UNSUPPORTED' })
    const stream = await a.links.open('b', [ECHO], never)
    const read = stream.read()
    network.cut('a', 'b')
    await expect(read).rejects.toMatchObject({ code: 'STREAM_RESET' })
    network.connect('a', 'b')
    a.links.report('b', { fault: 'FALSE_ANSWER', reason: 'lies' })
    expect(a.links.peers()).toEqual([])
    expect(() => network.connect('b', 'a')).toThrow(/Cannot connect/)
  })

  it('delays by its timers, in order', async () => {
    const { time, network, a } = pair()
    network.connect('a', 'b')
    network.setFaults('a', 'b', { delayMs: 100 })
    const stream = await a.links.open('b', [ECHO], never)
    const began = time.nowMs()
    await stream.write(utf8('slow'))
    expect(await time.until(stream.read())).toEqual(utf8('slow'))
    expect(time.nowMs() - began).toBe(100)
  })

  it('makes a writer wait for a reader', async () => {
    const { time, network, a, b } = pair()
    let stream: unknown
    b.links.handle('/sink', async (_, opened) => {
      stream = opened
    })
    network.connect('a', 'b')
    const out = await a.links.open('b', ['/sink'], never)
    await out.write(new Uint8Array(200_000))
    let written = false
    const second = out.write(new Uint8Array(200_000)).then(() => {
      written = true
    })
    await time.settle()
    expect(written).toBe(false)
    await (stream as typeof out).read()
    await second
  })

  it('passes accepted gossip on, once', async () => {
    const { time, network, a, b } = pair()
    const c = network.addNode('c')
    network.connect('a', 'b')
    network.connect('b', 'c')
    network.connect('c', 'a')
    network.cut('c', 'a')
    const heard: string[] = []
    a.pubsub.join('t', () => 'accept')
    b.pubsub.join('t', (message) => (message.data[0] === 0 ? 'reject' : 'accept'))
    c.pubsub.join('t', (message) => {
      heard.push(`${message.author} by ${message.from}`)
      return 'accept'
    })
    await a.pubsub.publish('t', Uint8Array.of(1))
    await a.pubsub.publish('t', Uint8Array.of(0))
    await time.settle()
    expect(heard).toEqual(['a by b'])
    expect(b.judged.map((one) => one.verdict)).toEqual(['accept', 'reject'])
  })
})
