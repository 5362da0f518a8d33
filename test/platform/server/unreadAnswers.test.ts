/** What clients leave unread, all together: at the bound, and one byte above. */
import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { startServer } from '../../../platform/server/httpServer.ts'
import type { Listening } from '../../../platform/server/rpcServer.ts'
import { UnreadAnswers } from '../../../platform/server/unreadAnswers.ts'
import { MAX_ALL_UNREAD_BYTES } from '../../../src/base/bounds.ts'
import { json } from '../../../src/codec/description.ts'
import { RpcEngine } from '../../../src/rpc/engine.ts'
import { HttpHandler } from '../../../src/rpc/http.ts'
import { method } from '../../../src/rpc/method.ts'
import { createMethodTable } from '../../../src/rpc/table.ts'
import { silentLog, stubVerifier } from '../../rpc/stubTable.ts'

const KIB = 1024

class Client {
  isEnded = false

  destroy(): void {
    this.isEnded = true
  }
}

describe('answers that wait', () => {
  const ended = (clients: readonly Client[]): number[] => clients.flatMap((one, i) => (one.isEnded ? [i] : []))

  it('may be so many bytes, and with one more the client that has taken nothing for longest goes', () => {
    const unread = new UnreadAnswers(1000 * KIB)
    const clients = Array.from({ length: 5 }, () => new Client())
    for (const one of clients) unread.set(one, 200 * KIB)
    expect(ended(clients)).toEqual([])
    // The first takes something: now the second is the stalest.
    unread.set(clients[0] as Client, 199 * KIB)
    unread.set(clients[3] as Client, 201 * KIB)
    expect(ended(clients)).toEqual([])
    unread.set(clients[3] as Client, 201 * KIB + 1)
    expect(ended(clients)).toEqual([1])
    clients.push(new Client())
    unread.set(clients[5] as Client, 1000 * KIB)
    expect(ended(clients)).toEqual([0, 1, 2, 3, 4])
  })

  it('may be as many as a node’s bound, and not one byte more', () => {
    const unread = new UnreadAnswers()
    const clients = [new Client(), new Client()] as const
    unread.set(clients[0], MAX_ALL_UNREAD_BYTES / 2)
    unread.set(clients[1], MAX_ALL_UNREAD_BYTES / 2)
    expect(ended(clients)).toEqual([])
    unread.set(clients[1], MAX_ALL_UNREAD_BYTES / 2 + 1)
    expect(ended(clients)).toEqual([0])
  })

  it('of clients that read are forgotten', () => {
    const unread = new UnreadAnswers(100 * KIB)
    const clients = Array.from({ length: 100 }, () => new Client())
    for (const one of clients) {
      unread.set(one, 100 * KIB)
      unread.set(one, 0)
    }
    expect(ended(clients)).toEqual([])
  })
})

describe('a server', () => {
  const ANSWER = 'x'.repeat(32 * KIB * KIB)
  const row = method({ name: 'Big', perm: 'read', params: [], result: json, handler: () => ANSWER })
  const engine = new RpcEngine({ table: createMethodTable([row]), json: { addressPrefix: 't' }, log: silentLog })
  const handler = new HttpHandler(engine, { verifier: stubVerifier })
  const body = '{"jsonrpc":"2.0","id":1,"method":"Filecoin.Big","params":[]}'
  const head = `POST /rpc/v1 HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  let server: Listening | undefined
  const sockets: Socket[] = []
  afterEach(async () => {
    for (const one of sockets.splice(0)) one.destroy()
    await server?.close()
  })

  it('ends those that do not read, and answers one that does', async () => {
    server = await startServer({ handler, engine, log: silentLog, host: '127.0.0.1', port: 0, closeGraceMs: 0 })
    const { port } = server
    const most = Math.floor(MAX_ALL_UNREAD_BYTES / ANSWER.length)
    let closed = 0
    const enough = new Promise<void>((resolve) => {
      for (let i = 0; i < most + 4; i++) {
        const socket = connect(port, '127.0.0.1', () => {
          socket.write(head)
          socket.pause()
        })
        socket.on('error', () => undefined)
        socket.on('close', () => {
          closed++
          if (closed >= 4) resolve()
        })
        sockets.push(socket)
      }
    })
    // A paused socket does not hear of its end: it is written to until it fails.
    const prod = setInterval(() => {
      for (const one of sockets) one.write(' ')
    }, 100)
    await enough
    clearInterval(prod)
    const answer = await fetch(`http://127.0.0.1:${port}/rpc/v1`, { method: 'POST', body })
    expect(((await answer.json()) as { result: string }).result).toHaveLength(ANSWER.length)
  }, 30_000)
})
