/**
 * Bytes of a stranger on the API's port, once its WebSocket is open: frames, parts of frames, whatever. The first byte says how they are
 * cut, the second how the connection ends.
 */
import { connect } from 'node:net'
import { systemClock, systemTimers } from '../../platform/server/clock.ts'
import { startServer } from '../../platform/server/httpServer.ts'
import { SharedCounts } from '../../platform/server/readers/sharedCounts.ts'
import { concatBytes, utf8 } from '../../src/base/bytes.ts'
import { json } from '../../src/codec/description.ts'
import { CostQueues } from '../../src/rpc/cost.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { HttpHandler } from '../../src/rpc/http.ts'
import { method } from '../../src/rpc/method.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { silentLog, stubVerifier } from '../rpc/stubTable.ts'
import type { FuzzTarget } from './fuzzTarget.ts'

const UPGRADE = utf8(
  'GET /rpc/v1 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
)
/** Turns of the loop in which whatever has gone is no longer counted. */
const TURNS = 1000
const KINDS = ['connections', 'unread', 'bodies'] as const
const params = [{ name: 'value', codec: json }] as const
const rows = [
  method({ name: 'Echo', perm: 'read', params, result: json, handler: (value) => value }),
  method({ name: 'Wait', perm: 'read', params, result: json, handler: () => new Promise<never>(() => undefined) }),
  method({ name: 'Secret', perm: 'admin', params: [], result: json, handler: () => 'the secret' }),
]
const queues = new CostQueues({ clock: systemClock, timers: systemTimers })
const engine = new RpcEngine({ table: createMethodTable(rows), json: { addressPrefix: 't' }, log: silentLog, queues })
const handler = new HttpHandler(engine, { verifier: stubVerifier })

const counts = SharedCounts.create()

let way = ''

/** @throws Error for what must not be */
async function run(input: Uint8Array): Promise<void> {
  const [cut = 0, end = 0] = input
  const bytes = input.subarray(2)
  const piece = 1 + (cut % 200)
  const server = await startServer({
    ...{ handler, engine, host: '127.0.0.1', port: 0, log: silentLog, closeGraceMs: 0, counts },
  })
  const told: Uint8Array[] = []
  try {
    await new Promise<void>((resolve) => {
      const socket = connect(server.port, '127.0.0.1', () => socket.write(UPGRADE))
      socket.setNoDelay(true)
      socket.on('error', () => undefined)
      socket.on('close', () => resolve())
      socket.once('data', () => {
        for (let at = 0; at < bytes.length; at += piece) socket.write(bytes.subarray(at, at + piece))
        socket.on('data', (data: Uint8Array) => told.push(data))
        // After what was said has been read, or at once.
        if (end % 3 === 0) socket.write(bytes.subarray(0, 0), () => setImmediate(() => socket.destroy()))
        else if (end % 3 === 1) socket.end()
        else setTimeout(() => socket.resetAndDestroy(), 1)
      })
    })
  } finally {
    await server.close()
  }
  const leftOf = (): number[] => KINDS.map((kind) => counts.of(kind).total())
  // The server's end of a socket is told of its end a turn or two later.
  for (let i = 0; i < TURNS && leftOf().some((count) => count !== 0); i++) await new Promise(setImmediate)
  const left = leftOf()
  if (left.some((count) => count !== 0)) throw new Error(`${KINDS.join()} are ${left.join()} when all have gone`)
  const text = Buffer.concat(told).toString('latin1')
  if (text.includes('the secret"')) throw new Error('a method of the admin was answered')
  way = `${end % 3} ${told.length === 0 ? '' : text.replace(/\d+/g, '#').slice(0, 60)}`
}

/** A frame as a client masks it. @param head - of its first byte: FIN, RSV1 for what is compressed, and the kind */
function frame(head: number, payload: Uint8Array): Uint8Array {
  const mask = Uint8Array.of(1, 2, 3, 4)
  const masked = payload.map((byte, i) => byte ^ (mask[i % 4] as number))
  return concatBytes(Uint8Array.of(head, 0x80 | payload.length), mask, masked)
}

const call = (name: string): Uint8Array => utf8(`{"jsonrpc":"2.0","id":1,"method":"Filecoin.${name}","params":[7]}`)
const seed = (end: number, ...frames: readonly Uint8Array[]): Uint8Array =>
  concatBytes(Uint8Array.of(60, end), ...frames)

/** Nothing is thrown, nothing stays counted, no method is answered that a stranger may not call. */
export const socketBytes: FuzzTarget = {
  seeds: () => [
    seed(1, frame(0x81, call('Echo')), frame(0x89, utf8('ping'))),
    seed(2, frame(0x01, call('Echo').subarray(0, 20)), frame(0x80, call('Echo').subarray(20))),
    seed(0, frame(0x82, call('Wait')), frame(0x81, call('Secret')), frame(0x88, Uint8Array.of(3, 0xe8))),
    seed(1, frame(0xc1, Uint8Array.of(0xab, 0x56, 0x4a, 0x04, 0x00)), frame(0x8a, utf8('pong'))),
    seed(1, Uint8Array.of(0x81, 0xff, 0, 0, 0, 0, 0, 1, 0, 0, 1, 2, 3, 4, 5)),
  ],
  run,
  way: () => way,
}
