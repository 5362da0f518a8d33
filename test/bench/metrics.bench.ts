/**
 * What counting calls for Prometheus costs: processor time of the cheapest method there is (its answer is a constant), with the
 * figures and without, by turns in one process; and the share of it in a request over HTTP. Fails above 1 %.
 *
 *     node test/bench/metrics.bench.ts [rounds]      default 30
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { systemClock } from '../../platform/server/clock.ts'
import { startServer } from '../../platform/server/httpServer.ts'
import { Metrics } from '../../src/base/metrics.ts'
import { type NodeMetricsDeps, registerNodeMetrics } from '../../src/node/nodeMetrics.ts'
import { countsOfAll } from '../../src/rpc/callCounts.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { HttpHandler } from '../../src/rpc/http.ts'
import { chainHead } from '../../src/rpc/signatures/chain.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { silentLog, stubRows, stubVerifier } from '../rpc/stubTable.ts'
import { devnetNode } from '../support/devnetNode.ts'
import type { LoadResult } from './load.ts'

const MOST_PERCENT = 1
const CALLS = 20_000
const CONNECTIONS = 8
const HTTP_MS = 1500
const BODY = JSON.stringify({ jsonrpc: '2.0', id: 1, method: `Filecoin.${chainHead.name}`, params: [] })

const rounds = Number(process.argv[2] ?? '30')
const { view } = devnetNode()
const { called } = registerNodeMetrics(new Metrics(), {
  ...{ view, version: 'bench', net: undefined, executions: undefined, counts: countsOfAll() },
  // Read when somebody asks, which nobody does here.
  ...({} as Pick<NodeMetricsDeps, 'health' | 'pool' | 'sync'>),
})
const engineWith = (onCall?: { nowMs: () => number; called: typeof called }): RpcEngine =>
  new RpcEngine({
    ...{ table: createMethodTable(stubRows), json: { addressPrefix: 't' }, log: silentLog },
    ...(onCall === undefined ? {} : { onCall }),
  })
const engines = {
  with: engineWith({ nowMs: () => systemClock.monotonicMs(), called }),
  without: engineWith(),
}
type Kind = keyof typeof engines
const KINDS: readonly Kind[] = ['with', 'without']

const cpuUs = (): number => {
  const { user, system } = process.cpuUsage()
  return user + system
}
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] as number
const caller = {
  ...{ version: 'v1' as const, permissions: new Set(['read']), name: 'bench', signal: new AbortController().signal },
}
const request = { id: 1, method: `Filecoin.${chainHead.name}`, params: [] }

/** Processor time of a call without HTTP, us. */
function callUs(engine: RpcEngine): number {
  const before = cpuUs()
  for (let i = 0; i < CALLS; i++) void engine.dispatch(request as never, caller as never, undefined)
  return (cpuUs() - before) / CALLS
}

/** Processor time of a request over HTTP here, where no client runs, us. */
async function requestUs(engine: RpcEngine): Promise<{ us: number; perSecond: number }> {
  const health = { live: () => [], ready: () => [] }
  const handler = new HttpHandler(engine, { verifier: stubVerifier, health })
  const server = await startServer({ handler, engine, host: '127.0.0.1', port: 0, closeGraceMs: 0, log: silentLog })
  const args = [`http://127.0.0.1:${server.port}`, 'read', BODY, String(CONNECTIONS), String(HTTP_MS)]
  const before = cpuUs()
  const child = spawn(process.execPath, [join(import.meta.dirname, 'load.ts'), ...args], {
    stdio: ['ignore', 'pipe', 2],
  })
  let text = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8')
  })
  await once(child, 'close')
  const { perSecond } = JSON.parse(text) as LoadResult
  const us = (cpuUs() - before) / (perSecond * (HTTP_MS / 1000))
  await server.close()
  return { us, perSecond }
}

const calls: Record<Kind, number[]> = { with: [], without: [] }
for (const kind of KINDS) callUs(engines[kind])
for (let i = 0; i < rounds; i++) for (const kind of KINDS) calls[kind].push(callUs(engines[kind]))
const requests: Record<Kind, { us: number; perSecond: number }[]> = { with: [], without: [] }
await requestUs(engines.without)
for (let i = 0; i < Math.ceil(rounds / 5); i++)
  for (const kind of KINDS) requests[kind].push(await requestUs(engines[kind]))

const extraUs = median(calls.with) - median(calls.without)
const plainUs = median(requests.without.map(({ us }) => us))
const percent = (100 * extraUs) / plainUs
for (const kind of KINDS) {
  const perSecond = median(requests[kind].map((one) => one.perSecond))
  const us = median(requests[kind].map((one) => one.us))
  console.log(
    `${kind.padEnd(8)} ${median(calls[kind]).toFixed(3)} us a call; over HTTP ${us.toFixed(1)} us, ${perSecond.toFixed(0)} a second`,
  )
}
console.log(`figures: ${(1000 * extraUs).toFixed(0)} ns a call, ${percent.toFixed(2)} % of a request over HTTP`)
if (percent > MOST_PERCENT) process.exitCode = 1
