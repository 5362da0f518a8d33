/** Lists of very many items over a WebSocket leave as they are found, each as one message in fragments. */
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { systemClock, systemTimers } from '../../../platform/server/clock.ts'
import { startServer } from '../../../platform/server/httpServer.ts'
import { SharedCounts } from '../../../platform/server/readers/sharedCounts.ts'
import type { Listening } from '../../../platform/server/rpcServer.ts'
import { MAX_ANSWER_BYTES, REQUEST_TIME_MS } from '../../../src/base/bounds.ts'
import { json } from '../../../src/codec/description.ts'
import { CostQueues } from '../../../src/rpc/cost.ts'
import { RpcEngine } from '../../../src/rpc/engine.ts'
import { HttpHandler } from '../../../src/rpc/http.ts'
import { method } from '../../../src/rpc/method.ts'
import { createMethodTable } from '../../../src/rpc/table.ts'
import { manyMethod } from '../../rpc/countedList.ts'
import { silentLog, stubVerifier } from '../../rpc/stubTable.ts'

const KIB = 1024
/** An item. Its characters have four bytes, so that a stretch of text may end within one. */
const ITEM = '😀'.repeat(64 * KIB)
const LONG = 'y'.repeat(512 * KIB)
/** A loaded machine takes its time. */
const LONG_WAIT = { timeout: 20_000 }
const seen = { items: 0, ended: 0, long: 0 }

const rows = [
  manyMethod(ITEM, seen),
  method({
    ...{ name: 'Long', perm: 'read', params: [], result: json },
    handler: () => {
      seen.long++
      return LONG
    },
  }),
]

/** A turn of the loop, in which a millisecond of fake time passes. */
async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  await vi.advanceTimersByTimeAsync(1)
}

const call = (id: number, name: string, ...params: unknown[]): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: `Filecoin.${name}`, params })

/** A frame of the server's (RFC 6455, section 5.2). */
interface Frame {
  readonly isFinal: boolean
  readonly opcode: number
  readonly payload: Buffer
}

const [CONTINUATION, TEXT] = [0, 1]
/** Opcodes from here on are of control frames, which may come between. */
const CONTROL = 8

/** Frames of messages that are whole. */
function framesOf(bytes: Buffer): Frame[] {
  const frames: Frame[] = []
  for (let at = 0; at + 2 <= bytes.length; ) {
    const [first, short] = [bytes.readUInt8(at), bytes.readUInt8(at + 1)]
    const head = short === 127 ? 10 : short === 126 ? 4 : 2
    if (at + head > bytes.length) break
    const length =
      short === 127 ? Number(bytes.readBigUInt64BE(at + 2)) : short === 126 ? bytes.readUInt16BE(at + 2) : short
    if (at + head + length > bytes.length) break
    const opcode = first & 15
    const payload = bytes.subarray(at + head, at + head + length)
    if (opcode < CONTROL) frames.push({ isFinal: first >= 128, opcode, payload })
    at += head + length
  }
  return frames
}

/** A text frame of a client's whose mask is zero. */
function clientFrame(message: string): Buffer {
  return Buffer.concat([Buffer.from([0x81, 0x80 | message.length, 0, 0, 0, 0]), Buffer.from(message)])
}

