/** A WebSocket that is silent is pinged, and its token looked at: at the moment of the ping, and not a millisecond before. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import WebSocket from 'ws'
import { startServer } from '../../../platform/server/httpServer.ts'
import type { Listening } from '../../../platform/server/rpcServer.ts'
import { PING_INTERVAL_MS } from '../../../src/base/bounds.ts'
import { HttpHandler } from '../../../src/rpc/http.ts'
import { silentLog, stubEngine, verifierOf } from '../../rpc/stubTable.ts'

const POLICY_VIOLATION = 1008
const valid = new Set<string>()
let looks = 0
let server: Listening
beforeEach(async () => {
  // Those of the server alone: sockets go by real time.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const permissionsOf = (token: string): ReadonlySet<string> | undefined => {
    looks++
    return valid.has(token) ? new Set(['read']) : undefined
  }
  const engine = stubEngine()
  const handler = new HttpHandler(engine, { verifier: verifierOf(permissionsOf) })
  server = await startServer({ engine, handler, log: silentLog, host: '127.0.0.1', port: 0, closeGraceMs: 0 })
})
afterEach(async () => {
  await server.close()
  vi.useRealTimers()
})

async function open(token: string): Promise<{ socket: WebSocket; told: string[] }> {
  valid.add(token)
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/rpc/v1?token=${token}`)
  const told: string[] = []
  socket.on('ping', () => told.push('ping'))
  socket.on('message', () => told.push('answer'))
  await new Promise((resolve) => socket.once('open', resolve))
  // By then the server has its session, whose time is counted from there.
  await answered(socket)
  told.length = 0
  looks = 0
  return { socket, told }
}

/** Frames arrive in order: what was sent before the answer is there when it is. */
function answered(socket: WebSocket): Promise<void> {
  socket.send('{"jsonrpc":"2.0","id":1,"method":"Filecoin.StateNetworkName","params":[]}')
  return new Promise((resolve) => socket.once('message', () => resolve()))
}

it('is pinged every so often', async () => {
  const { socket, told } = await open('a')
  vi.advanceTimersByTime(PING_INTERVAL_MS - 1)
  await answered(socket)
  vi.advanceTimersByTime(1)
  await answered(socket)
  vi.advanceTimersByTime(PING_INTERVAL_MS)
  await answered(socket)
  expect(told).toEqual(['answer', 'ping', 'answer', 'ping', 'answer'])
})

it('whose token was revoked is closed with the ping, though it says nothing', async () => {
  const { socket, told } = await open('b')
  const closed = new Promise<string>((resolve) =>
    socket.once('close', (code, reason) => resolve(`${code} ${reason.toString()}`)),
  )
  valid.delete('b')
  vi.advanceTimersByTime(PING_INTERVAL_MS - 1)
  expect(looks).toBe(0)
  vi.advanceTimersByTime(1)
  expect(looks).toBe(1)
  expect(await closed).toBe(`${POLICY_VIOLATION} the token is not valid any more`)
  expect(told).toEqual(['ping'])
})
