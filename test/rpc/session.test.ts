/** Frames of a WebSocket session, in the order and shape of golden/wire/websocket.jsonl. */
import { describe, expect, it } from 'vitest'
import { HOLD_UNREAD_BYTES, MAX_CHANNELS, MAX_RUNNING_REQUESTS, MAX_UNREAD_BYTES } from '../../src/base/bounds.ts'
import { json } from '../../src/codec/description.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { channelMethod, method, rawMethod } from '../../src/rpc/method.ts'
import { RpcSession } from '../../src/rpc/session.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { openChannels, silentLog, stubEngine } from './stubTable.ts'

function session(permissions: () => ReadonlySet<string> | undefined = () => new Set(['read'])): {
  frames: unknown[]
  take: () => unknown[]
  one: RpcSession
} {
  const frames: unknown[] = []
  const one = new RpcSession({
    engine: stubEngine(),
    version: 'v1',
    permissions,
    sink: {
      send: (text) => frames.push(JSON.parse(text)),
      unreadBytes: () => 0,
      close: (reason) => frames.push({ closed: reason }),
    },
  })
  return { frames, one, take: () => frames.splice(0) }
}

const request = (id: unknown, method: string, params: unknown[] = []): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })

describe('WebSocket session', () => {
  it('sends the channel number before any value', () => {
    const { one, take } = session()
    one.receive(request(2, 'Filecoin.ChainNotify'))
    expect(take()).toEqual([
      { id: 2, jsonrpc: '2.0', result: 1 },
      { jsonrpc: '2.0', method: 'xrpc.ch.val', params: [1, ['first']] },
    ])
    openChannels.at(-1)?.value(['second'])
    expect(take()).toEqual([{ jsonrpc: '2.0', method: 'xrpc.ch.val', params: [1, ['second']] }])
    one.end()
  })

  it('closes the cancelled channel alone, and sends nothing for it afterwards', () => {
    const { one, take } = session()
    one.receive(request(2, 'Filecoin.ChainNotify'))
    const first = openChannels.at(-1)
    one.receive(request('b', 'Filecoin.ChainNotify'))
    take()
    one.receive('{"jsonrpc":"2.0","method":"xrpc.cancel","params":[2]}')
    expect(take()).toEqual([{ jsonrpc: '2.0', method: 'xrpc.ch.close', params: [1] }])
    first?.value(['late'])
    expect(take()).toEqual([])
    openChannels.at(-1)?.value(['more'])
    expect(take()).toEqual([{ jsonrpc: '2.0', method: 'xrpc.ch.val', params: [2, ['more']] }])
    one.end()
    expect(openChannels).toEqual([])
  })

  it('answers an unknown method, drops what is no request', () => {
    const { one, take } = session()
    one.receive(request(7, 'Filecoin.Nope'))
    expect(take()).toEqual([
      { error: { code: -32601, message: "method 'Filecoin.Nope' not found" }, id: 7, jsonrpc: '2.0' },
    ])
    one.receive('{')
    one.receive(`[${request(9, 'Filecoin.StateNetworkName')}]`)
    one.receive('{"jsonrpc":"2.0","method":"Filecoin.Nope","params":[]}')
    expect(take()).toEqual([])
    one.receive(new TextEncoder().encode(request(8, 'Filecoin.StateNetworkName')))
    expect(take()).toEqual([{ id: 8, jsonrpc: '2.0', result: 'testing' }])
  })
})

describe('a token that becomes void', () => {
  const closed = { closed: 'the token is not valid any more' }

  it('ends the connection at the next frame, which is not answered', () => {
    let granted: ReadonlySet<string> | undefined = new Set(['read'])
    const { one, take } = session(() => granted)
    one.receive(request(1, 'Filecoin.StateNetworkName'))
    expect(take()).toHaveLength(1)
    granted = undefined
    one.receive(request(2, 'Filecoin.StateNetworkName'))
    expect(take()).toEqual([closed])
    one.receive(request(3, 'Filecoin.StateNetworkName'))
    expect(take()).toEqual([])
  })

  it('ends channels, and whatever is looked at in between', () => {
    let granted: ReadonlySet<string> | undefined = new Set(['read'])
    for (const look of [
      (one: RpcSession) => openChannels.at(-1)?.value(['x']) ?? one,
      (one: RpcSession) => one.checkToken(),
    ]) {
      granted = new Set(['read'])
      const { one, take } = session(() => granted)
      one.receive(request(1, 'Filecoin.ChainNotify'))
      take()
      look(one)
      take()
      granted = undefined
      look(one)
      expect(take()).toEqual([closed])
      expect(openChannels).toEqual([])
    }
  })

  it('with fewer permissions may less at once', () => {
    let granted = new Set(['read', 'write', 'sign', 'admin'])
    const { one, take } = session(() => granted)
    granted = new Set()
    one.receive(request(1, 'Filecoin.StateNetworkName'))
    expect(take()).toEqual([
      {
        error: { code: 1, message: "missing permission to invoke 'StateNetworkName' (need 'read')" },
        id: 1,
        jsonrpc: '2.0',
      },
    ])
    one.end()
  })
})

