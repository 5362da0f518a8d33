/** What anybody may send: each bound at the bound and one above, and what it would cost without. */
import { describe, expect, it } from 'vitest'
import * as bounds from '../../src/base/bounds.ts'
import { Breather } from '../../src/base/breather.ts'
import { fromHex } from '../../src/base/bytes.ts'
import { finish } from '../../src/base/steps.ts'
import type { ChainStore } from '../../src/chain/chainStore.ts'
import type { ChainView } from '../../src/chain/chainView.ts'
import { findBranches } from '../../src/chain/headChange.ts'
import { bigInt } from '../../src/codec/bigInteger.ts'
import { createCid, parseCid } from '../../src/codec/cid.ts'
import { json, list } from '../../src/codec/description.ts'
import { parseJson } from '../../src/codec/jsonText.ts'
import { miningBase } from '../../src/consensus/miningBase.ts'
import { readPage } from '../../src/index/pages.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { HttpHandler } from '../../src/rpc/http.ts'
import { type CallContext, type MethodRow, method } from '../../src/rpc/method.ts'
import { chainMethods } from '../../src/rpc/methods/chain.ts'
import { executionMethods } from '../../src/rpc/methods/execution.ts'
import { parseBody, parseFrame } from '../../src/rpc/request.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { parsePeerName } from '../../src/rpc/types/peerId.ts'
import { idAddress, parseAddress } from '../../src/types/address.ts'
import type { Tipset } from '../../src/types/tipset.ts'
import { createTipset, tipset, tipsetKey, tipsetKeyText } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import { wholeBody } from '../support/wholeBody.ts'
import { silentLog, verifierOf } from './stubTable.ts'

const context = { addressPrefix: 't' } as const
/** Said where a question is not refused for its bound. */
const PAST = 'the chain is asked'

/** A row, as it is called. */
interface Askable {
  handle(args: readonly unknown[], call: CallContext): Promise<unknown>
}

/** Milliseconds that something takes. */
function cost(run: () => void): number {
  const started = performance.now()
  run()
  return performance.now() - started
}

