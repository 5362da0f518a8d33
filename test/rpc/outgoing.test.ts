/** Lists of very many items over a WebSocket: each is one message in parts, and what is to be sent meanwhile waits behind it. */
import { describe, expect, it } from 'vitest'
import { COST_LIMITS, HOLD_UNREAD_BYTES, MAX_UNREAD_BYTES, PART_MS } from '../../src/base/bounds.ts'
import { json, uint } from '../../src/codec/description.ts'
import { CostQueues } from '../../src/rpc/cost.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { channelMethod, method, param, rawMethod } from '../../src/rpc/method.ts'
import { RpcSession } from '../../src/rpc/session.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { FakeTime } from '../support/fakeTime.ts'
import { manyMethod } from './countedList.ts'
import { silentLog } from './stubTable.ts'

const ITEM = 'x'.repeat(1000)
/** Items of four parts. */
const SOME = 200

interface Message {
  readonly id?: number | string
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
  readonly method?: string
}

const call = (id: number | string, name: string, ...params: unknown[]): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: `Filecoin.${name}`, params })
const cancel = (id: number): string => `{"jsonrpc":"2.0","method":"xrpc.cancel","params":[${id}]}`
const all = (count: number): string[] => Array.from({ length: count }, () => ITEM)

/** A client that takes each part of a message when the test says so. @param inParts - whether messages can be sent so */
function client({ inParts = true } = {}) {
  const seen = { items: 0, ended: 0 }
  const messages: string[] = []
  const held: boolean[] = []
  let begun = ''
  let closed: unknown
  let behind = 0
  let take: () => void = () => undefined
  let tell: (value: string) => void = () => undefined
  let value: (value: string) => void = () => undefined
  const read = { perm: 'read', params: [], result: json } as const
  const table = createMethodTable([
    manyMethod(ITEM, seen),
    method({ ...read, name: 'Long', params: [param('length', uint)], handler: (length) => 'y'.repeat(length) }),
    channelMethod({
      ...{ ...read, name: 'Open' },
      subscribe: (channel) => {
        value = (one) => channel.value(one)
        return () => undefined
      },
    }),
    rawMethod({
      ...{ ...read, name: 'Tell' },
      handler: (_params, { notify }) => {
        tell = (one) => notify?.('told', [one])
        return true
      },
    }),
  ])
  const time = new FakeTime()
  const queues = new CostQueues({ clock: time, timers: time })
  const parts = {
    open: async () => (part: string, isLast: boolean) => {
      begun += part
      if (!isLast) return new Promise<void>((resolve) => (take = resolve))
      messages.push(begun)
      begun = ''
      return Promise.resolve()
    },
    behind: (bytes: number) => {
      behind = bytes
    },
    fail: (error: unknown) => {
      closed = error
    },
  }
  const one = new RpcSession({
    engine: new RpcEngine({ table, json: { addressPrefix: 't' }, log: silentLog, queues }),
    version: 'v1',
    permissions: () => new Set(['read']),
    sink: {
      send: (message) => {
        if (begun !== '') throw new Error('a message within another')
        messages.push(message)
      },
      unreadBytes: () => 0,
      hold: (isHeld) => held.push(isHeld),
      close: (reason) => {
        closed = reason
      },
      ...(inParts ? { parts } : {}),
    },
  })
  /** Until nothing is left to do before the client takes something: each kind of work may let others have a turn once. */
  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setTimeout(resolve, 0))
  }
  const ask = async (...frames: string[]): Promise<void> => {
    for (const frame of frames) one.receive(frame)
    await settled()
  }
  const takePart = async (): Promise<void> => {
    take()
    await settled()
  }
  return {
    ...{ one, seen, messages, held, queues, time, ask, takePart },
    begun: () => begun,
    closed: () => closed,
    behind: () => behind,
    tell: (given: string) => tell(given),
    value: (given: string) => value(given),
    told: () => messages.map((message) => JSON.parse(message) as Message),
    takeAll: async () => {
      while (begun !== '' && closed === undefined) await takePart()
    },
  }
}

/** A notification of so many bytes. */
function eventOf(bytes: number): string {
  return 'x'.repeat(bytes - '{"jsonrpc":"2.0","method":"told","params":[""]}'.length)
}

