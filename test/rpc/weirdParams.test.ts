/** Whatever stands where a parameter is to be: codecs fail in their own way alone, and a codec that does not costs its call alone. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PetrelError } from '../../src/base/errors.ts'
import type { Codec } from '../../src/codec/description.ts'
import { shownJson } from '../../src/codec/goJson.ts'
import { type Json, stringifyJson } from '../../src/codec/jsonText.ts'
import { percent } from '../../src/mempool/config.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { HttpHandler } from '../../src/rpc/http.ts'
import { method, param } from '../../src/rpc/method.ts'
import { RpcSession } from '../../src/rpc/session.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { ethUint64 } from '../../src/rpc/types/ethScalars.ts'
import { ROOT } from '../support/shared.ts'
import { httpRequest, silentLog, stubVerifier } from './stubTable.ts'

const context = { addressPrefix: 't' } as const
const DEPTH = 9_000
const nested = (open: string, close: string, inner = ''): Json =>
  JSON.parse(open.repeat(DEPTH) + inner + close.repeat(DEPTH)) as Json
const deep = nested('[', ']')
const WEIRD: readonly (Json | undefined)[] = [
  ...[undefined, null, true, 0, -1, 1.5, 1e308, Number.POSITIVE_INFINITY, 2 ** 53, 10n ** 100n, -(10n ** 30n)],
  ...[
    '',
    'a',
    '\ud800',
    '\u0000',
    'a'.repeat(100_000),
    '0x',
    `0x${'f'.repeat(70_000)}`,
    '9'.repeat(5_000),
    'f0',
    'latest',
  ],
  ...[[], [null], [[[]]], [1], ['a'], [{}], [10n ** 20n], [Number.POSITIVE_INFINITY], [deep]],
  ...[{}, { '/': null }, { '/': 'b' }, { '/': { bytes: '' } }, { a: 10n ** 20n }, { constructor: 1 }],
  ...[{ toString: 1, valueOf: 1 }, JSON.parse('{"__proto__":{"To":"f01"}}') as Json],
  ...[deep, nested('{"/":', '}', '1'), { Params: deep, Value: deep, topics: deep, address: deep }],
]

async function paramCodecs(): Promise<Map<Codec<unknown>, string>> {
  const folder = join(ROOT, 'src/rpc/signatures')
  const codecs = new Map<Codec<unknown>, string>()
  for (const file of readdirSync(folder)) {
    const module = (await import(join(folder, file))) as Record<string, unknown>
    for (const one of Object.values(module).flat()) {
      const { name, params } = one as { name?: string; params?: { name: string; codec: Codec<unknown> }[] }
      if (!Array.isArray(params)) continue
      for (const each of params) codecs.set(each.codec, `${name}.${each.name}`)
    }
  }
  return codecs
}

it('every parameter takes it, or refuses it by an error of its own', async () => {
  const codecs = await paramCodecs()
  expect(codecs.size).toBeGreaterThan(70)
  const wrong: string[] = []
  for (const [codec, name] of codecs) {
    WEIRD.forEach((value, at) => {
      for (const given of [value, [value], [[value]]] as Json[]) {
        try {
          codec.fromJson(given, context)
        } catch (error) {
          if (!(error instanceof PetrelError)) wrong.push(`${name}: value ${at}: ${String(error)}`)
        }
      }
    })
  }
  expect(wrong).toEqual([])
})

it('errors show the beginning of what they name', () => {
  expect(shownJson({ a: [1, 'b', 10n ** 20n], c: null })).toBe('{"a":[1,"b",100000000000000000000],"c":null}')
  for (const long of [deep, 'x'.repeat(1_000), Array<number>(10_000).fill(7), nested('{"k":', '}', '1')]) {
    expect(shownJson(long).length).toBeLessThanOrEqual(256)
  }
  expect(() => ethUint64.fromJson([1], context)).toThrow('cannot interpret [1] as a hex-encoded uint64, or a number')
  // Go reads the digits of a number alone (percent.go).
  for (const no of ['1', [1], { toString: 1 }]) {
    expect(() => percent.fromJson(no as Json, context)).toThrow(`unable to parse ratio ${stringifyJson(no as Json)}`)
  }
})

describe('a codec that fails in another way', () => {
  const broken: Codec<string> = {
    ...(param('p', ethUint64).codec as unknown as Codec<string>),
    fromJson: () => {
      throw new TypeError('no function')
    },
  }
  const rows = [
    method({ name: 'Bad', perm: 'read', params: [param('p', broken)], result: broken, handler: (p) => p }),
    method({ name: 'Good', perm: 'read', params: [], result: ethUint64, handler: () => 7n }),
  ]
  const log: string[] = []
  const engine = new RpcEngine({
    table: createMethodTable(rows),
    json: context,
    log: { ...silentLog, error: (text) => void log.push(text) },
  })
  const ask = (name: string, params: Json[]): string => stringifyJson({ id: 1, method: `Filecoin.${name}`, params })
  const panic = {
    error: { code: 0, message: "fatal error calling 'Filecoin.Bad': panic in rpc method 'Filecoin.Bad': no function" },
    id: 1,
    jsonrpc: '2.0',
  }

  it('is answered as a handler that does, alone, in a batch and over a WebSocket; the log has it', async () => {
    const handler = new HttpHandler(engine, { verifier: stubVerifier })
    const post = async (body: string) => await handler.handle(httpRequest('POST', '/rpc/v1', body))
    const alone = await post(ask('Bad', [1]))
    expect([alone.status, JSON.parse(alone.body)]).toEqual([500, panic])
    expect(JSON.parse((await post(`[${ask('Bad', [1])},${ask('Good', [])}]`)).body)).toEqual([
      panic,
      { id: 1, jsonrpc: '2.0', result: '0x7' },
    ])
    const frames: unknown[] = []
    const session = new RpcSession({
      ...{ engine, version: 'v1', permissions: () => new Set(['read']) },
      sink: { send: (text) => frames.push(JSON.parse(text)), unreadBytes: () => 0, close: () => undefined },
    })
    session.receive(ask('Bad', [1]))
    expect(frames).toEqual([panic])
    expect(log).toEqual(Array<string>(3).fill('bug in method Filecoin.Bad'))
  })
})