describe('texts', () => {
  it('a number of so many digits, and one more', () => {
    const digits = '9'.repeat(bounds.MAX_INTEGER_DIGITS)
    expect(parseJson(digits)).toBe(BigInt(digits))
    expect(() => parseJson(`${digits}9`)).toThrow(`a number of ${bounds.MAX_INTEGER_DIGITS + 1} digits`)
    expect(bigInt.fromJson(digits, context)).toBe(BigInt(digits))
    expect(() => bigInt.fromJson(`${digits}9`, context)).toThrow('failed to parse big string')
    expect(() => parseAddress(`f0${digits}9`)).toThrow('invalid address')
  })

  it('the largest amount of a message is below the bound', () => {
    const largest = (1n << BigInt(8 * 127)) - 1n
    expect(bigInt.fromJson(largest.toString(), context)).toBe(largest)
  })

  it('digits without end cost nothing', () => {
    const many = '9'.repeat(1_000_000)
    const took = cost(() => {
      expect(parseFrame(`{"jsonrpc":"2.0","id":${many},"method":"Filecoin.ChainHead","params":[]}`)).toBeUndefined()
      expect(() => bigInt.fromJson(many, context)).toThrow()
      expect(() => parseAddress(`f0${many}`)).toThrow()
      expect(() => parseCid(`z${many}`)).toThrow()
      expect(() => parsePeerName(many)).toThrow()
    })
    // With the square of the length it is minutes.
    expect(took).toBeLessThan(5000)
  })

  it('a CID of so many characters, and one more', () => {
    const fits = createCid(0x55, 0, fromHex('ab'.repeat(500)))
    const text = fits.toString()
    expect(text.length).toBeLessThanOrEqual(bounds.MAX_CID_TEXT)
    expect(parseCid(text).equals(fits)).toBe(true)
    expect(() => parseCid(`b${'a'.repeat(bounds.MAX_CID_TEXT - 1)}`)).not.toThrow(/at most/)
    expect(() => parseCid(`b${'a'.repeat(bounds.MAX_CID_TEXT)}`)).toThrow(`${bounds.MAX_CID_TEXT + 1} characters`)
  })

  it('a peer ID of so many characters, and one more', () => {
    expect(parsePeerName('12D3KooWKRyzVWW6ChFjQjK4miCty85Niy48tpPV95XdKu1BcvMA')).toHaveLength(52)
    expect(() => parsePeerName('1'.repeat(bounds.MAX_PEER_ID_TEXT))).toThrow('inconsistent multihash length')
    expect(() => parsePeerName('1'.repeat(bounds.MAX_PEER_ID_TEXT + 1))).toThrow('at most')
  })

  it('a tipset of so many blocks, and one more, and its key', () => {
    const blocks = Array.from({ length: bounds.MAX_TIPSET_BLOCKS + 1 }, (_, salt) => header(undefined, 7, salt))
    const largest = createTipset(blocks.slice(1))
    const tooMany = `${bounds.MAX_TIPSET_BLOCKS + 1} blocks, at most ${bounds.MAX_TIPSET_BLOCKS}`
    const key = (list: Tipset['key']): never => list.map((cid) => ({ '/': cid.toString() })) as never
    expect(tipsetKey.fromJson(key(largest.key), context)).toEqual(largest.key)
    expect(() => tipsetKey.fromJson(key(createTipset(blocks).key), context)).toThrow(tooMany)
    // Not by entries that count for nothing either.
    expect(() => tipsetKey.fromJson(blocks.map(() => null) as never, context)).toThrow(tooMany)
    expect(tipset.fromJson(tipset.toJson(largest, context), context)).toEqual(largest)
    expect(() => tipset.fromJson(tipset.toJson(createTipset(blocks), context), context)).toThrow(tooMany)
  })

  it('so deep, and one deeper', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
    expect(() => parseJson(nested(bounds.MAX_JSON_DEPTH))).not.toThrow()
    expect(() => parseJson(nested(bounds.MAX_JSON_DEPTH + 1))).toThrow('exceeded max depth')
    // Brackets of a text are no depth.
    expect(parseJson(JSON.stringify('['.repeat(50_000)))).toHaveLength(50_000)
  })

  it('an id beyond all numbers is no request, as in Go', () => {
    for (const id of ['1e999', '-1e999', '9'.repeat(310)]) {
      const body = parseBody(`{"jsonrpc":"2.0","id":${id},"method":"Filecoin.ChainHead","params":[]}`)
      expect(body).toMatchObject({ kind: 'single', request: { id: null, error: { code: 'PARSE_ERROR' } } })
    }
    expect(parseFrame('{"id":1e308,"method":"a","params":[]}')?.id).toBe(1e308)
  })
})