describe('a list over a WebSocket', () => {
  it('that is short, or goes to who cannot take parts, is one message', async () => {
    for (const [inParts, count] of [
      [true, 0],
      [true, 3],
      [false, SOME],
    ] as const) {
      const { ask, messages } = client({ inParts })
      await ask(call(1, 'Many', count, 0))
      expect(messages).toEqual([`{"id":1,"jsonrpc":"2.0","result":${JSON.stringify(all(count))}}`])
    }
  })

  it('is found as it is taken; what is to be sent meanwhile waits behind it in its order, other lists too', async () => {
    const one = client()
    await one.ask(call(1, 'Tell'), call(2, 'Many', SOME, 0))
    expect(one.seen.items).toBeLessThan(SOME / 2)
    await one.ask(call(3, 'Long', 1))
    one.tell('first')
    await one.ask(call(4, 'Many', SOME, 0))
    one.tell('second')
    expect(one.messages).toHaveLength(1)
    await one.takePart()
    expect(one.seen.items).toBeLessThan(SOME)
    await one.takeAll()
    const told = one.told()
    expect(told.map(({ id, method }) => id ?? method)).toEqual([1, 2, 3, 'told', 4, 'told'])
    for (const i of [1, 4]) expect(told[i]?.result).toEqual(all(SOME))
    expect([one.behind(), one.queues.load('scan').running, one.closed()]).toEqual([0, 0, undefined])
  })

  it('lets so many bytes of events wait that nobody asked for, and not a byte more, however long the answers are', async () => {
    for (const [bytes, isClosed] of [
      [MAX_UNREAD_BYTES, false],
      [MAX_UNREAD_BYTES + 1, true],
    ] as const) {
      const one = client()
      await one.ask(call(1, 'Tell'), call(2, 'Many', SOME, 0))
      await one.ask(call(3, 'Long', 2 * MAX_UNREAD_BYTES))
      one.tell(eventOf(bytes))
      expect(one.closed()).toBeUndefined()
      expect(one.behind()).toBeGreaterThan(2 * MAX_UNREAD_BYTES + bytes)
      one.tell('another')
      expect(one.closed()).toBe(isClosed ? 'the client does not read what it has subscribed to' : undefined)
    }
  })

  it('closes no channel of who still takes it, and that of who has a byte more waiting than it may', async () => {
    const one = client()
    await one.ask(call(1, 'Tell'), call(2, 'Open'), call(3, 'Many', SOME, 0))
    await one.ask(call(4, 'Long', 2 * MAX_UNREAD_BYTES))
    one.value('sent')
    one.tell(eventOf(MAX_UNREAD_BYTES))
    one.value('not sent')
    await one.takeAll()
    const methods = one.told().map(({ method }) => method)
    expect(methods.filter((each) => each !== undefined)).toEqual(['xrpc.ch.val', 'told', 'xrpc.ch.close'])
  })

  it('has its client read from with so many bytes behind it, and not with one more until it has been sent', async () => {
    for (const [bytes, isHeld] of [
      [HOLD_UNREAD_BYTES, false],
      [HOLD_UNREAD_BYTES + 1, true],
    ] as const) {
      const one = client()
      await one.ask(call(1, 'Many', SOME, 0))
      const around = '{"id":2,"jsonrpc":"2.0","result":""}'.length
      await one.ask(call(2, 'Long', bytes - around))
      expect([one.behind(), one.held]).toEqual([bytes, isHeld ? [true] : []])
      await one.ask(call(3, 'Long', 1))
      expect(one.behind() > bytes).toBe(!isHeld)
      await one.takeAll()
      one.one.drained()
      await one.ask(call(4, 'Long', 1))
      expect(one.told().map(({ id }) => id)).toEqual([1, 2, 3, 4])
    }
  })
})

describe('a list that ends before its time', () => {
  const GONE = { code: 1, message: 'the caller has gone' }

  it('because it is cancelled has an error behind what was sent of it, and the connection goes on', async () => {
    const one = client()
    await one.ask(call(1, 'Many', 1_000_000, 0))
    await one.takePart()
    await one.ask(cancel(1), call(2, 'Long', 1))
    expect([one.seen.ended, one.queues.load('scan').running]).toEqual([1, 0])
    await one.takeAll()
    const [list, other] = one.told()
    expect(list).toEqual({ id: 1, jsonrpc: '2.0', result: all(one.seen.items), error: GONE })
    expect([other?.id, one.closed(), one.behind()]).toEqual([2, undefined, 0])
  })

  it('because it is cancelled before its turn is an error alone', async () => {
    const one = client()
    await one.ask(call(1, 'Many', SOME, 0), call(2, 'Many', SOME, 0))
    await one.ask(cancel(2))
    await one.takeAll()
    const [list, other] = one.told()
    expect(list?.result).toEqual(all(SOME))
    expect(other).toEqual({ id: 2, jsonrpc: '2.0', error: GONE })
  })

  it('because it fails is an error alone before its first item; later the connection ends, and nothing more is sent', async () => {
    const one = client()
    await one.ask(call(1, 'Many', SOME, 3))
    expect(one.told()).toEqual([{ id: 1, jsonrpc: '2.0', error: { code: 1, message: 'no item 3' } }])
    await one.ask(call(2, 'Many', SOME, SOME / 2))
    await one.ask(call(3, 'Long', 1))
    await one.takeAll()
    expect(one.closed()).toMatchObject({ message: `no item ${SOME / 2}` })
    await one.ask(call(4, 'Long', 1))
    expect(one.messages).toHaveLength(1)
  })

  it('because its connection ends is looked for no further', async () => {
    const one = client()
    await one.ask(call(1, 'Many', 1_000_000, 0), call(2, 'Many', 1_000_000, 0))
    one.one.end()
    await one.takePart()
    await one.takePart()
    expect([one.seen.ended, one.queues.load('scan'), one.messages]).toEqual([2, { waiting: 0, running: 0 }, []])
  })
})

describe('the deadline of a list', () => {
  it('does not pass while it waits behind another, and passes from then on', async () => {
    const { deadlineMs } = COST_LIMITS.scan
    const one = client()
    // Each part that is taken in time makes its deadline later.
    const parts = deadlineMs / PART_MS + 10
    await one.ask(call(1, 'Many', parts * 70, 0), call(2, 'Many', SOME, 0))
    while (one.messages.length === 0) {
      await one.time.pass(PART_MS)
      await one.takePart()
    }
    expect(one.time.now).toBeGreaterThan(deadlineMs)
    expect(one.begun().slice(0, 8)).toBe('{"id":2,')
    await one.time.pass(deadlineMs - 1)
    await one.takePart()
    expect(one.closed()).toBeUndefined()
    await one.time.pass(deadlineMs)
    await one.takePart()
    expect(one.closed()).toMatchObject({ code: 'TIMED_OUT' })
  })
})
