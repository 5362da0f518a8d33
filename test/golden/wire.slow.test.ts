/** Every recorded HTTP exchange of golden/nv28, against a node that has opened the same chain. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { firstDifference } from '../../scripts/golden/compare.ts'
import { type RecordedServer, serveRecorded } from '../../scripts/golden/recordedThread.ts'
import { type Json, parseJson } from '../../src/codec/jsonText.ts'
import { readSharedZstd } from '../support/recorded.ts'
import { missingShared, sharedPath } from '../support/shared.ts'
import { DIFFERENCES, type Difference } from './differences.ts'

interface Recorded {
  readonly http?: string
  readonly path: string
  /** `none`, a level of permissions, or a token as it stands. */
  readonly token?: string
  readonly body?: string
  readonly status: number
  readonly text: string
  readonly headers?: Readonly<Record<string, string>>
}

type Answer = { readonly [key: string]: Json } | readonly { readonly [key: string]: Json }[]

const FOLDER = 'data/golden/nv28'
/** Longest recorded text, characters. */
const CUT_OFF = 100_000
const LEVELS = ['read', 'write', 'sign', 'admin']
const missing = missingShared(`${FOLDER}/wire.jsonl.zst`)

function parsed(text: string): Answer | string {
  return /^[[{]/.test(text) ? (parseJson(text) as unknown as Answer) : text
}

function difference(row: Recorded, status: number, text: string): string | undefined {
  if (status !== row.status) return `status: expected ${row.status}, got ${status}: ${text.slice(0, 200)}`
  if (row.text.length >= CUT_OFF) return 'the recording is cut off'
  const ends = row.text.endsWith('\n') === text.endsWith('\n')
  return ends ? firstDifference(parsed(row.text) as Json, parsed(text) as Json) : 'line end'
}

function isAllowed(entry: Difference, row: Recorded, status: number, text: string): boolean {
  if (entry.keeps === 'nothing') return true
  if (status !== row.status) return false
  if (entry.keeps === 'status') return true
  // Long answers were cut off in the recording, so it is not parsed.
  return [row.text, text].every((one) => /^\{"id":[^,]+,"jsonrpc":"2\.0","result":/.test(one))
}

describe.skipIf(missing !== undefined)('recorded HTTP exchanges', () => {
  let server: RecordedServer
  const tokens = new Map<string, string>()

  async function call(method: string, params: Json[]): Promise<Json> {
    const answer = await fetch(`${server.url}/rpc/v1`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.token}` },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const { result, error } = (await answer.json()) as { result: Json; error?: Json }
    if (error !== undefined) throw new Error(JSON.stringify(error))
    return result
  }

  beforeAll(async () => {
    server = await serveRecorded(sharedPath(FOLDER))
    for (let i = 0; i < LEVELS.length; i++) {
      const token = await call('Filecoin.AuthNew', [LEVELS.slice(0, i + 1)])
      tokens.set(LEVELS[i] as string, Buffer.from(token as string, 'base64').toString('ascii'))
    }
    const keys = JSON.parse(readSharedZstd(`${FOLDER}/keys.json.zst`)) as Record<string, Json>
    for (const key of Object.values(keys)) await call('Filecoin.WalletImport', [key])
  })
  afterAll(() => server.close())

  it('are answered alike, but for the listed differences', async () => {
    const rows = readSharedZstd(`${FOLDER}/wire.jsonl.zst`)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => parseJson(line) as unknown as Recorded)
    expect(rows.length).toBeGreaterThan(200)
    const failures: string[] = []
    const used = new Set<Difference>()
    for (const row of rows) {
      const headers: Record<string, string> = { 'content-type': 'application/json' }
      const token = row.token === undefined || row.token === 'none' ? undefined : (tokens.get(row.token) ?? row.token)
      if (token !== undefined) headers.authorization = `Bearer ${token}`
      const body = row.body?.replaceAll('<token>', tokens.get('read') as string)
      const answer = await fetch(`${server.url}${row.path}`, {
        method: row.http ?? 'POST',
        headers,
        ...(row.http === undefined ? { body: body ?? '' } : {}),
      })
      const text = await answer.text()
      const found = difference(row, answer.status, text)
      for (const name of ['Content-Type', 'X-Content-Type-Options']) {
        // Lotus' answers on health are empty, and so without a type.
        if (row.path.startsWith('/health/')) continue
        if (row.headers !== undefined && (answer.headers.get(name) ?? undefined) !== row.headers[name]) {
          failures.push(`${row.http} ${row.path}: header ${name} is ${answer.headers.get(name)}`)
        }
      }
      if (found === undefined) continue
      const entry = DIFFERENCES.find((one) => one.body.test(row.body ?? row.path))
      if (entry !== undefined && isAllowed(entry, row, answer.status, text)) used.add(entry)
      else
        failures.push(
          `${row.http ?? 'POST'} ${row.path} ${row.token ?? ''} ${row.body?.slice(0, 200) ?? ''}\n    ${found}`,
        )
    }
    expect(failures).toEqual([])
    expect(DIFFERENCES.filter((one) => !used.has(one)).map((one) => one.reason)).toEqual([])
  })
})
