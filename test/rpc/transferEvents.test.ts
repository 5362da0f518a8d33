/** Who may hear transfers, from where on, and how many at once; with time moved by hand. */
import { beforeEach, describe, expect, it } from 'vitest'
import * as bounds from '../../src/base/bounds.ts'
import { ChainError } from '../../src/chain/errors.ts'
import { type Cid, CODEC_DAG_CBOR, createCid, HASH_BLAKE2B_256 } from '../../src/codec/cid.ts'
import { json } from '../../src/codec/description.ts'
import { CodecError } from '../../src/codec/errors.ts'
import type { Json } from '../../src/codec/jsonText.ts'
import { VmError } from '../../src/fvm/errors.ts'
import { BlockMissing } from '../../src/ipld/errors.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { RpcError } from '../../src/rpc/errors.ts'
import { HttpHandler } from '../../src/rpc/http.ts'
import type { HttpResponse } from '../../src/rpc/httpMessage.ts'
import { method, param } from '../../src/rpc/method.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { TransferEvents } from '../../src/rpc/transferEvents.ts'
import { TransferError } from '../../src/transfers/errors.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { silentLog, verifierOf } from './stubTable.ts'

const time = new VirtualTime()
/** The newest position that is deep enough; a position is a number here. */
let newest = 0
let questions: Json[] = []
let failure: Error | undefined
let change = (): void => undefined
let stopping = new AbortController()
const valid = new Set<string>()

const rows = [
  method({
    name: 'ChainGetTransfersSince',
    perm: 'read',
    params: [param('position', json), param('confidence', json), param('limit', json)],
    result: json,
    handler: (position, confidence, limit) => {
      questions.push([position, confidence, limit])
      if (failure !== undefined) throw failure
      const [first] = position as { '/': string }[]
      const at = first === undefined ? newest : Math.min(Number(first['/']) + 1, newest)
      return { Reverted: [], Applied: [], Position: [{ '/': String(at) }] }
    },
  }),
]

function handlerOf(table = rows): { handler: HttpHandler; events: TransferEvents } {
  const engine = new RpcEngine({ table: createMethodTable(table), json: { addressPrefix: 't' }, log: silentLog })
  const events = new TransferEvents({
    ...{ engine, timers: time, stopping: stopping.signal },
    onHeadChange: (listener) => {
      change = listener
      return () => (change = () => undefined)
    },
  })
  const permissionsOf = (token: string): ReadonlySet<string> | undefined =>
    valid.has(token) ? new Set([token === 'signer' ? 'sign' : 'read']) : undefined
  return { handler: new HttpHandler(engine, { verifier: verifierOf(permissionsOf), transfers: events }), events }
}

const cidOf = (byte: number): Cid => createCid(CODEC_DAG_CBOR, HASH_BLAKE2B_256, new Uint8Array(32).fill(byte))
/** A position that is a CID, of nothing. */
const UNKNOWN = cidOf(1)

let { handler, events } = handlerOf()
beforeEach(() => {
  stopping = new AbortController()
  newest = 5
  questions = []
  failure = undefined
  valid.clear()
  for (const token of ['reader', 'signer']) valid.add(token)
  ;({ handler, events } = handlerOf())
})

async function get(
  url: string,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
  verb = 'GET',
  at = handler,
): Promise<HttpResponse> {
  const header = (name: string): string | undefined => headers[name.toLowerCase()]
  return await at.handle({
    verb,
    url,
    header,
    body: '',
    address: 'a',
    ...(signal === undefined ? {} : { signal }),
  })
}

const partsOf = ({ rest }: HttpResponse): AsyncIterator<string> => {
  if (rest === undefined) throw new Error('no events')
  return rest[Symbol.asyncIterator]()
}