describe('questions about the chain', () => {
  const chain: Tipset[] = [createTipset([header(undefined, 0, 0)])]
  for (let i = 1; i <= bounds.MAX_PATH_TIPSETS + 1; i++) chain.push(createTipset([header(chain[i - 1], i, 0)]))
  const byKey = new Map(chain.map((one) => [tipsetKeyText(one.key), one]))
  let loads = 0
  const load = (key: Tipset['key']): Tipset => {
    loads++
    return byKey.get(tipsetKeyText(key)) as Tipset
  }
  const at = (height: number): Tipset => chain[height] as Tipset

  const view = {
    store: {
      tipset: load,
      tipsetOrHead: load,
      onHeadChange: () => () => undefined,
      findBranches: (from: Tipset, to: Tipset, most?: number) => findBranches(load, from, to, most),
      parent: () => {
        throw new Error(PAST)
      },
    },
  } as unknown as ChainView
  const call = { walk: finish, signal: new AbortController().signal } as unknown as CallContext
  const ask = async (rows: readonly MethodRow[], name: string, ...args: readonly unknown[]): Promise<unknown> =>
    await (rows.find((row) => row.name === name) as unknown as Askable).handle(args, call)

  it('a path of so many tipsets, and one more, which ends where it is too long', async () => {
    const rows = chainMethods({ view } as never)
    const most = bounds.MAX_PATH_TIPSETS
    expect(await ask(rows, 'ChainGetPath', at(0).key, at(most).key)).toHaveLength(most)
    loads = 0
    const tooLong = ask(rows, 'ChainGetPath', at(0).key, at(most + 1).key)
    await expect(tooLong).rejects.toMatchObject({ code: 'PATH_TOO_LONG' })
    // Its two ends, and each step.
    expect(loads).toBe(2 + most)
  })

  it('an execution of so many epochs, and one more', async () => {
    const vm = { computeForText: () => Promise.reject(new Error(PAST)) }
    const rows = executionMethods({ view, vm, findMessage: () => undefined } as never)
    const compute = (epoch: number): Promise<unknown> => ask(rows, 'StateCompute', epoch, [], at(10).key)
    for (const epoch of [3, 10 + bounds.MAX_COMPUTED_EPOCHS]) await expect(compute(epoch)).rejects.toThrow(PAST)
    await expect(compute(11 + bounds.MAX_COMPUTED_EPOCHS)).rejects.toMatchObject({ code: 'TOO_FAR_AHEAD' })
  })

  it('a block so many epochs above its parents, and one more', async () => {
    const base = (epoch: number): Promise<unknown> =>
      miningBase(view, at(10), epoch, idAddress(1000), () => Promise.reject(new Error('no state')))
    await expect(base(10 + bounds.MAX_EPOCHS_AHEAD)).rejects.toThrow(PAST)
    await expect(base(11 + bounds.MAX_EPOCHS_AHEAD)).rejects.toMatchObject({ code: 'TOO_FAR_AHEAD' })
  })
})

describe('a page of what an address did', () => {
  const most = bounds.MAX_PAGE_TIPSETS
  const chain: Tipset[] = [createTipset([header(undefined, 0, 0)])]
  for (let i = 1; i <= most + 1; i++) chain.push(createTipset([header(chain[i - 1], i, 0)]))
  /** @param rows - of each tipset */
  const page = (rows: number, limit: number, to: number): ReturnType<typeof readPage> => {
    const store = {
      head: () => chain.at(-1),
      parent: ({ height }: Tipset) => chain[height - 1],
      *findByHeight(height: number) {
        yield
        return chain[height]
      },
    } as unknown as ChainStore
    const all = Array.from({ length: rows }, (_, number) => ({ number, row: number }))
    const source = { ofTipset: async () => all, fromRow: Number, ask: () => Promise.reject(new Error('no index')) }
    const call = { signal: new AbortController().signal, walk: finish }
    const deps = { store, addressText: String, index: undefined, call }
    return readPage({ address: idAddress(1n), from: 0, to, position: '', limit }, source, deps)
  }

  /** How many rows it has, and whether there are more. */
  const size = async (...asked: Parameters<typeof page>): Promise<[number, boolean]> => {
    const { rows, more } = await page(...asked)
    return [rows.length, more]
  }

  it('so many rows, however many are asked for, and one more', async () => {
    const rows = bounds.MAX_PAGE_ROWS
    expect(await size(rows, rows + 1, 0)).toEqual([rows, true])
    expect(await size(rows - 1, rows, 0)).toEqual([rows - 1, false])
    expect(await size(rows + 1, 0, 0)).toEqual([rows, true])
  })

  it('so many tipsets, and one more', async () => {
    expect(await size(1, 0, most - 1)).toEqual([most, false])
    expect(await size(1, 0, most)).toEqual([most, true])
    expect((await page(1, 0, most)).position).toMatchObject({ height: most - 1 })
  })
})

