/** What a thread of reads answers, beside the node that it reads for. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock, systemTimers } from '../../platform/server/clock.ts'
import { systemRandom } from '../../platform/server/random.ts'
import { SharedCounts } from '../../platform/server/readers/sharedCounts.ts'
import { openRecorded, type RecordedNode } from '../../scripts/golden/openRecorded.ts'
import { COST_LIMITS } from '../../src/base/bounds.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { parseJson, stringifyJson } from '../../src/codec/jsonText.ts'
import { Reader, type ReaderDeps } from '../../src/node/reader.ts'
import type { HttpRequest } from '../../src/rpc/httpMessage.ts'
import { Tokens } from '../../src/rpc/tokens.ts'
import type { Tipset } from '../../src/types/tipset.ts'
import { type Row, readSharedZstd } from '../support/recorded.ts'
import { silentLog } from '../support/recordedView.ts'
import { missingShared, sharedPath } from '../support/shared.ts'
import { spellingsOf } from '../support/tokenSpellings.ts'

const FOLDER = 'data/golden/nv28'
const missing = missingShared(`${FOLDER}/chain.jsonl.zst`)
/** Of the recorded requests, so that the test takes seconds. */
const EVERY = 3

function asked(url: string, body: string, headers: Record<string, string> = {}): HttpRequest {
  return { verb: 'POST', url, body, header: (name) => headers[name.toLowerCase()], address: '127.0.0.1' }
}

