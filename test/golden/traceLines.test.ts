/** Traces side by side, with what Lotus answered. */
import { zstdDecompressSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { sideBySide, traceLines, traceOf } from '../../scripts/golden/traceLines.ts'
import { type Json, parseJson } from '../../src/codec/jsonText.ts'
import { missingShared, readShared } from '../support/shared.ts'

const FILE = 'data/golden/nv28/chain.jsonl.zst'

describe.skipIf(missingShared(FILE) !== undefined)('a recorded answer to StateReplay', () => {
  let response: { result: Json }
  beforeAll(() => {
    const text = zstdDecompressSync(readShared(FILE)).toString('utf8')
    const rows = text.split('\n').filter((line) => line.includes('StateReplay"') && line.includes('"tg":'))
    const line = rows.reduce((a, b) => (a.length > b.length ? a : b))
    response = (parseJson(line) as unknown as { response: { result: Json } }).response
  })

  it('gives a line for each call, charge and exit', () => {
    const trace = (response.result as { ExecutionTrace: Json }).ExecutionTrace
    expect(traceOf(response)).toBe(trace)
    expect(traceOf(trace)).toBe(trace)
    const lines = [...traceLines(trace)]
    const own = JSON.stringify(trace, (_key, value) => (typeof value === 'bigint' ? Number(value) : value))
    const count = (part: RegExp): number => [...own.matchAll(part)].length
    expect(lines.filter((one) => /^ *charge /.test(one)).length).toBe(count(/"tg":/g))
    expect(lines.filter((one) => /^ *call /.test(one)).length).toBe(count(/"MsgRct":/g))
    expect(lines.filter((one) => /^ *exit /.test(one)).length).toBe(count(/"MsgRct":/g))
  })

  it('is laid beside another at the first charge that differs', () => {
    const lines = [...traceLines(traceOf(response) as Json)]
    expect(sideBySide(lines, lines)).toBeUndefined()
    const at = lines.findLastIndex((one) => /^ *charge /.test(one))
    const other = lines.with(at, '  charge of another make')
    const shown = (sideBySide(lines, other) as string).split('\n')
    expect(shown.filter((one) => one.includes(' > '))).toEqual([
      `${String(at + 1).padStart(6)} ${(lines[at] as string).padEnd(70)} >   charge of another make`,
    ])
    expect(sideBySide(lines, lines.slice(0, -1))).toContain(`${lines.length} `)
  })
})
