/** Statuses, error codes and texts of the wire, as recorded from Lotus (golden/nv28/wire.jsonl). */
import { describe, expect, it } from 'vitest'
import { readSharedZstd } from '../support/recorded.ts'
import { missingShared } from '../support/shared.ts'
import { httpRequest, stubHandler } from './stubTable.ts'

interface Recorded {
  http?: string
  path: string
  token?: string
  body?: string
  status: number
  text: string
  headers?: Record<string, string>
}

/** What a recorded answer says apart from the handler's own result. */
function shape(text: string): unknown {
  if (text === '' || !/^[[{]/.test(text)) return text
  const one = (answer: { error?: unknown; id: unknown; result?: unknown }): unknown =>
    'error' in answer ? { error: answer.error, id: answer.id } : { id: answer.id, hasResult: 'result' in answer }
  const parsed = JSON.parse(text) as { id: unknown } | { id: unknown }[]
  return Array.isArray(parsed) ? parsed.map(one) : one(parsed)
}

/** Rows whose answer comes from a handler that the stub table does not have. */
const NOT_HERE = [/rpc\.discover/, /eth_chainId/, /EthChainId/, /"Filecoin\.AuthVerify\\?", ?\\?"params\\?": ?\[\\?"x/]
/** Rows where the recorded handler itself refused; the stub's does not. */
const HANDLER_REFUSED = ['StateCall', 'MpoolPushMessage', 'MpoolPush', 'WalletNew']

const missing = missingShared('data/golden/nv28/wire.jsonl.zst')
const rows: Recorded[] =
  missing === undefined
    ? readSharedZstd('data/golden/nv28/wire.jsonl.zst')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Recorded)
    : []

describe.skipIf(missing !== undefined)('recorded wire', () => {
  it('has rows', () => expect(rows.length).toBeGreaterThan(200))
  const handler = stubHandler()
  rows.forEach((row, i) => {
    const body = row.body ?? ''
    const skip = NOT_HERE.some((pattern) => pattern.test(body))
    it.skipIf(skip)(`row ${i}: ${row.http ?? 'POST'} ${row.path} ${row.token ?? ''} ${body.slice(0, 90)}`, async () => {
      const headers: Record<string, string> =
        row.token === undefined || row.token === 'none' ? {} : { authorization: `Bearer ${row.token}` }
      const answer = await handler.handle(httpRequest(row.http ?? 'POST', row.path, body, headers))
      expect(answer.status).toBe(row.status)
      // Lotus' answers on health are empty; ours give the reasons.
      if (row.path.startsWith('/health/')) return
      const refused = /"code":1,/.test(row.text) && !row.text.includes('missing permission')
      if (refused && HANDLER_REFUSED.some((name) => body.includes(name))) return
      expect(shape(answer.body)).toEqual(shape(row.text))
      // Line ends are part of the answer: after every single answer and every element of a batch.
      if (!row.text.includes('"result":{')) expect(answer.body.endsWith('\n')).toBe(row.text.endsWith('\n'))
      const contentType = row.headers?.['Content-Type']
      if (row.headers !== undefined) expect(answer.headers['Content-Type']).toBe(contentType)
    })
  })
})
