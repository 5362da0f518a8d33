/** Frames of a WebSocket session, in the order and shape of golden/wire/websocket.jsonl. */
import { describe, expect, it } from 'vitest'
import { RpcSession } from '../../src/rpc/session.ts'
import { openChannels, stubEngine } from './stubTable.ts'

function session(): { frames: unknown[]; take: () => unknown[]; one: RpcSession } {
  const frames: unknown[] = []
  const one = new RpcSession({
    engine: stubEngine(),
    version: 'v1',
    permissions: new Set(['read']),
    sink: { send: (text) => frames.push(JSON.parse(text)), unreadBytes: () => 0 },
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