describe('HTTP', () => {
  let answered = 0
  let printed = 0
  let nowMs = 0
  let pauses = 0
  const counted: typeof json = {
    ...json,
    toJson: (value, at) => {
      printed++
      return json.toJson(value, at)
    },
  }
  const rows = [
    method({
      name: 'Big',
      perm: 'read',
      params: [],
      result: json,
      handler: () => {
        answered++
        nowMs += 1
        return 'x'.repeat(1_000_000)
      },
    }),
    method({
      name: 'Huge',
      perm: 'read',
      params: [],
      result: json,
      handler: () => 'x'.repeat(bounds.MAX_ANSWER_BYTES),
    }),
    method({
      name: 'Largest',
      perm: 'read',
      params: [],
      result: json,
      handler: () => 'x'.repeat(bounds.MAX_ANSWER_BYTES - 2),
    }),
    method({
      name: 'Long',
      perm: 'read',
      params: [],
      result: list(counted),
      handler: () => Array.from({ length: 1000 }, () => 'x'.repeat(1_000_000)),
    }),
  ]
  const engine = new RpcEngine({ table: createMethodTable(rows), json: context, log: silentLog })
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
  const timers = {
    setTimeout: (fn: () => void) => {
      pauses++
      queueMicrotask(fn)
      return () => undefined
    },
  }
  const turns = new Breather({ clock, timers }, bounds.DEAR_TURN_MS)
  const handler = new HttpHandler(engine, {
    verifier: verifierOf((token) => (token === 'good' ? new Set(['read']) : undefined)),
    turn: (part) => turns.run(part),
  })
  const call = (name: string): string => `{"jsonrpc":"2.0","id":1,"method":"Filecoin.${name}","params":[]}`
  const post = async (body: string, headers: Record<string, string> = {}) =>
    await handler.handle({ verb: 'POST', url: '/rpc/v1', header: (name) => headers[name.toLowerCase()], body })

  it('an answer of so many bytes, and a larger one', async () => {
    expect((await post(call('Largest'))).body.length).toBeGreaterThan(bounds.MAX_ANSWER_BYTES)
    const { body } = await post(call('Huge'))
    expect(JSON.parse(body)).toMatchObject({
      error: { code: 1, message: expect.stringContaining(`at most ${bounds.MAX_ANSWER_BYTES} are sent`) },
    })
  })

  it('a list whose answer is longer: no more of it is printed than is sent', async () => {
    const { body } = await post(call('Long'))
    expect(JSON.parse(body)).toMatchObject({
      error: { code: 1, message: expect.stringContaining(`at most ${bounds.MAX_ANSWER_BYTES} are sent`) },
    })
    expect(printed).toBe(Math.ceil(bounds.MAX_ANSWER_BYTES / 1_000_003))
  })

  it('a batch as a whole: what is beyond is refused one by one and not carried out; others have their turn', async () => {
    answered = 0
    const body = await wholeBody(await post(`[${Array.from({ length: 400 }, () => call('Big')).join()}]`))
    expect(answered).toBe(Math.ceil(bounds.MAX_ANSWER_BYTES / 1_000_000))
    expect(body.length).toBeLessThan(bounds.MAX_ANSWER_BYTES + 2_000_000)
    const answers = JSON.parse(body) as { error?: { message: string } }[]
    expect(answers).toHaveLength(400)
    expect(answers.at(-1)?.error?.message).toContain('the answers of this batch have more than')
    expect(pauses).toBeGreaterThanOrEqual(Math.floor(answered / bounds.DEAR_TURN_MS) - 1)
  })

  it('a request of so many bytes, with a token and without, and one byte more', async () => {
    const sized = (bytes: number): string => call('None').padEnd(bytes, ' ')
    const tooBig = (most: number): string => `request bigger than maximum ${most} allowed`
    const anonymous = bounds.MAX_ANONYMOUS_REQUEST_BYTES
    expect((await post(sized(anonymous))).body).toContain('not found')
    expect((await post(sized(anonymous + 1))).body).toContain(tooBig(anonymous))
    const token = { authorization: 'Bearer good' }
    expect((await post(sized(anonymous + 1), token)).body).toContain('not found')
    expect((await post(sized(bounds.MAX_REQUEST_BYTES), token)).body).toContain('not found')
    expect((await post(sized(bounds.MAX_REQUEST_BYTES + 1), token)).body).toContain(tooBig(bounds.MAX_REQUEST_BYTES))
    expect(handler.admit({ url: '/rpc/v1', header: () => undefined })).toBe(anonymous)
  })
})