describe('a list over a WebSocket', () => {
  const log = { ...silentLog, error: vi.fn() }
  let queues: CostQueues
  let counts: SharedCounts
  let server: Listening
  const raw: Socket[] = []

  beforeEach(async () => {
    Object.assign(seen, { items: 0, ended: 0, long: 0 })
    log.error.mockClear()
    counts = SharedCounts.create()
    queues = new CostQueues({ clock: systemClock, timers: systemTimers })
    const engine = new RpcEngine({ table: createMethodTable(rows), json: { addressPrefix: 't' }, log, queues })
    const handler = new HttpHandler(engine, { verifier: stubVerifier })
    server = await startServer({ handler, engine, counts, log, host: '127.0.0.1', port: 0, closeGraceMs: 0 })
  })
  afterEach(async () => {
    vi.useRealTimers()
    for (const one of raw.splice(0)) one.destroy()
    await server.close()
  })

  const open = async (): Promise<WebSocket> => {
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/rpc/v1`, { maxPayload: 2 * MAX_ANSWER_BYTES })
    await new Promise((resolve) => socket.once('open', resolve))
    return socket
  }
  const nextOf = (socket: WebSocket): Promise<{ id: number; result?: unknown; error?: unknown }> =>
    new Promise((resolve) => socket.once('message', (data) => resolve(JSON.parse(String(data)))))
  /** A connection that sends these, and what came back behind the handshake. */
  const rawOf = async (...messages: string[]): Promise<{ socket: Socket; frames: () => Frame[] }> => {
    const socket = connect(server.port, '127.0.0.1')
    raw.push(socket)
    const chunks: Buffer[] = []
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.write(
      'GET /rpc/v1 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
    )
    await new Promise((resolve) => socket.once('data', resolve))
    for (const message of messages) socket.write(clientFrame(message))
    const frames = (): Frame[] => {
      const all = Buffer.concat(chunks)
      return framesOf(all.subarray(all.indexOf('\r\n\r\n') + 4))
    }
    return { socket, frames }
  }

  it('longer than one answer may be is one message', async () => {
    const socket = await open()
    const count = Math.ceil(MAX_ANSWER_BYTES / Buffer.byteLength(ITEM))
    socket.send(call(1, 'Many', count, 0))
    const { result } = await nextOf(socket)
    expect((result as string[]).length).toBe(count)
    expect((result as string[]).every((item) => item === ITEM)).toBe(true)
    expect([seen.ended, queues.load('scan')]).toEqual([1, { waiting: 0, running: 0 }])
    socket.terminate()
  })

  it('is a text frame, continuations and a last one that says so; no other message comes between', async () => {
    const { frames } = await rawOf(call(1, 'Many', 20, 0), call(2, 'Many', 0, 0), call(3, 'Many', 20, 0))
    const isText = ({ opcode }: Frame): boolean => opcode === TEXT
    await vi.waitFor(() => expect(frames().filter(isText)).toHaveLength(3), LONG_WAIT)
    await vi.waitFor(() => expect(frames().at(-1)?.isFinal).toBe(true), LONG_WAIT)
    const messages: Frame[][] = []
    for (const frame of frames()) {
      if (frame.opcode === TEXT) messages.push([])
      expect([TEXT, CONTINUATION]).toContain(frame.opcode)
      messages.at(-1)?.push(frame)
    }
    for (const message of messages) {
      expect(message.map(({ isFinal }) => isFinal)).toEqual(message.map((_, i) => i === message.length - 1))
    }
    const answers = messages.map((message) =>
      JSON.parse(Buffer.concat(message.map(({ payload }) => payload)).toString()),
    )
    const lengths = new Map(
      answers.map(({ id, result }) => [id, result.filter((item: string) => item === ITEM).length]),
    )
    expect(lengths).toEqual(new Map([1, 2, 3].map((id) => [id, id === 2 ? 0 : 20])))
    expect(messages.map(({ length }) => length > 1).toSorted()).toEqual([false, true, true])
  })

  it('is found as its client reads; what waits behind it counts as unread; who never reads loses the connection', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { socket } = await rawOf()
    socket.pause()
    socket.write(clientFrame(call(1, 'Many', 1_000_000, 0)))
    for (let [before, still] = [0, 0]; seen.items === 0 || still < 100; ) {
      await turn()
      still = before === seen.items ? still + 1 : 0
      before = seen.items
    }
    expect([seen.items < 1_000, seen.ended, queues.load('scan').running]).toEqual([true, 0, 0])
    const before = counts.of('unread').total()
    socket.write(clientFrame(call(2, 'Long')))
    while (counts.of('unread').total() === before) await turn()
    expect(counts.of('unread').total()).toBeGreaterThan(before + LONG.length)
    await vi.advanceTimersByTimeAsync(REQUEST_TIME_MS)
    while (seen.ended === 0 || counts.of('unread').total() > 0) await turn()
    expect([queues.load('scan'), log.error.mock.calls]).toEqual([{ waiting: 0, running: 0 }, []])
  }, 60_000)

  it('waits for what was sent before, however long its client takes to read that', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const unread = counts.of('unread')
    const { socket, frames } = await rawOf()
    socket.pause()
    let asked = 0
    for (let still = 0; still < 100; still = unread.total() > 0 ? still + 1 : 0) {
      if (seen.long === asked && unread.total() === 0) socket.write(clientFrame(call(++asked, 'Long')))
      await turn()
    }
    socket.write(clientFrame(call(0, 'Many', 20, 0)))
    while (seen.items === 0) await turn()
    for (let i = 0; i < 3; i++) {
      await vi.advanceTimersByTimeAsync(REQUEST_TIME_MS)
      await turn()
    }
    socket.resume()
    while (seen.ended === 0) await turn()
    await vi.waitFor(() => expect(frames().filter(({ isFinal }) => isFinal)).toHaveLength(asked + 1), {
      timeout: 10_000,
    })
    const list = frames().slice(asked)
    expect(JSON.parse(Buffer.concat(list.map(({ payload }) => payload)).toString()).result).toHaveLength(20)
  }, 60_000)

  it('that is cancelled ends with an error, and its connection goes on; that of one that fails is closed with 1011', async () => {
    const socket = await open()
    socket.send(call(1, 'Many', 1_000_000, 0))
    await vi.waitFor(() => expect(seen.items).toBeGreaterThan(1), LONG_WAIT)
    socket.send('{"jsonrpc":"2.0","method":"xrpc.cancel","params":[1]}')
    const { result, error } = await nextOf(socket)
    expect(error).toEqual({ code: 1, message: 'the caller has gone' })
    // One may have been found that was not sent any more.
    expect([seen.items - 1, seen.items]).toContain((result as string[]).length)
    socket.send(call(2, 'Long'))
    expect(await nextOf(socket)).toEqual({ jsonrpc: '2.0', id: 2, result: LONG })
    const closed = new Promise((resolve) => socket.once('close', (code, reason) => resolve([code, String(reason)])))
    socket.send(call(3, 'Many', 1_000_000, 50))
    expect(await closed).toEqual([1011, 'an answer has ended in its midst'])
    expect(log.error.mock.calls).toEqual([['an answer has ended in its midst', { message: 'no item 50' }]])
    expect(queues.load('scan')).toEqual({ waiting: 0, running: 0 })
  })

  it('whose client goes is looked for no further, and nothing is said of that', async () => {
    const { socket } = await rawOf(call(1, 'Many', 1_000_000, 0))
    await vi.waitFor(() => expect(seen.items).toBeGreaterThan(10), LONG_WAIT)
    socket.destroy()
    await vi.waitFor(() => expect([seen.ended, queues.load('scan').running]).toEqual([1, 0]), LONG_WAIT)
    expect(log.error.mock.calls).toEqual([])
  })
})