describe('an id that is used again', () => {
  it('leaves no channel and no wait behind', () => {
    const { one, take } = session()
    one.receive(request(5, 'Filecoin.ChainNotify'))
    one.receive(request(5, 'Filecoin.ChainNotify'))
    expect(openChannels).toHaveLength(2)
    take()
    one.end()
    expect(openChannels).toEqual([])
  })

  it('names all that have it', () => {
    const { one, take } = session()
    one.receive(request(5, 'Filecoin.ChainNotify'))
    one.receive(request(5, 'Filecoin.ChainNotify'))
    take()
    one.receive('{"jsonrpc":"2.0","method":"xrpc.cancel","params":[5]}')
    expect(take()).toEqual([
      { jsonrpc: '2.0', method: 'xrpc.ch.close', params: [1] },
      { jsonrpc: '2.0', method: 'xrpc.ch.close', params: [2] },
    ])
    expect(openChannels).toEqual([])
    one.end()
  })
})

describe('bounds of a connection', () => {
  /** A client that reads when the test says so. */
  function slow() {
    let unread = 0
    let read = true
    let waiting = 0
    const held: boolean[] = []
    const sent: { id?: number; method?: string; error?: { message: string }; result?: unknown }[] = []
    let closed: string | undefined
    let tell: (text: string) => void = () => undefined
    let value: (text: string) => void = () => undefined
    const engine = new RpcEngine({
      table: createMethodTable([
        method({ name: 'Big', perm: 'read', params: [], result: json, handler: () => 'x'.repeat(100_000) }),
        method({
          name: 'Huge',
          perm: 'read',
          params: [],
          result: json,
          handler: () => 'x'.repeat(3 * MAX_UNREAD_BYTES),
        }),
        method({
          name: 'Wait',
          perm: 'read',
          params: [],
          result: json,
          handler: ({ signal }) =>
            new Promise<null>((resolve) => {
              waiting++
              signal.addEventListener('abort', () => {
                waiting--
                resolve(null)
              })
            }),
        }),
        channelMethod({
          name: 'Open',
          perm: 'read',
          params: [],
          result: json,
          subscribe: (channel) => {
            value = (text) => channel.value(text)
            return () => undefined
          },
        }),
        rawMethod({
          name: 'Tell',
          perm: 'read',
          params: [],
          result: json,
          handler: (_params, { notify }) => {
            tell = (text) => notify?.('told', [text])
            return true
          },
        }),
      ]),
      json: { addressPrefix: 't' },
      log: silentLog,
    })
    const one = new RpcSession({
      engine,
      version: 'v1',
      permissions: () => new Set(['read']),
      sink: {
        send: (text) => {
          sent.push(JSON.parse(text) as (typeof sent)[number])
          if (!read) unread += text.length
        },
        unreadBytes: () => unread,
        hold: (isHeld) => held.push(isHeld),
        close: (reason) => {
          closed = reason
        },
      },
    })
    /** @param left - bytes that it has not read yet */
    const drain = (left = 0): void => {
      unread = left
      one.drained()
    }
    return {
      ...{ one, sent, held, drain },
      stopReading: () => (read = false),
      unread: () => unread,
      waiting: () => waiting,
      closed: () => closed,
      tell: (text: string) => tell(text),
      value: (text: string) => value(text),
    }
  }

  it('a client that does not read is not read from, and loses nothing', () => {
    const client = slow()
    client.stopReading()
    for (let i = 0; i < 1000; i++) client.one.receive(request(i, 'Filecoin.Big'))
    expect(client.unread()).toBeLessThan(HOLD_UNREAD_BYTES + 200_000)
    expect(client.held).toEqual([true])
    for (let i = 0; i < 200 && client.sent.length < 1000; i++) client.drain()
    expect(client.sent.map(({ id }) => id)).toEqual(Array.from({ length: 1000 }, (_, i) => i))
    client.drain()
    expect(client.held.at(-1)).toBe(false)
  })

  it('is read from with so much unread, and not with a byte more, until half of that has left', () => {
    const client = slow()
    let id = 0
    const ask = (): void => client.one.receive(request(++id, 'Filecoin.Open'))
    client.drain(HOLD_UNREAD_BYTES)
    ask()
    expect(client.held).toEqual([])
    client.drain(HOLD_UNREAD_BYTES + 1)
    ask()
    expect(client.held).toEqual([true])
    client.drain(HOLD_UNREAD_BYTES / 2 + 1)
    ask()
    expect([client.held, client.sent.length]).toEqual([[true], 2])
    client.drain(HOLD_UNREAD_BYTES / 2)
    expect([client.held, client.sent.length]).toEqual([[true, false], 3])
  })

  it('so many requests under way, and one more', () => {
    const client = slow()
    for (let i = 0; i <= MAX_RUNNING_REQUESTS; i++) client.one.receive(request(i, 'Filecoin.Wait'))
    expect(client.waiting()).toBe(MAX_RUNNING_REQUESTS)
    expect(client.sent).toEqual([
      {
        id: MAX_RUNNING_REQUESTS,
        jsonrpc: '2.0',
        error: { code: 1, message: `too many requests under way on this connection, at most ${MAX_RUNNING_REQUESTS}` },
      },
    ])
    client.one.receive('{"jsonrpc":"2.0","method":"xrpc.cancel","params":[7]}')
    client.one.receive(request('again', 'Filecoin.Wait'))
    expect(client.waiting()).toBe(MAX_RUNNING_REQUESTS)
    client.one.end()
    expect(client.waiting()).toBe(0)
  })

  it('so many channels, and one more', () => {
    const client = slow()
    for (let i = 0; i <= MAX_CHANNELS; i++) client.one.receive(request(i, 'Filecoin.Open'))
    expect(client.sent.filter(({ error }) => error !== undefined).map(({ error }) => error?.message)).toEqual([
      `too many channels on this connection, at most ${MAX_CHANNELS}`,
    ])
    client.one.receive(request('next', 'Filecoin.Big'))
    expect(client.sent.at(-1)?.result).toHaveLength(100_000)
    client.one.end()
  })

  it('events that nobody reads end the connection', () => {
    const client = slow()
    client.one.receive(request(1, 'Filecoin.Tell'))
    client.stopReading()
    for (let i = 0; i < 400; i++) client.tell('x'.repeat(100_000))
    expect(client.unread()).toBeLessThan(MAX_UNREAD_BYTES + 200_000)
    expect(client.closed()).toBe('the client does not read what it has subscribed to')
  })

  it('an event goes to who has so much unread, and ends the connection of who has a byte more', () => {
    const client = slow()
    client.one.receive(request(1, 'Filecoin.Tell'))
    client.drain(MAX_UNREAD_BYTES)
    client.tell('at the bound')
    expect([client.sent.length, client.closed()]).toEqual([2, undefined])
    client.drain(MAX_UNREAD_BYTES + 1)
    client.tell('above it')
    expect([client.sent.length, client.closed()]).toEqual([2, 'the client does not read what it has subscribed to'])
  })

  it('a value goes to who has so much unread, and a channel of who has a byte more ends', () => {
    const client = slow()
    client.one.receive(request(1, 'Filecoin.Open'))
    client.drain(MAX_UNREAD_BYTES)
    client.value('at the bound')
    client.drain(MAX_UNREAD_BYTES + 1)
    client.value('above it')
    expect(client.sent.map(({ method }) => method)).toEqual([undefined, 'xrpc.ch.val', 'xrpc.ch.close'])
    expect(client.closed()).toBeUndefined()
  })

  it('a large answer that it still reads is not held against what it has subscribed to', () => {
    const client = slow()
    client.one.receive(request(1, 'Filecoin.Tell'))
    client.stopReading()
    client.one.receive(request(2, 'Filecoin.Huge'))
    const answer = client.unread()
    expect(answer).toBeGreaterThan(MAX_UNREAD_BYTES)
    for (let i = 0; i < 100; i++) client.tell('x'.repeat(100_000))
    expect(client.closed()).toBeUndefined()
    for (let i = 0; i < 400; i++) client.tell('x'.repeat(100_000))
    expect(client.unread()).toBeLessThan(answer + MAX_UNREAD_BYTES + 200_000)
    expect(client.closed()).toBe('the client does not read what it has subscribed to')
  })

  it('what has been read of a large answer makes no room for more events', () => {
    const client = slow()
    client.one.receive(request(1, 'Filecoin.Tell'))
    client.stopReading()
    client.one.receive(request(2, 'Filecoin.Huge'))
    client.drain()
    for (let i = 0; i < 400; i++) client.tell('x'.repeat(100_000))
    expect(client.unread()).toBeLessThan(MAX_UNREAD_BYTES + 200_000)
    expect(client.closed()).toBe('the client does not read what it has subscribed to')
  })
})
