/**
 * Generated calls of all methods at a running node: none may crash it, hang or stay unanswered.
 *
 *     node test/fuzz/rpcNode.ts [--calls 100000] [--seed n] [--url http://… --token …] [--beside http://… --beside-token …]
 *
 * Without `--url` a local chain is started and ended. With `--beside` (a Lotus that follows the same chain) the methods that
 * change nothing are asked there too: an answer without error that the other refuses is a fault.
 * Ends with `N calls of N methods, N faults`; exit code 1 when there is a fault.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { type Json, parseJson, stringifyJson } from '../../src/codec/jsonText.ts'
import { startNode } from '../runtimes/nodeProcess.ts'
import { type GeneratedCall, generateCalls } from './rpcCalls.ts'
import { type AskNode, knownMethods, knownValues } from './rpcKnown.ts'

const HANG_MS = 5000
/** For the first execution, on a busy machine. */
const START_MS = 60_000
const CLIENTS = 4
const MAX_SHOWN = 60
const SHOWN_LENGTH = 300
/** What changes the node, or depends on more than the chain: not compared. */
const OWN_MATTER =
  /Push|Auth|Wallet|Mpool|Net|Sync|Log|Devnet|Market|Msig|Paych|SetHead|DeleteObj|PutObj|Prune|Export|HotGC|Checkpoint|CreateBlock|ubscribe|ilter|Gas|gas|ID$|Session|ersion|Closing|Light|Transfers|Validate|F3|send|Backfill|iscover|StartTime|NodeStatus|syncing/

const { values: options } = parseArgs({
  options: {
    calls: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
    url: { type: 'string' },
    token: { type: 'string', default: '' },
    beside: { type: 'string' },
    'beside-token': { type: 'string', default: '' },
  },
})

interface Place {
  readonly url: string
  readonly token: string
}
type Fields = { readonly [key: string]: Json }
/** A text: there was none, or no JSON. */
type Answered = Fields | string

async function ask(at: Place, { method, params }: GeneratedCall, waitMs = HANG_MS): Promise<Answered> {
  try {
    const response = await fetch(`${at.url}/rpc/v1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${at.token}` },
      body: stringifyJson({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(waitMs),
    })
    const text = await response.text()
    try {
      return parseJson(text) as Fields
    } catch {
      return `no JSON: ${response.status} ${text.slice(0, SHOWN_LENGTH)}`
    }
  } catch (error) {
    return error instanceof DOMException && error.name === 'TimeoutError' ? 'hang' : `no answer: ${String(error)}`
  }
}

async function result(at: Place, method: string, ...params: Json[]): Promise<Json> {
  const answer = await ask(at, { method, params })
  if (typeof answer === 'string' || answer.result === undefined) throw new TypeError(`${method}: ${String(answer)}`)
  return answer.result
}

const home = options.url === undefined ? mkdtempSync(join(tmpdir(), 'petrel-fuzz-')) : undefined
const localChain = ['devnet', '--api', '0', '--no-net', '--manual', '--memory', '--actors', 'native']
const own = home === undefined ? undefined : await startNode('node', home, localChain)
const node: Place =
  own === undefined
    ? { url: options.url as string, token: options.token }
    : { url: own.url.replace(/\/rpc\/v\d$/, ''), token: own.token }
const beside: Place | undefined =
  options.beside === undefined ? undefined : { url: options.beside, token: options['beside-token'] }
console.log(`seed ${options.seed}`)
// The thread that executes starts with the first call that needs it.
await ask(node, { method: 'trace_block', params: ['latest'] }, START_MS)

const askNode: AskNode = (...call) => result(node, ...call)
const methods = await knownMethods(askNode)
const asked = beside === undefined ? methods : methods.filter(({ name }) => !OWN_MATTER.test(name))
const calls = generateCalls(asked, await knownValues(askNode), Number(options.seed))
const faults = new Map<string, number>()
let slowestMs = 0
let slowest = ''
let made = 0

function fault(kind: string, call: GeneratedCall, ...answers: Answered[]): void {
  const name = `${kind}: ${call.method}`
  const count = (faults.get(name) ?? 0) + 1
  faults.set(name, count)
  if (count > 1 || faults.size > MAX_SHOWN) return
  console.log([name, ...[call.params, ...answers].map((one) => stringifyJson(one).slice(0, SHOWN_LENGTH))].join('\n  '))
}

/** The number of an error; undefined: none. */
function numberOf(answer: Fields): Json | undefined {
  const { error } = answer
  return typeof error === 'object' && error !== null && !Array.isArray(error) ? error.code : undefined
}

function judge(call: GeneratedCall, answer: Answered, other: Answered | undefined): void {
  if (typeof answer === 'string') {
    fault(answer === 'hang' ? 'hang' : 'unanswered', call, answer)
    return
  }
  const number = numberOf(answer)
  if (answer.result === undefined && answer.error === undefined) fault('neither', call, answer)
  if (number === 0 && !stringifyJson(answer).includes('nil pointer')) fault('internal', call, answer)
  if (other === undefined || typeof other === 'string') return
  const theirs = numberOf(other)
  if (number === theirs) return
  fault(
    number === undefined ? 'refused there' : theirs === undefined ? 'refused here' : 'another number',
    call,
    answer,
    other,
  )
}

async function client(): Promise<void> {
  while (made < Number(options.calls)) {
    made++
    const call = calls.next().value
    const started = performance.now()
    const answer = await ask(node, call)
    const tookMs = performance.now() - started
    if (tookMs > slowestMs) {
      slowestMs = tookMs
      slowest = call.method
    }
    judge(call, answer, beside === undefined ? undefined : await ask(beside, call))
  }
}

try {
  await Promise.all(Array.from({ length: beside === undefined ? CLIENTS : 1 }, client))
  await result(node, 'Filecoin.ChainHead')
} finally {
  await own?.stop()
  if (home !== undefined) rmSync(home, { recursive: true, force: true })
}
const count = [...faults.values()].reduce((sum, one) => sum + one, 0)
for (const [name, times] of faults) console.log(`${String(times).padStart(6)} ${name}`)
console.log(
  `${made} calls of ${asked.length} methods, ${count} faults, slowest ${slowestMs.toFixed(0)} ms (${slowest})`,
)
process.exitCode = count > 0 ? 1 : 0