describe('web pages', () => {
  let reached = 0
  const rows = [
    method({
      name: 'Reach',
      perm: 'read',
      params: [],
      result: json,
      handler: () => {
        reached++
        return null
      },
    }),
  ]
  const engine = new RpcEngine({ table: createMethodTable(rows), json: context, log: silentLog })
  const verifier = verifierOf((token) => (token === 'good' ? new Set(['read']) : undefined))
  const status = async (headers: Record<string, string>, options: object = {}): Promise<number> => {
    const handler = new HttpHandler(engine, { verifier, ...options })
    const header = (name: string): string | undefined => headers[name.toLowerCase()]
    const body = '{"jsonrpc":"2.0","id":1,"method":"Filecoin.Reach","params":[]}'
    reached = 0
    const answer = await handler.handle({ verb: 'POST', url: '/rpc/v1', header, body })
    const socket = handler.admitSocket({ url: '/rpc/v1', header })
    expect('status' in socket ? socket.status : 200, 'WebSocket').toBe(answer.status)
    expect(reached).toBe(answer.status === 200 ? 1 : 0)
    return answer.status
  }
  const host = '127.0.0.1:1234'

  it.each([
    ['a blind POST of another page', { host, origin: 'https://evil.example', 'content-type': 'text/plain' }],
    ['a sandboxed page', { host, origin: 'null' }],
    ['another port of this machine', { host, origin: 'http://127.0.0.1:8080' }],
    ['a page that hides where it is from', { host, 'sec-fetch-site': 'cross-site' }],
    ['a name bound to this address', { host: 'evil.example:1234', origin: 'http://evil.example:1234' }],
    ['such a name without Origin', { host: 'evil.example:1234' }],
    ['a foreign page with a token', { host, origin: 'https://evil.example', authorization: 'Bearer good' }],
    ['a page whose name is like an extension', { host, origin: 'https://chrome-extension.example' }],
    [
      'an extension by a name that a stranger may own',
      { host: 'evil.example', origin: 'chrome-extension://nkbihfbeogae' },
    ],
  ])('%s reaches no method', async (_, headers) => {
    expect(await status(headers as Record<string, string>)).toBe(403)
  })

  it.each([
    ['a program', { host }],
    ['a program with an Origin of its own', { host, origin: `http://${host}` }],
    ['IPv6', { host: '[::1]:1234' }],
    ['localhost', { host: 'localhost:1234', origin: 'http://localhost:1234' }],
    ['a container', { host: 'petrel:1234' }],
    ['another name with a token', { host: 'node.example', authorization: 'Bearer good' }],
    ['a typed address', { host, 'sec-fetch-site': 'none' }],
    ['an extension of Chrome', { host, origin: 'chrome-extension://nkbihfbeogae' }],
    ['an extension of Firefox', { host, origin: 'moz-extension://5e8b0b6c-0f5c-4f0e-9f5f-1d2c3b4a5968' }],
    ['an extension of Safari', { host, origin: 'safari-web-extension://5E8B0B6C-0F5C-4F0E-9F5F-1D2C3B4A5968' }],
  ])('%s does', async (_, headers) => {
    expect(await status(headers as Record<string, string>)).toBe(200)
  })

  it('the operator may let them in', async () => {
    const page = { host, origin: 'https://app.example' }
    expect(await status(page, { allowedOrigins: ['https://app.example'] })).toBe(200)
    expect(await status(page, { allowedOrigins: ['*'] })).toBe(200)
    expect(await status({ host: 'node.example' }, { allowedHosts: ['node.example'] })).toBe(200)
  })
})
