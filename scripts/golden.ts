/**
 * Asks a node everything that was recorded about a chain and compares the answers field by field.
 *
 *   npm run golden -- <folder>… [--group core|execution|actors|eth|all,…] [--method Name,…] [--url http://…] [--show N]
 *                    [--browser]
 *
 * Without --url it opens the folder's chain itself, behind a server on loopback; with --browser in a tab of Chromium,
 * where the rows of messages that are in no block of the archive are left out. Prints a line per method and ends with
 * `N passed, N failed, N skipped`; exit code 1 when one failed.
 */
import { readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { cidFromBytes } from '../src/codec/cid.ts'
import { type Json, parseJson } from '../src/codec/jsonText.ts'
import { MemoryBlockstore } from '../src/ipld/blockstore.ts'
import { FIELD_DIFFERENCES } from '../test/golden/differences.ts'
import { firstDifference } from './golden/compare.ts'
import { GROUPS, groupOf } from './golden/groups.ts'
import { HttpClient, type TextAnswer } from './golden/httpClient.ts'
import { putPooledMessages } from './golden/pooledMessages.ts'
import { serveRecorded } from './golden/recordedThread.ts'
import { openRecordedTab } from './golden/tabClient.ts'
import { programArgs } from './programArgs.ts'

interface Row {
  readonly path: string
  readonly request: { readonly method: string; readonly params: Json[] }
  readonly status: number
  readonly response: { readonly result?: Json; readonly error?: Json }
}

interface Tally {
  passed: number
  failed: number
  /** First differences, for the report. */
  readonly shown: string[]
}

const { values: options, positionals: folders } = programArgs(import.meta.filename, {
  allowPositionals: true,
  options: {
    group: { type: 'string', default: 'core' },
    method: { type: 'string' },
    url: { type: 'string' },
    browser: { type: 'boolean', default: false },
    token: { type: 'string' },
    show: { type: 'string', default: '3' },
  },
})

const methods = options.method?.split(',')
const groups = options.group.split(',')

function wanted(method: string): boolean {
  if (methods !== undefined) return methods.some((name) => method.endsWith(name))
  return groups.includes('all') || groups.includes(groupOf(method))
}

/** Lines of the recording whose method is asked for. */
function* rows(folder: string): Iterable<{ row: Row | undefined; line: string }> {
  const text = zstdDecompressSync(readFileSync(join(folder, 'chain.jsonl.zst'))).toString('utf8')
  for (const line of text.split('\n')) {
    if (line === '') continue
    // The method stands near the start, so most of a line need not be parsed to skip it.
    const method = /"method": ?"([^"]+)"/.exec(line.slice(0, 400))?.[1] ?? ''
    yield wanted(method) ? { row: parseJson(line) as unknown as Row, line } : { row: undefined, line }
  }
}

/** Where the requests go. */
interface Client {
  post(path: string, body: string): Promise<TextAnswer>
  close(): unknown
}

async function openClient(folder: string): Promise<Client> {
  if (options.browser) return await openRecordedTab(folder)
  if (options.url !== undefined) return new HttpClient(options.url, options.token)
  const own = await serveRecorded(folder)
  const client = new HttpClient(own.url, options.token ?? own.token)
  return {
    post: (path, body) => client.post(path, body),
    close: () => {
      client.close()
      return own.close()
    },
  }
}

async function check(client: Client, row: Row): Promise<string | undefined> {
  const answer = await client.post(row.path, JSON.stringify(row.request, bigIntsAsText))
  if (answer.status !== row.status)
    return `HTTP status: expected ${row.status}, got ${answer.status}: ${answer.body.slice(0, 300)}`
  const got = parseJson(answer.body) as Row['response']
  const { error, result } = row.response
  const recorded = JSON.stringify(error ?? result, bigIntsAsText)
  const meant = new Set(
    FIELD_DIFFERENCES.filter(
      (difference) => difference.method === row.request.method && (difference.recorded?.test(recorded) ?? true),
    ).map((difference) => difference.path),
  )
  if (error !== undefined) return firstDifference(error, got.error, 'error', meant)
  if (got.error !== undefined) return `expected a result, got error ${JSON.stringify(got.error)}`
  return firstDifference(result, got.result, '', meant)
}

function bigIntsAsText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? JSON.rawJSON(value.toString()) : value
}

/** Messages of the recorded pool that a tab does not have. */
function pooledNames(folder: string): string[] {
  const blocks = new MemoryBlockstore()
  putPooledMessages(folder, blocks)
  return [...blocks.entries()].map(([key]) => cidFromBytes(new Uint8Array(Buffer.from(key, 'latin1'))).toString())
}

async function runFolder(folder: string, totals: { passed: number; failed: number; skipped: number }): Promise<void> {
  const client = await openClient(folder)
  const pooled = options.browser ? pooledNames(folder) : []
  const tallies = new Map<string, Tally>()
  const started = performance.now()
  try {
    for (const { row, line } of rows(folder)) {
      if (row === undefined || pooled.some((name) => line.includes(name))) {
        totals.skipped++
        continue
      }
      const name = `${row.path.slice(-2)} ${row.request.method}`
      let tally = tallies.get(name)
      if (tally === undefined) {
        tally = { passed: 0, failed: 0, shown: [] }
        tallies.set(name, tally)
      }
      const difference = await check(client, row)
      if (difference === undefined) tally.passed++
      else {
        tally.failed++
        if (tally.shown.length < Number(options.show)) {
          tally.shown.push(`${JSON.stringify(row.request.params, bigIntsAsText).slice(0, 300)}\n      ${difference}`)
        }
      }
    }
  } finally {
    await client.close()
  }
  console.log(`${basename(resolve(folder))} (${((performance.now() - started) / 1000).toFixed(1)} s)`)
  for (const [name, tally] of [...tallies].sort(([a], [b]) => (a.slice(3) < b.slice(3) ? -1 : 1))) {
    totals.passed += tally.passed
    totals.failed += tally.failed
    console.log(`  ${tally.failed === 0 ? 'ok  ' : 'FAIL'} ${name}: ${tally.passed} passed, ${tally.failed} failed`)
    for (const shown of tally.shown) console.log(`    ${shown}`)
  }
}

if (folders.length === 0 || !groups.every((group) => [...GROUPS, 'all'].includes(group as never))) {
  console.error(
    'usage: npm run golden -- <folder>… [--group core|execution|actors|eth|all,…] [--method Name,…] [--url URL] [--browser]',
  )
  process.exit(2)
}
const totals = { passed: 0, failed: 0, skipped: 0 }
for (const folder of folders) await runFolder(folder, totals)
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`)
process.exitCode = totals.failed === 0 ? 0 : 1
