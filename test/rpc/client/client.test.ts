/** The typed client against the engine's own session and HTTP handler. */
import { describe, expect, it } from 'vitest'
import { parseJson, stringifyJson } from '../../../src/codec/jsonText.ts'
import { createClient } from '../../../src/rpc/client/client.ts'
import { RpcClientError } from '../../../src/rpc/client/errors.ts'
import { type FrameListener, FrameTransport } from '../../../src/rpc/client/frameTransport.ts'
import { httpTransport } from '../../../src/rpc/client/httpTransport.ts'
import { openWebSocket, type WebSocketLike } from '../../../src/rpc/client/webSocketTransport.ts'
import { mpoolSub } from '../../../src/rpc/signatures/mpool.ts'
import { stateGetActor } from '../../../src/rpc/signatures/state.ts'
import { walletBalance } from '../../../src/rpc/signatures/wallet.ts'
import { parseAddress } from '../../../src/types/address.ts'

const SIGNATURES = { WalletBalance: walletBalance, StateGetActor: stateGetActor, MpoolSub: mpoolSub }
const WHO = 'f1abjxfbp274xpdqcpuaykwkfb43omjotacm2p3za'

/** A server that answers by `answer`; what was asked is in `asked`. */
function frames(answer: (request: Record<string, unknown>, send: (frame: unknown) => void) => void): {
  transport: FrameTransport
  asked: unknown[]
  listener: () => FrameListener
} {
  const asked: unknown[] = []
  let listener: FrameListener | undefined
  const transport = new FrameTransport((given) => {
    listener = given
    return {
      send: (text) => {
        const request = JSON.parse(text) as Record<string, unknown>
        asked.push(request)
        answer(request, (frame) => queueMicrotask(() => given.frame(JSON.stringify(frame))))
      },
      close: () => undefined,
    }
  })
  return { transport, asked, listener: () => listener as FrameListener }
}

async function failure(promise: Promise<unknown>): Promise<RpcClientError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(RpcClientError)
  return error as RpcClientError
}

describe('typed client', () => {
  it('encodes parameters and decodes the result by the codecs of the signature', async () => {
    const { transport, asked } = frames(({ id }, send) => send({ id, jsonrpc: '2.0', result: '12345678901234567890' }))
    const node = createClient(transport, SIGNATURES)
    const balance: bigint = await node.WalletBalance(parseAddress(WHO))
    expect(balance).toBe(12345678901234567890n)
    expect(asked).toEqual([{ jsonrpc: '2.0', id: 1, method: 'Filecoin.WalletBalance', params: [WHO] }])
  })

  it("passes on the node's error with its number", async () => {
    const { transport } = frames(({ id }, send) => send({ id, error: { code: 11, message: 'actor not found' } }))
    const error = await failure(createClient(transport, SIGNATURES).StateGetActor(parseAddress(WHO), []))
    expect([error.code, error.info.code, error.message]).toEqual(['REMOTE', 11, 'actor not found'])
  })

  it('refuses an answer that is not of its type', async () => {
    const { transport } = frames(({ id }, send) => send({ id, result: { no: 'number' } }))
    const error = await failure(createClient(transport, SIGNATURES).WalletBalance(parseAddress(WHO)))
    expect(error.code).toBe('BAD_ANSWER')
  })

  it('gives up a call by its signal, and tells the node', async () => {
    const { transport, asked } = frames(() => undefined)
    const controller = new AbortController()
    const call = failure(transport.request('Filecoin.StateWaitMsg', [], controller.signal))
    controller.abort()
    expect((await call).code).toBe('CLOSED')
    expect(asked[1]).toEqual({ jsonrpc: '2.0', method: 'xrpc.cancel', params: [1] })
  })
})

