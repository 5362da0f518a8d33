/**
 * Shows where two executions of a message part, charge by charge.
 *
 *   npm run trace -- <message CID> --against <file or http://…> [--url http://127.0.0.1:1234]
 *
 * Asks the node at --url to replay the message and lays its trace beside another's: that of a node at an address, or of a file
 * with an answer to `StateReplay`. Exit code 0: equal, 1: they differ, 2: wrong usage.
 */
import { readFileSync } from 'node:fs'
import { errorMessage } from '../src/base/errors.ts'
import { type Json, parseJson, stringifyJson } from '../src/codec/jsonText.ts'
import { HttpClient } from './golden/httpClient.ts'
import { sideBySide, traceLines, traceOf } from './golden/traceLines.ts'
import { programArgs } from './programArgs.ts'

const { values: options, positionals } = programArgs(import.meta.filename, {
  allowPositionals: true,
  options: { against: { type: 'string' }, url: { type: 'string', default: 'http://127.0.0.1:1234' } },
})
const [message] = positionals
if (message === undefined || options.against === undefined) {
  console.error('usage: npm run trace -- <message CID> --against <file or http://…> [--url http://…]')
  process.exit(2)
}

async function replayed(url: string): Promise<Json> {
  const client = new HttpClient(url, undefined)
  const params = [null, { '/': message }]
  const { body } = await client.post(
    '/rpc/v1',
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'Filecoin.StateReplay', params }),
  )
  client.close()
  return parseJson(body)
}

function linesOf(answer: Json, from: string): string[] {
  const trace = traceOf(answer)
  if (trace === undefined) throw new Error(`no trace from ${from}: ${stringifyJson(answer).slice(0, 300)}`)
  return [...traceLines(trace)]
}

try {
  const { against, url } = options
  const other = /^https?:/.test(against) ? await replayed(against) : parseJson(readFileSync(against, 'utf8'))
  const difference = sideBySide(linesOf(await replayed(url), url), linesOf(other, against))
  console.log(difference ?? 'equal')
  process.exitCode = difference === undefined ? 0 : 1
} catch (error) {
  console.error(errorMessage(error))
  process.exitCode = 2
}
