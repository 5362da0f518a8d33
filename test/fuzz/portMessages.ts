/** Messages of a stranger on a session's port of a tab: frames of text, signals, and any other thing that can be cloned. */
import type { FramePort } from '../../platform/browser/framePort.ts'
import { openSession } from '../../platform/browser/frames.ts'
import { PortSessions } from '../../platform/browser/portSessions.ts'
import { fromUtf8, utf8 } from '../../src/base/bytes.ts'
import { json } from '../../src/codec/description.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { HttpHandler } from '../../src/rpc/http.ts'
import { method } from '../../src/rpc/method.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { silentLog, stubVerifier } from '../rpc/stubTable.ts'
import type { FuzzTarget } from './fuzzTarget.ts'

const echo = method({
  name: 'Echo',
  perm: 'read',
  params: [{ name: 'value', codec: json }],
  result: json,
  handler: (value) => value,
})
const secret = method({ name: 'Secret', perm: 'admin', params: [], result: json, handler: () => 'the secret' })
const table = createMethodTable([echo, secret])
const engine = new RpcEngine({ table, json: { addressPrefix: 't' }, log: silentLog })
const handler = new HttpHandler(engine, { verifier: stubVerifier })
/** A node that answers one method to all, and one to the admin. */
export const sessionHost = { node: { engine, handler }, settle: () => undefined }
export const LAST = '{"jsonrpc":"2.0","id":"the last","method":"Filecoin.Echo","params":[1]}'

class Port implements FramePort {
  readonly told: unknown[] = []
  isClosed = false
  onmessage: ((event: never) => void) | null = null

  postMessage(message: unknown): void {
    if (this.isClosed) throw new Error('told something after its end')
    this.told.push(message)
  }

  start(): void {}

  close(): void {
    this.isClosed = true
  }

  addEventListener(): void {}

  say(data: unknown): void {
    if (!this.isClosed) this.onmessage?.({ data } as never)
  }
}

/** A line is a frame; one that begins with `=` is what its JSON says, `~` is another node that answers from now on. */
function sayingOf(line: string): unknown {
  if (!line.startsWith('=')) return line
  try {
    return JSON.parse(line.slice(1)) as unknown
  } catch {
    return Number(line.slice(1))
  }
}

async function turns(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve))
}

let way = ''

/** Nothing is thrown in the worker, no answer is of a method that the stranger may not call, and whose port is open is answered. */
export const portMessages: FuzzTarget = {
  seeds: () => [
    utf8(`${LAST}\n={"read":100}\n{"jsonrpc":"2.0","id":2,"method":"Filecoin.Secret","params":[]}`),
    utf8('~\n={"ready":true}\n[{"id":1,"method":"xrpc.cancel","params":[1]}]\n={"read":-1}'),
    utf8('={"close":true}\n=null\n=[1]\n={"read":1e999}\n={"refused":"x"}\n={"changed":true}'),
  ],
  run: async (input) => {
    const sessions = new PortSessions()
    const open = (request: Parameters<typeof openSession>[1], receiver: Parameters<typeof openSession>[2]) =>
      Promise.resolve(openSession(sessionHost, request, receiver))
    sessions.use(open)
    const port = new Port()
    sessions.add({ access: { as: 'token', token: '' }, version: 'v1' }, port)
    await Promise.resolve()
    for (const line of fromUtf8(input).split('\n')) {
      if (line === '~') sessions.use(open)
      else port.say(sayingOf(line))
    }
    await turns()
    port.say({ ready: true })
    port.say(LAST)
    await turns()
    const told = port.told.filter((one) => typeof one === 'string')
    for (const text of told) {
      JSON.parse(text)
      if (text.includes('the secret"')) throw new Error('a method of the admin was answered')
    }
    if (!port.isClosed && !told.some((text) => text.includes('"the last"'))) throw new Error('not answered')
    sessions.use(undefined)
    port.say({ close: true })
    way = [...new Set(port.told.map((one) => JSON.stringify(one).replace(/\d+/g, '#').slice(0, 90)))].sort().join(' ')
  },
  way: () => way,
}
