/** Hello both ways, against what a Lotus node said, and with those who do not behave. */
import { describe, expect, it } from 'vitest'
import { fromHex, toHex } from '../../src/base/bytes.ts'
import { decode, encode } from '../../src/codec/description.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { answerHellos, HELLO_PROTOCOL, type HelloService, startHello } from '../../src/p2p/hello.ts'
import { type HelloMessage, helloMessage, latencyMessage } from '../../src/p2p/helloMessage.ts'
import type { ByteStream } from '../../src/p2p/peerLinks.ts'
import { MemoryNetwork, type MemoryNode } from '../support/memoryNetwork.ts'
import { openRecordedView, silentLog } from '../support/recordedView.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { type WireRow, wireMissing, wireRows } from './wire.ts'

const never = new AbortController().signal

interface Heard {
  readonly peer: string
  readonly height: number
  readonly weight: bigint
}

function recordedHead(): { row: WireRow; said: HelloMessage } {
  const row = wireRows(HELLO_PROTOCOL)[0] as WireRow
  return { row, said: decode(helloMessage, fromHex(row.message as string)) }
}

/** A node whose head is the one that the recorded node had. */
function helloNode(
  network: MemoryNetwork,
  time: VirtualTime,
  name: string,
): MemoryNode & { hello: HelloService; heard: Heard[] } {
  const node = network.addNode(name)
  const { view } = openRecordedView('wire')
  const { said } = recordedHead()
  const heard: Heard[] = []
  const hello = startHello({
    links: node.links,
    chain: {
      head: () => view.store.tipset(said.heaviestTipSet),
      weight: (tipset) => view.weight(tipset),
      genesisCid: said.genesisHash,
    },
    clock: time,
    timers: time,
    log: silentLog,
    onHead: (peer, _key, height, weight) => heard.push({ peer, height, weight }),
  })
  return Object.assign(node, { hello, heard })
}

async function readAll(stream: ByteStream): Promise<string> {
  let out = ''
  for (let bytes = await stream.read(); bytes !== undefined; bytes = await stream.read()) out += toHex(bytes)
  return out
}

