/** Channels and Ethereum subscriptions: so many of a caller, however many connections it has. */
import { expect, it } from 'vitest'
import { MAX_CHANNELS, REFUSAL_MS, SUBSCRIPTION_LIMITS, WANTED_LIMITS } from '../../src/base/bounds.ts'
import { json } from '../../src/codec/description.ts'
import { CostQueues } from '../../src/rpc/cost.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { channelMethod } from '../../src/rpc/method.ts'
import { ethSubscribeMethods } from '../../src/rpc/methods/ethSubscribe.ts'
import { RpcSession } from '../../src/rpc/session.ts'
import { Subscriptions } from '../../src/rpc/subscriptions.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { forkingChain, JSON_CONTEXT, loggedBlock, loggedReader } from './forkingChain.ts'
import { silentLog } from './stubTable.ts'

function node() {
  const { store } = forkingChain(1)
  const reader = loggedReader(store, async (tipset) => loggedBlock(tipset, 1))
  let id = 0
  const random = { fill: (out: Uint8Array) => void new DataView(out.buffer, out.byteOffset).setUint32(0, id++) }
  let open = 0
  const refusing = (): never => {
    throw new Error('not here')
  }
  const rows = [
    ...ethSubscribeMethods({ reader, log: silentLog, random, onPoolMessage: () => () => undefined }),
    channelMethod({
      ...{ name: 'Open', perm: 'read', params: [], result: json },
      subscribe: () => {
        open++
        return () => open--
      },
    }),
    channelMethod({ name: 'Refuse', perm: 'read', params: [], result: json, subscribe: refusing }),
  ]
  let later = (): void => undefined
  const clock = { nowMs: () => 0, monotonicMs: () => 0 }
  const timers = {
    setTimeout: (run: () => void, ms: number) => {
      if (ms === REFUSAL_MS) later = run
      else queueMicrotask(run)
      return () => undefined
    },
  }
  const queues = new CostQueues({ clock, timers })
  const engine = new RpcEngine({ table: createMethodTable(rows), json: JSON_CONTEXT, log: silentLog, queues })
  const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0))
  const connect = (name: string, hasToken: boolean) => {
    const answers: { result?: unknown; error?: { code: number; message: string } }[] = []
    const session = new RpcSession({
      ...{ engine, version: 'v1', permissions: () => new Set(['read']), name: { name, hasToken } },
      sink: { send: (text) => void answers.push(JSON.parse(text)), unreadBytes: () => 0, close: () => undefined },
    })
    let at = 0
    const ask = (method: string, ...params: unknown[]): number => {
      session.receive(JSON.stringify({ jsonrpc: '2.0', id: ++at, method, params }))
      return at
    }
    /** Answers of the last call. */
    const said = async (): Promise<unknown> => {
      await settle()
      if (answers.length === 0) later()
      await settle()
      const { result, error } = answers.pop() ?? {}
      answers.length = 0
      return error?.code ?? typeof result
    }
    return { session, ask, said }
  }
  return { connect, open: () => open }
}

it('an address has so many, of both kinds and over all its connections, and not one more', async () => {
  const { connect, open } = node()
  const { perAddress } = SUBSCRIPTION_LIMITS
  const peers = Array.from({ length: perAddress / MAX_CHANNELS }, () => connect('address 192.0.2.1', false))
  for (const [i, { ask }] of peers.entries()) {
    for (let j = 0; j < MAX_CHANNELS; j++) {
      if (i % 2 === 0) ask('Filecoin.Open')
      else ask('eth_subscribe', 'newHeads')
    }
  }
  expect(open()).toBe(perAddress / 2)
  const [first, second] = peers as [(typeof peers)[0], (typeof peers)[0]]
  await Promise.all(peers.map(({ said }) => said()))
  const more = connect('address 192.0.2.1', false)
  more.ask('Filecoin.Open')
  expect(await more.said()).toBe(-32005)
  more.ask('eth_subscribe', 'newHeads')
  expect(await more.said()).toBe(-32005)
  const other = connect('address 192.0.2.2', false)
  other.ask('Filecoin.Open')
  expect(await other.said()).toBe('number')

  // One that ends leaves room for one; so does what cannot begin, each time.
  first.ask('xrpc.cancel', 1)
  await first.said()
  for (let i = 0; i < 3; i++) {
    more.ask('Filecoin.Refuse')
    expect(await more.said()).not.toBe(-32005)
    more.ask('eth_subscribe', 'nothing')
    expect(await more.said()).toBe(1)
  }
  more.ask('eth_subscribe', 'newHeads')
  expect(await more.said()).toBe('string')
  more.ask('Filecoin.Open')
  expect(await more.said()).toBe(-32005)
  // And a connection for all that it had.
  second.session.end()
  for (let i = 0; i < MAX_CHANNELS - 1; i++) more.ask('Filecoin.Open')
  await more.said()
  const last = connect('address 192.0.2.1', false)
  last.ask('Filecoin.Open')
  expect(await last.said()).toBe('number')
  last.ask('Filecoin.Open')
  expect(await last.said()).toBe(-32005)
})

it('a token has more, and all together have a bound', () => {
  const { all, perToken, perAddress } = SUBSCRIPTION_LIMITS
  expect([perAddress < perToken, perToken < all]).toEqual([true, true])
  const subscriptions = new Subscriptions()
  const ends = Array.from({ length: perToken }, () => subscriptions.open({ name: 'token a', hasToken: true }))
  expect(() => subscriptions.open({ name: 'token a', hasToken: true })).toThrow(`a token may have ${perToken}`)
  const open = (i: number): (() => void) =>
    subscriptions.open({ name: `address ${Math.floor(i / perAddress)}`, hasToken: false })
  for (let i = perToken; i < all; i++) open(i)
  expect(() => open(all)).toThrow(`all callers may have ${all}`)
  // Twice is once.
  for (const _ of [1, 2]) ends[0]?.()
  open(all)
  expect(() => open(all)).toThrow(`all callers may have ${all}`)
})

it('what subscriptions want is bounded by address, token, without a token and in all, at the bound and one byte above', () => {
  const { all, withoutToken, perToken, perAddress } = WANTED_LIMITS
  const subscriptions = new Subscriptions()
  const want = (name: string, hasToken: boolean, bytes: number): (() => void) =>
    subscriptions.want({ name, hasToken }, bytes)
  const ends = Array.from({ length: withoutToken / perAddress }, (_, i) => want(`address ${i}`, false, perAddress))
  expect(() => want('address 0', false, 1)).toThrow(`an address without a token may take ${perAddress} bytes`)
  expect(() => want('address', false, 1)).toThrow(`all callers without a token may take ${withoutToken} bytes`)
  want('token a', true, all - withoutToken)
  expect(() => want('token b', true, 1)).toThrow(`all callers may take ${all} bytes`)
  // Twice is once.
  for (const _ of [1, 2]) ends[0]?.()
  want('token b', true, perAddress)
  expect(() => want('token b', true, 1)).toThrow(`all callers may take ${all} bytes`)
  for (const end of ends) end()
  want('token b', true, perToken - perAddress)
  expect(() => want('token b', true, 1)).toThrow(`a token may take ${perToken} bytes`)
})
