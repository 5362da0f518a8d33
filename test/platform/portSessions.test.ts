/** Sessions on message ports whose other end is a stranger: a frame of another origin that the page serves. */
import { describe, expect, it } from 'vitest'
import type { FramePort } from '../../platform/browser/framePort.ts'
import { openSession } from '../../platform/browser/frames.ts'
import { PortSessions } from '../../platform/browser/portSessions.ts'
import {
  HOLD_UNREAD_BYTES,
  MAX_ALL_UNREAD_BYTES,
  MAX_ANONYMOUS_REQUEST_BYTES,
  MAX_UNREAD_BYTES,
} from '../../src/base/bounds.ts'
import { json } from '../../src/codec/description.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { HttpHandler } from '../../src/rpc/http.ts'
import { method } from '../../src/rpc/method.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { silentLog, stubVerifier } from '../rpc/stubTable.ts'

const ANSWER = 'x'.repeat(1024 * 1024)
const big = method({ name: 'Big', perm: 'read', params: [], result: json, handler: () => ANSWER })
const engine = new RpcEngine({ table: createMethodTable([big]), json: { addressPrefix: 't' }, log: silentLog })
const handler = new HttpHandler(engine, { verifier: stubVerifier })
const call = '{"jsonrpc":"2.0","id":1,"method":"Filecoin.Big","params":[]}'

/** The node's end of a port: what it was told, and a way to tell it anything. */
class Port implements FramePort {
  readonly told: unknown[] = []
  isClosed = false
  onmessage: ((event: never) => void) | null = null

  postMessage(message: unknown): void {
    this.told.push(message)
  }

  start(): void {}

  close(): void {
    this.isClosed = true
  }

  addEventListener(): void {}

  say(data: unknown): void {
    this.onmessage?.({ data } as never)
  }

  get refusal(): string | undefined {
    const last = this.told.at(-1)
    return typeof last === 'object' && last !== null && 'refused' in last ? String(last.refused) : undefined
  }
}

/** A port with an open session; `isWaiting`: no node answers yet. */
async function connect(isWaiting = false): Promise<Port> {
  const sessions = new PortSessions()
  const host = { node: { engine, handler }, settle: () => undefined }
  if (!isWaiting) sessions.use((request, receiver) => Promise.resolve(openSession(host, request, receiver)))
  const port = new Port()
  sessions.add({ access: { as: 'token', token: '' }, version: 'v1' }, port)
  await Promise.resolve()
  await Promise.resolve()
  return port
}

describe('a port', () => {
  it('may say anything: nothing is thrown in the worker, and the next call is answered', async () => {
    const port = await connect()
    const circle: unknown[] = []
    circle.push(circle)
    const sayings: unknown[] = [
      null,
      undefined,
      0,
      -1,
      NaN,
      true,
      1n,
      Symbol.iterator,
      [],
      circle,
      {},
      new Date(),
      '',
      '{',
      '[]',
    ]
    const signals: unknown[] = [
      { read: null },
      { read: 'x' },
      { read: -5 },
      { read: NaN },
      { read: Infinity },
      { ready: 0 },
    ]
    for (const one of [...sayings, ...signals, new Uint8Array(8), () => undefined]) port.say(one)
    port.say(call)
    expect(port.told.filter((one) => typeof one === 'string' && one.includes(ANSWER))).toHaveLength(1)
  })

  it('that has not read its answers waits for more, and has all when it reads', async () => {
    const port = await connect()
    const answers = (): string[] => port.told.filter((one): one is string => typeof one === 'string')
    for (let i = 0; i < 64; i++) port.say(call)
    const sent = answers().length
    expect(sent * ANSWER.length).toBeLessThanOrEqual(HOLD_UNREAD_BYTES + 2 * ANSWER.length)
    for (let read = 0; read < answers().length; read++) port.say({ read: (answers()[read] as string).length })
    expect(answers()).toHaveLength(64)
    expect(port.isClosed).toBe(false)
  })

  it('loses its session when it asks on and on and does not read', async () => {
    const port = await connect()
    const long = call.padEnd(MAX_ANONYMOUS_REQUEST_BYTES, ' ')
    const most = Math.ceil(MAX_UNREAD_BYTES / long.length) + 4
    for (let i = 0; i < 2 * most && port.refusal === undefined; i++) port.say(long)
    expect(port.refusal).toBe('the client does not read its answers')
    expect(port.told.length).toBeLessThanOrEqual(4)
    expect(port.isClosed).toBe(true)
  })

  it('that reads may ask as often', async () => {
    const port = await connect()
    for (let i = 0; i < 64; i++) {
      port.say(call)
      port.say({ read: (port.told.at(-1) as string).length })
    }
    expect(port.told).toHaveLength(64)
  })

  it('may say so much in one frame, and no more', async () => {
    const port = await connect()
    port.say(call.padEnd(MAX_ANONYMOUS_REQUEST_BYTES, ' '))
    expect(port.told).toHaveLength(1)
    port.say(call.padEnd(MAX_ANONYMOUS_REQUEST_BYTES + 1, ' '))
    expect(port.refusal).toContain(`at most ${MAX_ANONYMOUS_REQUEST_BYTES}`)
  })

  it('is refused when no node will answer any more, and so is one that comes later', async () => {
    const sessions = new PortSessions()
    let ended = 0
    sessions.use(() => Promise.resolve({ receive: () => undefined, drained: () => undefined, end: () => ended++ }))
    const request = { access: { as: 'page' }, version: 'v1' } as const
    const [early, late] = [new Port(), new Port()]
    sessions.add(request, early)
    await Promise.resolve()
    await Promise.resolve()
    sessions.fail('the node did not start')
    sessions.add(request, late)
    expect([early.refusal, late.refusal]).toEqual(['the node did not start', 'the node did not start'])
    expect([early.isClosed, late.isClosed]).toEqual([true, true])
    expect(ended).toBe(1)
  })

  it('is answered with so much unread, and loses its session with a byte more', () => {
    const host = { node: { engine, handler }, settle: () => undefined }
    const told: string[] = []
    let unread = MAX_ALL_UNREAD_BYTES
    const receiver = {
      frame: (text: string) => void told.push(text.slice(0, 8)),
      unreadBytes: () => unread,
      refused: (reason: string) => void told.push(reason),
    }
    const session = openSession(host, { access: { as: 'page' }, version: 'v1' }, receiver)
    session.receive(call)
    expect(told).toEqual(['{"id":1,'])
    // What was said meanwhile is taken when the client has read.
    unread = 0
    session.drained()
    unread = MAX_ALL_UNREAD_BYTES + 1
    session.receive(call)
    expect(told.slice(1)).toEqual(['the client does not read its answers'])
  })

  it('may say so much before the node answers, and no more', async () => {
    const port = await connect(true)
    for (let said = 0; said < MAX_UNREAD_BYTES; said += ANSWER.length) port.say(ANSWER)
    expect(port.told).toEqual([])
    port.say('x')
    expect(port.refusal).toContain('before the node answers')
  })
})