describe.skipIf(missing !== undefined)('a thread of reads', () => {
  let recorded: RecordedNode
  const called: string[] = []

  beforeAll(async () => {
    recorded = await openRecorded(sharedPath(FOLDER))
  }, 60_000)
  afterAll(() => recorded?.close())

  /** @param counts - shared with the node */
  function open(
    head: Tipset = recorded.node.view.store.head(),
    meta = new MemoryStore(),
    counts?: ReaderDeps['counts'],
    hasIndex = false,
  ): Reader {
    const { view, tokens } = recorded.node
    const [genesis] = view.store.genesis().key
    const reader = new Reader(
      { network: view.network, genesis: genesis as never, secret: tokens.secret, hasIndex, http: {} },
      {
        blocks: view.store.blocks,
        meta,
        ports: { clock: systemClock, timers: systemTimers, random: systemRandom, log: silentLog },
        called: (method) => called.push(method),
        ...(counts === undefined ? {} : { counts }),
      },
    )
    reader.follow([head.blocks])
    return reader
  }

  it('answers as the node does, to the byte, or leaves the answer to it', async () => {
    const reader = open()
    const answered = new Map<string, number>()
    let left = 0
    const lines = readSharedZstd(`${FOLDER}/chain.jsonl.zst`).split('\n')
    for (let i = 0; i < lines.length; i += EVERY) {
      if (lines[i] === '') continue
      const row = parseJson(lines[i] as string) as { path: string; request: Row }
      const request = asked(row.path, stringifyJson(row.request))
      const mine = await reader.answer(request)
      if (mine === undefined) {
        left++
        continue
      }
      const nodes = await recorded.node.handler.handle(request)
      const method = String(row.request.method)
      answered.set(method, (answered.get(method) ?? 0) + 1)
      expect([mine.status, mine.body], stringifyJson(row.request)).toEqual([nodes.status, nodes.body])
    }
    const count = [...answered.values()].reduce((sum, one) => sum + one, 0)
    expect(count).toBeGreaterThan(700)
    expect(answered.size).toBeGreaterThan(35)
    expect(called).toHaveLength(count)
    expect(left).toBeGreaterThan(0)
  }, 120_000)

  it('leaves what it cannot know: the pool, failures, batches, and what is no request', async () => {
    const reader = open()
    const call = (method: string, params: unknown[] = []): string =>
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: `Filecoin.${method}`, params })
    for (const body of [
      call('MpoolPending', [null]),
      call('EthGetTransactionCount', ['0x0000000000000000000000000000000000000001', 'latest']),
      call('EthGetBlockByNumber', ['finalized', false]),
      call('WalletList'),
      call('Version'),
      call('ChainGetBlock', [{ '/': 'bafy2bzacebptdyegmimvx7mz4v4ya4jnblhtn4hmfjpavdwuam4bc24ffnq7g' }]),
      call('StateGetActor', ['t0999999999', null]),
      call('StateGetActor', ['t01000']),
      `[${call('ChainHead')}]`,
      '{',
      '',
    ]) {
      expect(await reader.answer(asked('/rpc/v1', body)), body).toBeUndefined()
    }
    expect(await reader.answer({ ...asked('/health/readyz', ''), verb: 'GET' })).toBeUndefined()
  })

  it('says itself that there are too many calls, where the node counts them with it', async () => {
    const ask = asked('/rpc/v1', '{"jsonrpc":"2.0","id":1,"method":"Filecoin.StateListMiners","params":[null]}')
    const { perAddress } = COST_LIMITS.scan
    const statuses = async (reader: Reader, count: number): Promise<(number | undefined)[]> =>
      (await Promise.all(Array.from({ length: count }, () => reader.answer(ask)))).map((answer) => answer?.status)
    const node = SharedCounts.create()
    const own = new SharedCounts(node.cells, 1)
    node.opened()
    const reader = open(undefined, undefined, (cost) => own.calls(cost))
    const expected = [...Array.from({ length: perAddress }, () => 200), 429]
    expect((await statuses(reader, perAddress + 1)).sort()).toEqual(expected)
    // The node has one of this address under way: one less is left for the thread.
    node.calls('scan')?.ofCaller('address 127.0.0.1').add(1)
    expect((await statuses(reader, perAddress)).sort()).toEqual(expected.slice(1))
    expect(await statuses(open(), perAddress + 1)).toContain(undefined)
  })

  it('takes a token for one caller, as the node does, whichever way it comes', async () => {
    const { node } = recorded
    const token = node.tokens.issueUnique(['read'])
    const body = '{"jsonrpc":"2.0","id":1,"method":"Filecoin.StateListMiners","params":[null]}'
    const ways = spellingsOf(token).flatMap((spelled) => [
      asked('/rpc/v1', body, { authorization: `Bearer ${spelled}` }),
      asked(`/rpc/v1?token=${spelled}`, body),
    ])
    const shared = SharedCounts.create()
    const own = new SharedCounts(shared.cells, 1)
    shared.opened()
    const reader = open(undefined, undefined, (cost) => own.calls(cost))
    const { perToken } = COST_LIMITS.scan
    // By the name that the node has for it in any of the ways, it has all but one under way there.
    for (let i = 0; i < perToken - 1; i++) {
      const admitted = node.handler.admitSocket(ways[i % ways.length] as HttpRequest)
      if ('status' in admitted) throw new Error(`refused: ${admitted.status}`)
      shared.calls('scan')?.ofCaller(admitted.name.name).add(1)
    }
    for (const way of ways) {
      const answers = await Promise.all([reader.answer(way), reader.answer(way)])
      expect(answers.map((answer) => answer?.status)).toEqual([200, 429])
    }
  })

  it('knows tokens, and those that were revoked when it is told', async () => {
    const { tokens } = recorded.node
    const head = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'Filecoin.ChainHead', params: [] })
    const meta = new MemoryStore()
    const reader = open(undefined, meta)
    const withToken = (token: string): HttpRequest => asked('/rpc/v1', head, { authorization: `Bearer ${token}` })
    const unique = tokens.issueUnique(['read'])
    expect((await reader.answer(withToken(unique)))?.status).toBe(200)
    expect(await reader.answer(withToken(`${unique}x`))).toBeUndefined()
    expect(reader.admit(withToken(`${unique}x`))).toMatchObject({ status: 401 })
    // As the node's own store has it afterwards.
    await new Tokens({ secret: tokens.secret, clock: systemClock, random: systemRandom, store: meta }).revoke(unique)
    reader.forgetTokens()
    expect(await reader.answer(withToken(unique))).toBeUndefined()
  })

  it('of a node with an index names the epoch of its head, and leaves to it who wants a later one', async () => {
    const { height } = recorded.node.view.store.head()
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'Filecoin.ChainHead', params: [] })
    const indexed = open(undefined, undefined, undefined, true)
    const epoch = { 'x-petrel-min-epoch': String(height) }
    for (const headers of [{}, epoch] as Record<string, string>[]) {
      const answer = await indexed.answer(asked('/rpc/v1', body, headers))
      expect(answer).toMatchObject({ status: 200, headers: { 'X-Petrel-Epoch': String(height) } })
    }
    for (const wanted of [String(height + 1), 'latest']) {
      expect(await indexed.answer(asked('/rpc/v1', body, { 'x-petrel-min-epoch': wanted }))).toBeUndefined()
    }
    const plain = await open().answer(asked('/rpc/v1', body, epoch))
    expect(plain?.headers).not.toHaveProperty('X-Petrel-Epoch')
  })

  it('follows the head, also where the way there is not told', async () => {
    const { store } = recorded.node.view
    const head = store.head()
    const low = store.tipsetByHeight(head.height - 30, head, 'previous')
    const reader = open(low)
    const heightOf = async (): Promise<number> => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'Filecoin.ChainHead', params: [] })
      return (JSON.parse((await reader.answer(asked('/rpc/v1', body)))?.body ?? '') as { result: { Height: number } })
        .result.Height
    }
    expect(await heightOf()).toBe(low.height)
    reader.follow([head.blocks])
    expect(await heightOf()).toBe(head.height)
    reader.follow([low.blocks])
    expect(await heightOf()).toBe(low.height)
  })
})
