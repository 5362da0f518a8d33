/** What a client is told while the tab's database cannot be written: nothing that an end of the tab would take back. */
import { describe, expect, it } from 'vitest'
import { openSession } from '../../platform/browser/frames.ts'
import { HttpHandler } from '../../src/rpc/http.ts'
import { openChannels, stubEngine, stubVerifier } from '../rpc/stubTable.ts'

const FULL = 'Cannot write to the store: the disk is full'

/** A page's session with a node whose database is what `settle` says. */
function connect() {
  const told: unknown[] = []
  const engine = stubEngine()
  const database: { settle: () => Promise<void> | undefined } = { settle: () => undefined }
  const host = {
    node: { engine, handler: new HttpHandler(engine, { verifier: stubVerifier }) },
    settle: () => database.settle(),
  }
  const receiver = {
    frame: (text: string) => void told.push(JSON.parse(text)),
    unreadBytes: () => 0,
    refused: (reason: string) => void told.push({ reason }),
  }
  const session = openSession(host, { access: { as: 'page' }, version: 'v1' }, receiver)
  const ask = (id: number, method: string): void =>
    session.receive(JSON.stringify({ jsonrpc: '2.0', id, method: `Filecoin.${method}`, params: [] }))
  return { database, session, ask, take: () => told.splice(0) }
}

/** What follows a promise that is settled. */
const afterwards = async (): Promise<void> => {
  for (let i = 0; i < 5; i++) await Promise.resolve()
}

describe('frames of a tab', () => {
  it('wait until all is written', async () => {
    const { database, session, ask, take } = connect()
    const { promise, resolve } = Promise.withResolvers<void>()
    database.settle = () => promise
    ask(1, 'StateNetworkName')
    ask(2, 'Nope')
    await afterwards()
    expect(take()).toEqual([])
    resolve()
    await afterwards()
    expect(take()).toEqual([
      { id: 1, jsonrpc: '2.0', result: expect.anything() },
      { id: 2, jsonrpc: '2.0', error: expect.objectContaining({ code: -32601 }) },
    ])
    session.end()
  })

  it('wait for what was written after the one before', async () => {
    const { database, session, ask, take } = connect()
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    database.settle = () => first.promise
    ask(1, 'StateNetworkName')
    database.settle = () => second.promise
    ask(2, 'StateNetworkName')
    first.resolve()
    await afterwards()
    expect(take()).toEqual([{ id: 1, jsonrpc: '2.0', result: expect.anything() }])
    second.resolve()
    await afterwards()
    expect(take()).toEqual([{ id: 2, jsonrpc: '2.0', result: expect.anything() }])
    session.end()
  })

  it('that rest on what cannot be written are errors, and events wait until it can', async () => {
    const { database, session, ask, take } = connect()
    ask(1, 'ChainNotify')
    take()
    database.settle = () => Promise.reject(new Error(FULL))
    ask(2, 'StateNetworkName')
    openChannels.at(-1)?.value(['second'])
    ask(3, 'Nope')
    await afterwards()
    expect(take()).toEqual([
      { id: 2, jsonrpc: '2.0', error: { code: 1, message: FULL } },
      { id: 3, jsonrpc: '2.0', error: expect.objectContaining({ code: -32601 }) },
    ])
    ask(4, 'StateNetworkName')
    await afterwards()
    expect(take()).toEqual([{ id: 4, jsonrpc: '2.0', error: { code: 1, message: FULL } }])
    database.settle = () => undefined
    ask(5, 'StateNetworkName')
    expect(take()).toEqual([
      { jsonrpc: '2.0', method: 'xrpc.ch.val', params: [1, ['second']] },
      { id: 5, jsonrpc: '2.0', result: expect.anything() },
    ])
    session.end()
  })
})