describe.skipIf(wireMissing !== undefined)('hello', () => {
  it('codes what Lotus spoke to the same bytes', () => {
    const rows = wireRows(HELLO_PROTOCOL)
    expect(rows).toHaveLength(2)
    for (const row of rows) {
      const message = fromHex(row.message as string)
      expect(toHex(encode(helloMessage, decode(helloMessage, message)))).toBe(row.message)
      if (row.answer === undefined) continue
      const answer = decode(latencyMessage, fromHex(row.answer))
      expect(toHex(encode(latencyMessage, answer))).toBe(row.answer)
      expect(answer.tSent >= answer.tArrival).toBe(true)
    }
  })

  it('says what the Lotus node said on the same chain, and answers what it was told', async () => {
    const time = new VirtualTime(1_795_000_000_123)
    const network = new MemoryNetwork(time)
    const node = helloNode(network, time, 'petrel')
    const lotus = network.addNode('lotus')
    const { row } = recordedHead()
    let said = ''
    lotus.links.handle(HELLO_PROTOCOL, async (_, stream) => {
      said = await readAll(stream)
      await stream.write(fromHex('8200' + '00'))
      await stream.closeWrite()
    })
    network.connect('petrel', 'lotus')
    const stream = await lotus.links.open('petrel', [HELLO_PROTOCOL], never)
    // The answer must come although the stream does not end.
    await stream.write(fromHex(row.message as string))
    expect(await stream.read()).toEqual(
      encode(latencyMessage, { tArrival: 1_795_000_000_123_000_000n, tSent: 1_795_000_000_123_000_000n }),
    )
    await time.settle()
    expect(said).toBe(row.message)
    expect(node.heard).toEqual([{ peer: 'lotus', height: 124, weight: 700193n }])
    expect(node.tags.get('lotus')?.get('fcpeer')).toBe(10)
    expect(node.reports).toEqual([])
    node.hello.stop()
  })

  it('two nodes hear of each other, also when one starts late, and leave nothing behind', async () => {
    const time = new VirtualTime()
    const network = new MemoryNetwork(time)
    const a = helloNode(network, time, 'a')
    network.addNode('late')
    network.connect('a', 'late')
    const b = helloNode(network, time, 'b')
    network.connect('a', 'b')
    await time.advance(10)
    expect(a.heard.map((one) => one.peer)).toEqual(['b'])
    expect(b.heard.map((one) => one.peer)).toEqual(['a'])
    await time.advance(5000)
    expect(a.openStreams + b.openStreams).toBe(0)
    expect(time.pending).toBe(0)
  })

  async function sayTo(
    bytes: Uint8Array,
  ): Promise<{ node: MemoryNode; heard: Heard[]; time: VirtualTime; answer: Promise<string> }> {
    const time = new VirtualTime()
    const network = new MemoryNetwork(time)
    const node = helloNode(network, time, 'petrel')
    const peer = network.addNode('peer')
    network.connect('petrel', 'peer')
    const stream = await peer.links.open('petrel', [HELLO_PROTOCOL], never)
    const answer = readAll(stream)
    answer.catch(() => undefined)
    await stream.write(bytes)
    await time.settle()
    return { node, heard: node.heard, time, answer }
  }

  it('a node that has no chain yet answers, and says none, to a few at a time', async () => {
    const time = new VirtualTime()
    const network = new MemoryNetwork(time)
    const node = network.addNode('petrel')
    const end = answerHellos({ links: node.links, clock: time, timers: time })
    const lotus = network.addNode('lotus')
    let said = 0
    lotus.links.handle(HELLO_PROTOCOL, async () => void said++)
    network.connect('petrel', 'lotus')
    const { row } = recordedHead()
    const ask = async (bytes: Uint8Array): Promise<string> => {
      const stream = await lotus.links.open('petrel', [HELLO_PROTOCOL], never)
      await stream.write(bytes).catch(() => undefined)
      return readAll(stream)
    }
    const answer = decode(latencyMessage, fromHex(await ask(fromHex(row.message as string))))
    expect(answer.tSent).toBeGreaterThanOrEqual(answer.tArrival)
    for (let i = 0; i < 4; i++) await ask(fromHex(row.message as string))
    await expect(ask(fromHex(row.message as string))).rejects.toMatchObject({ code: 'STREAM_RESET' })
    expect([said, node.reports]).toEqual([0, []])
    end()
  })

  it('another genesis: silence, and the connection closes', async () => {
    const { said } = recordedHead()
    const other = encode(helloMessage, { ...said, genesisHash: blockCid(Uint8Array.of(1)) })
    const { node, heard, answer } = await sayTo(other)
    await expect(answer).rejects.toMatchObject({ code: 'STREAM_RESET' })
    expect(heard).toEqual([])
    expect(node.links.peers()).toEqual([])
    expect(node.reports).toEqual([
      { peer: 'peer', what: { fault: 'OTHER_GENESIS', reason: String(blockCid(Uint8Array.of(1))) } },
    ])
  })

  it.each([
    ['garbage', '8482ff'],
    ['an indefinite length', '9f00ff'],
    ['another type', '83000102'],
    ['more than fits', '9a00100000'],
    ['a byte string that is too long', '845a00100000'],
  ])('%s: banned, the connection closes', async (_, hex) => {
    const { node, heard, answer } = await sayTo(fromHex(hex))
    await expect(answer).rejects.toMatchObject({ code: 'STREAM_RESET' })
    expect(heard).toEqual([])
    expect(node.links.peers()).toEqual([])
    expect(node.reports).toMatchObject([
      { peer: 'peer', what: { fault: expect.stringMatching(/GARBAGE|OVERSIZED/) as unknown } },
    ])
  })

  it('half a message and then nothing: given up after 20 s, and borne', async () => {
    const { row } = recordedHead()
    const { node, heard, time, answer } = await sayTo(fromHex((row.message as string).slice(0, 40)))
    expect(node.reports).toEqual([])
    await time.advance(21_000)
    await expect(answer).rejects.toMatchObject({ code: 'STREAM_RESET' })
    expect(heard).toEqual([])
    expect(node.reports).toMatchObject([{ peer: 'peer', what: { fault: 'SLOW' } }])
    expect(node.links.peers()).toEqual(['peer'])
    expect(time.pending).toBe(0)
  })

  it('a flood of hellos is cut off', async () => {
    const time = new VirtualTime()
    const network = new MemoryNetwork(time)
    const node = helloNode(network, time, 'petrel')
    const peer = network.addNode('peer')
    network.connect('petrel', 'peer')
    const { row } = recordedHead()
    let refused = 0
    for (let i = 0; i < 200; i++) {
      const stream = await peer.links.open('petrel', [HELLO_PROTOCOL], never)
      await stream.write(fromHex(row.message as string)).catch(() => undefined)
      await readAll(stream).catch(() => refused++)
    }
    expect(node.heard).toHaveLength(5)
    expect(refused).toBe(195)
    expect(node.reports).toHaveLength(195)
    await time.advance(5000)
    expect(node.openStreams).toBe(0)
  })

  it('a weight that cannot be had in time: the parents’ is said', async () => {
    const time = new VirtualTime()
    const network = new MemoryNetwork(time)
    const { view } = openRecordedView('wire')
    const { said } = recordedHead()
    const node = network.addNode('petrel')
    startHello({
      links: node.links,
      chain: {
        head: () => view.store.tipset(said.heaviestTipSet),
        weight: () => new Promise(() => undefined),
        genesisCid: said.genesisHash,
      },
      clock: time,
      timers: time,
      log: silentLog,
      onHead: () => undefined,
    })
    const other = helloNode(network, time, 'other')
    network.connect('petrel', 'other')
    await time.advance(2900)
    expect(other.heard).toEqual([])
    await time.advance(200)
    const head = view.store.tipset(said.heaviestTipSet)
    expect(other.heard.map((one) => one.weight)).toEqual([head.blocks[0]?.parentWeight])
  })

  it('a peer that never answers costs one stream for 10 s, four times', async () => {
    const time = new VirtualTime()
    const network = new MemoryNetwork(time)
    const node = helloNode(network, time, 'petrel')
    const mute = network.addNode('mute')
    let hellos = 0
    mute.links.handle(HELLO_PROTOCOL, () => {
      hellos++
      return new Promise(() => undefined)
    })
    network.connect('petrel', 'mute')
    for (const [i, pauseMs] of [5000, 20_000, 60_000, 600_000].entries()) {
      await time.advance(1000)
      expect([hellos, node.openStreams]).toEqual([i + 1, 1])
      await time.advance(9000)
      expect(node.openStreams).toBe(0)
      await time.advance(pauseMs)
    }
    expect(hellos).toBe(4)
    expect(time.pending).toBe(0)
  })

  it('a hello that was lost is said again, but not to who has left, nor by a node that stops', async () => {
    for (const [end, isHeard] of [
      ['none', true],
      ['leaves', false],
      ['stops', false],
    ] as const) {
      const time = new VirtualTime()
      const network = new MemoryNetwork(time)
      const node = helloNode(network, time, 'petrel')
      const other = helloNode(network, time, 'other')
      network.setFaults('petrel', 'other', { resetAfterBytes: 10 })
      network.connect('petrel', 'other')
      await time.advance(1000)
      expect(other.heard).toEqual([])
      network.setFaults('petrel', 'other', {})
      if (end === 'leaves') network.cut('petrel', 'other')
      if (end === 'stops') node.hello.stop()
      await time.advance(100_000)
      expect(other.heard.map(({ peer }) => peer)).toEqual(isHeard ? ['petrel'] : [])
      expect(time.pending).toBe(0)
    }
  })

  it('a head is heard though its peer waits for no answer', async () => {
    const time = new VirtualTime()
    const network = new MemoryNetwork(time)
    const node = helloNode(network, time, 'petrel')
    const hasty = network.addNode('hasty')
    network.connect('petrel', 'hasty')
    network.setFaults('petrel', 'hasty', { resetAfterBytes: 1 })
    const stream = await hasty.links.open('petrel', [HELLO_PROTOCOL], never)
    await stream.write(fromHex(recordedHead().row.message as string))
    await readAll(stream).catch(() => undefined)
    expect(node.heard.map(({ peer }) => peer)).toEqual(['hasty'])
  })

  it('who says hello is told hello, once, though it was not known to speak it', async () => {
    const time = new VirtualTime()
    const network = new MemoryNetwork(time)
    helloNode(network, time, 'petrel')
    const late = network.addNode('late')
    network.connect('petrel', 'late')
    await time.settle()
    let told = 0
    late.links.handle(HELLO_PROTOCOL, async (_, stream) => {
      told++
      await stream.write(fromHex('820000'))
      await stream.closeWrite()
    })
    for (let i = 0; i < 2; i++) {
      const stream = await late.links.open('petrel', [HELLO_PROTOCOL], never)
      await stream.write(fromHex(recordedHead().row.message as string))
      await time.advance(100)
    }
    expect(told).toBe(1)
  })
})