describe('where it begins', () => {
  it.each([
    ['/transfers', {}, [[], 900, bounds.EVENT_TIPSETS]],
    ['/transfers?since=a,b&confidence=3', {}, [[{ '/': 'a' }, { '/': 'b' }], 3, bounds.EVENT_TIPSETS]],
    ['/transfers?since=a%2Cb', {}, [[{ '/': 'a' }, { '/': 'b' }], 900, bounds.EVENT_TIPSETS]],
    ['/transfers?since=a', { 'last-event-id': 'c' }, [[{ '/': 'c' }], 900, bounds.EVENT_TIPSETS]],
  ])('%s %j', async (url, headers, question) => {
    expect((await get(url, headers as Record<string, string>)).status).toBe(200)
    expect(questions).toEqual([question])
  })

  it.each(['confidence=x', 'confidence=-1', 'confidence=1e9', 'since=%'])('refuses %s', async (query) => {
    expect((await get(`/transfers?${query}`)).status).toBe(400)
    expect([questions.length, events.size]).toEqual([0, 0])
  })

  it.each([
    ['a confidence', new TransferError('INVALID_CONFIDENCE', 'confidence 0')],
    ['an empty position', new TransferError('CURSOR_UNKNOWN', 'the position is empty')],
    ['a position of two chains', new CodecError('NOT_CANONICAL', 'mismatching parents')],
    ['a position that is not there', new BlockMissing([UNKNOWN])],
  ])('refuses for good, and says why: %s', async (_what, error) => {
    failure = error
    const answer = await get(`/transfers?since=${UNKNOWN}`)
    expect(answer).toMatchObject({ status: 400, body: `${error.message}\n` })
    expect(events.size).toBe(0)
  })

  it.each([
    ['late', new RpcError('TIMED_OUT', 'not answered within 120 s')],
    ['one of too many', new RpcError('LIMIT_EXCEEDED', 'too many calls at once')],
    ['behind other executions', new ChainError('VM_BUSY', '64 executions are waiting')],
    ['without its machine', new VmError('HOST_FAILED', "the machine's thread is gone")],
    ['before the first head', new ChainError('NO_HEAD', 'no heaviest tipset found')],
    ['without another block', new BlockMissing([cidOf(2)])],
    ['at a bug of ours', new TypeError('no function')],
  ])('is only put off, so that an EventSource comes again: %s', async (_what, error) => {
    failure = error
    const answer = await get(`/transfers?since=${UNKNOWN}`)
    expect([answer.status, answer.rest]).toEqual([200, undefined])
    expect(answer.headers['Content-Type']).toMatch(/^text\/event-stream/)
    // One comment, and no event.
    expect(answer.body).toMatch(new RegExp(`^: [^\n]*${error.message}\nretry: 5000\n\n$`))
    expect(events.size).toBe(0)
  })

  it('refuses for good where the node has no such method', async () => {
    const other = handlerOf([]).handler
    const answer = await get('/transfers', {}, undefined, 'GET', other)
    expect(answer).toMatchObject({ status: 400, body: "method 'Filecoin.ChainGetTransfersSince' not found\n" })
  })
})

describe('what is told', () => {
  it('each step once, with its position; a comment while nothing happens; the end with the token', async () => {
    const parts = partsOf(await get('/transfers?since=3&token=reader'))
    const next = async (): Promise<string | undefined> =>
      ((await parts.next()).value as string | undefined) ?? undefined
    expect(await next()).toBe('id: 4\ndata: {"Reverted":[],"Applied":[],"Position":[{"/":"4"}]}\n\n')
    expect(await next()).toMatch(/^id: 5\n/)
    let said: string | undefined
    const nothing = next().then((text) => (said = text))
    await time.advance(bounds.PING_INTERVAL_MS - 1)
    expect(said).toBeUndefined()
    await time.advance(1)
    expect(await nothing).toBe(': nothing new\n\n')
    const more = next()
    newest = 6
    change()
    expect(await more).toMatch(/^id: 6\n/)
    const last = next()
    valid.delete('reader')
    await time.advance(bounds.PING_INTERVAL_MS)
    await last
    expect((await parts.next()).done).toBe(true)
    expect(events.size).toBe(0)
  })

  it('nothing to a page of another origin, a void token, one without the permission, a POST', async () => {
    const status = async (headers: Record<string, string>): Promise<number> => (await get('/transfers', headers)).status
    expect(await status({ host: '127.0.0.1:1', origin: 'https://evil.example' })).toBe(403)
    expect(await status({ host: 'evil.example:1' })).toBe(403)
    expect(await status({ authorization: 'Bearer nobody' })).toBe(401)
    expect(await status({ authorization: 'Bearer signer' })).toBe(403)
    expect((await get('/transfers', {}, undefined, 'POST')).status).toBe(405)
    expect([questions.length, events.size]).toEqual([0, 0])
  })
})

describe('how many', () => {
  it('of one caller, and one more; who goes makes room', async () => {
    const gone = new AbortController()
    await get('/transfers', {}, gone.signal)
    for (let i = 1; i < bounds.MAX_CALLER_EVENT_STREAMS; i++) expect((await get('/transfers')).status).toBe(200)
    const tooMany = await get('/transfers')
    expect([tooMany.status, tooMany.headers['Retry-After']]).toEqual([429, '1'])
    expect((await get('/transfers?token=reader')).status).toBe(200)
    gone.abort()
    expect((await get('/transfers')).status).toBe(200)
  })

  it('of all, and one more; none when the node ends', async () => {
    for (let i = 0; i < bounds.MAX_EVENT_STREAMS; i++) {
      const token = `t${Math.floor(i / bounds.MAX_CALLER_EVENT_STREAMS)}`
      valid.add(token)
      expect((await get(`/transfers?token=${token}`)).status).toBe(200)
    }
    expect((await get('/transfers')).status).toBe(429)
    expect(events.size).toBe(bounds.MAX_EVENT_STREAMS)
    stopping.abort()
    expect(events.size).toBe(0)
    expect((await get('/transfers')).rest).toBeUndefined()
  })
})
