/** A long answer of a batch leaves as it is made: what its client does not read is not made. */
import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock, systemTimers } from '../../../platform/server/clock.ts'
import { startServer } from '../../../platform/server/httpServer.ts'
import { stream } from '../../../platform/server/nodeRequest.ts'
import { SharedCounts } from '../../../platform/server/readers/sharedCounts.ts'
import type { Listening } from '../../../platform/server/rpcServer.ts'
import { UnreadAnswers } from '../../../platform/server/unreadAnswers.ts'
import { PART_MS, REQUEST_TIME_MS } from '../../../src/base/bounds.ts'
import { json, listOrEmpty, uint } from '../../../src/codec/description.ts'
import { CostQueues } from '../../../src/rpc/cost.ts'
import { RpcEngine } from '../../../src/rpc/engine.ts'
import { HttpHandler } from '../../../src/rpc/http.ts'
import { listing } from '../../../src/rpc/listing.ts'
import { listMethod, method } from '../../../src/rpc/method.ts'
import { createMethodTable } from '../../../src/rpc/table.ts'
import { silentLog, stubVerifier } from '../../rpc/stubTable.ts'

const COUNT = 300
const PAGE = 'ä😀x'.repeat(30_000)

describe('a batch of pages', () => {
  let made = 0
  const handle = (): string => {
    made++
    return PAGE
  }
  const row = method({ name: 'Page', perm: 'read', params: [], result: json, handler: handle })
  const engine = new RpcEngine({ table: createMethodTable([row]), json: { addressPrefix: 't' }, log: silentLog })
  const handler = new HttpHandler(engine, { verifier: stubVerifier })
  const call = '{"jsonrpc":"2.0","id":1,"method":"Filecoin.Page","params":[]}'
  let server: Listening
  let counts: SharedCounts
  let socket: Socket | undefined

  beforeEach(async () => {
    made = 0
    counts = SharedCounts.create()
    server = await startServer({
      ...{ handler, engine, counts, log: silentLog, host: '127.0.0.1', port: 0, closeGraceMs: 0 },
    })
  })
  afterEach(() => {
    socket?.destroy()
    return server.close()
  })
  const settled = async (): Promise<number> => {
    for (let before = -1; made > before; ) {
      before = made
      await new Promise((resolve) => setTimeout(resolve, 300))
    }
    return made
  }

  it('is made as its client reads, and until then the requests are held', async () => {
    const body = `[${Array<string>(COUNT).fill(call).join()}]`
    const head = `POST /rpc/v1 HTTP/1.0\r\nHost: 127.0.0.1\r\nContent-Length: ${body.length}\r\n\r\n`
    const reader = connect(server.port, '127.0.0.1', () => {
      reader.pause()
      reader.write(head + body)
    })
    socket = reader
    // Nothing of it is read: what systems keep for both ends is a few megabytes.
    expect(await settled()).toBeGreaterThan(0)
    expect(made).toBeLessThan(COUNT / 4)
    expect(counts.of('bodies').total()).toBeGreaterThanOrEqual(body.length)
    const chunks: Buffer[] = []
    reader.on('data', (chunk) => chunks.push(chunk))
    reader.resume()
    await new Promise((resolve) => reader.once('end', resolve))
    const text = Buffer.concat(chunks).toString()
    const answers = JSON.parse(text.slice(text.indexOf('\r\n\r\n'))) as { result?: string }[]
    expect(answers.filter(({ result }) => result === PAGE)).toHaveLength(COUNT)
    await vi.waitFor(() => expect(counts.of('bodies').total()).toBe(0))
  }, 60_000)

  it('whose client goes is made no further, and given back', async () => {
    const body = `[${Array<string>(COUNT).fill(call).join()}]`
    const gone = connect(server.port, '127.0.0.1', () => {
      gone.pause()
      gone.write(`POST /rpc/v1 HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    })
    socket = gone
    const before = await settled()
    gone.destroy()
    await vi.waitFor(() => expect(counts.of('bodies').total()).toBe(0))
    expect(await settled()).toBeLessThanOrEqual(before + 1)
  }, 60_000)
})

describe('a listing without an end', () => {
  it('ends with its client, and nothing is said of that', async () => {
    let given = 0
    const ended = vi.fn()
    function* items(): IterableIterator<number> {
      try {
        for (;;) yield given++
      } finally {
        ended()
      }
    }
    const row = listMethod({
      ...{ name: 'Numbers', perm: 'read', cost: 'scan', params: [], result: listOrEmpty(uint) },
      list: () => listing(uint, items),
    })
    const log = { ...silentLog, error: vi.fn(), warn: vi.fn() }
    const ports = { clock: systemClock, timers: systemTimers }
    const queues = new CostQueues(ports)
    const engine = new RpcEngine({ table: createMethodTable([row]), json: { addressPrefix: 't' }, log, queues })
    const handler = new HttpHandler(engine, { verifier: stubVerifier })
    const server = await startServer({ handler, engine, log, host: '127.0.0.1', port: 0, closeGraceMs: 0 })
    try {
      const body = '{"jsonrpc":"2.0","id":1,"method":"Filecoin.Numbers","params":[]}'
      const head = `POST /rpc/v1 HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${body.length}\r\n\r\n`
      const socket = connect(server.port, '127.0.0.1', () => socket.write(head + body))
      // More of it is being made when its client goes.
      let read = 0
      socket.on('data', (chunk) => {
        read += chunk.length
        if (read > 1_000_000) socket.destroy()
      })
      await vi.waitFor(() => expect(ended).toHaveBeenCalledOnce(), { timeout: 20_000 })
      expect(given).toBeGreaterThan(0)
    } finally {
      await server.close()
    }
    expect([log.error.mock.calls, log.warn.mock.calls]).toEqual([[], []])
  })
})

describe('an answer in parts', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  /** A client that takes each part when it is told to. */
  class Client extends EventEmitter {
    destroyed = false
    readonly writableLength = 1
    readonly written: string[] = []
    readonly ended = vi.fn()
    writeHead(): void {}
    write(text: string): boolean {
      this.written.push(text)
      return false
    }
    end(): void {
      this.ended()
    }
    destroy(): void {
      this.destroyed = true
      this.emit('close')
    }
  }
  const send = (client: Client, parts: readonly string[]): Promise<void> => {
    async function* rest(): AsyncGenerator<string, void, void> {
      yield* parts
    }
    const answer = { status: 200, headers: {}, body: '', rest: rest() }
    return stream(client as unknown as ServerResponse, answer, answer.rest, new UnreadAnswers())
  }
  const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)

  it('is taken in so much time, and more for each part; who is later goes', async () => {
    vi.useFakeTimers()
    const slow = new Client()
    const sent = send(
      slow,
      Array.from({ length: 100 }, (_, i) => String(i)),
    )
    await pass(REQUEST_TIME_MS - 1)
    expect([slow.written.length, slow.destroyed]).toEqual([1, false])
    slow.emit('drain')
    // One millisecond was left.
    await pass(PART_MS)
    expect([slow.written.length, slow.destroyed]).toEqual([2, false])
    await pass(1)
    expect(slow.destroyed).toBe(true)
    await sent

    const steady = new Client()
    const whole = send(
      steady,
      Array.from({ length: 100 }, (_, i) => String(i)),
    )
    for (let i = 0; i < 100; i++) {
      await pass(PART_MS)
      steady.emit('drain')
    }
    await whole
    expect([steady.written.length, steady.destroyed, steady.ended.mock.calls.length]).toEqual([100, false, 1])
  })

  it('that is large is written in stretches, none of which ends within a character', async () => {
    const client = new Client()
    const text = `${'x'.repeat(2 ** 17 - 1)}${'😀'.repeat(2 ** 17)}`
    const sent = send(client, [text])
    for (let i = 0; i < 10; i++) {
      await new Promise((resolve) => setImmediate(resolve))
      client.emit('drain')
    }
    await sent
    expect(client.written.length).toBeGreaterThan(2)
    expect(client.written.join('')).toBe(text)
    for (const part of client.written) expect(part.isWellFormed()).toBe(true)
  })
})