describe('channels', () => {
  const update = { Type: 0, Message: { Message: { To: WHO, From: WHO, Value: '1' }, Signature: { Type: 1, Data: '' } } }

  it('carry values that come with the answer, and stop', async () => {
    const { transport, asked } = frames(({ id, method }, send) => {
      if (method !== 'Filecoin.MpoolSub') return
      send({ id, result: 7 })
      send({ method: 'xrpc.ch.val', params: [7, update] })
      send({ method: 'xrpc.ch.val', params: [8, update] })
    })
    const got: string[] = []
    const stop = await createClient(transport, SIGNATURES).MpoolSub({
      value: ({ type, message }) => got.push(`${type} ${message.message.value}`),
    })
    await Promise.resolve()
    expect(got).toEqual(['add 1'])
    stop()
    expect(asked[1]).toEqual({ jsonrpc: '2.0', method: 'xrpc.cancel', params: [1] })
  })

  it('end with the connection, and so does what waits', async () => {
    const { transport, listener } = frames(({ id, method }, send) => {
      if (method === 'Filecoin.MpoolSub') send({ id, result: 1 })
    })
    const node = createClient(transport, SIGNATURES)
    let ended = 0
    await node.MpoolSub({ value: () => undefined, end: () => ended++ })
    const waiting = failure(node.WalletBalance(parseAddress(WHO)))
    listener().closed('cable cut')
    expect((await waiting).code).toBe('CLOSED')
    expect(ended).toBe(1)
    expect((await failure(node.WalletBalance(parseAddress(WHO)))).code).toBe('CLOSED')
  })

  it('end at a value that is not of their type', async () => {
    const { transport } = frames(({ id }, send) => {
      send({ id, result: 1 })
      send({ method: 'xrpc.ch.val', params: [1, { Type: 0, Message: { Message: { To: 'nobody' } } }] })
    })
    let reason: unknown
    await createClient(transport, SIGNATURES).MpoolSub({ value: () => undefined, end: (error) => (reason = error) })
    await Promise.resolve()
    expect(reason).toBeInstanceOf(RpcClientError)
  })

  it('are not carried by HTTP', async () => {
    const transport = httpTransport(() => Promise.resolve({ status: 200, text: '{}' }))
    const error = await failure(createClient(transport, SIGNATURES).MpoolSub({ value: () => undefined }))
    expect(error.code).toBe('NOT_SUPPORTED')
  })
})

describe('HTTP', () => {
  it.each([
    [{ status: 200, text: '{"id":1,"jsonrpc":"2.0","result":18446744073709551615}' }, undefined],
    [{ status: 500, text: '{"error":{"code":1,"message":"no"},"id":1}' }, 'REMOTE'],
    [{ status: 401, text: '' }, 'UNAUTHORIZED'],
    [{ status: 502, text: '<html>' }, 'BAD_ANSWER'],
  ])('%o', async (answer, code) => {
    const transport = httpTransport((body) => {
      expect(parseJson(body)).toEqual({ jsonrpc: '2.0', id: 1, method: 'Filecoin.X', params: [] })
      return Promise.resolve(answer)
    })
    if (code !== undefined) expect((await failure(transport.request('Filecoin.X', []))).code).toBe(code)
    else expect(stringifyJson(await transport.request('Filecoin.X', []))).toBe('18446744073709551615')
  })

  it('says when nobody answers', async () => {
    const transport = httpTransport(() => Promise.reject(new Error('ECONNREFUSED')))
    expect((await failure(transport.request('Filecoin.X', []))).code).toBe('UNREACHABLE')
  })
})

describe('WebSocket', () => {
  it('is UNREACHABLE when it closes before it opens', async () => {
    const socket: WebSocketLike = {
      send: () => undefined,
      close: () => undefined,
      onopen: null,
      onmessage: null,
      onerror: null,
      onclose: null,
    }
    const opening = failure(openWebSocket(() => socket))
    socket.onclose?.({ code: 1006, reason: '' } as never)
    expect((await opening).code).toBe('UNREACHABLE')
  })
})
