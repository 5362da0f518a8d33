/** A method whose handler has the machine run something waits in a queue: what is cheap nobody counts. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../support/shared.ts'

const METHODS = join(ROOT, 'src/rpc/methods')
const SIGNATURES = join(ROOT, 'src/rpc/signatures')
/** What runs the machine, here and below. */
const RUNS = [
  'vm\\.(?:call|callWithGas|compute|computeCalls|computeForText|replay)',
  'applyEthCall',
  'estimateGasLimit',
  'estimateMessageGas',
  'estimateEthGas',
  'transfers\\.read',
  'vouchers\\.checkSpendable',
]

/** Names of functions of a file, and of constants that are functions, with their texts. */
function functionsOf(text: string): [name: string, body: string][] {
  const heads = [...text.matchAll(/^(?:export )?(?:async )?function\*? (\w+)|^ {2}const (\w+) = (?:async )?\(/gm)]
  return heads.map((head, i) => {
    const end = text.indexOf(head[1] === undefined ? '\n  }' : '\n}', head.index)
    const next = heads[i + 1]?.index ?? text.length
    return [(head[1] ?? head[2]) as string, text.slice(head.index, head[1] === undefined ? Math.min(end, next) : end)]
  })
}

/** Signatures of rows whose handlers run the machine. */
function runningRows(text: string): string[] {
  const runs = new Set(RUNS)
  const isRunning = (part: string): boolean => new RegExp(`\\b(?:${[...runs].join('|')})\\(`).test(part)
  // A namespace's factory holds handlers: it runs nothing itself.
  const functions = functionsOf(text).filter(([, body]) => !/\b\w*[mM]ethod\(\{/.test(body))
  for (let known = 0; known !== runs.size; ) {
    known = runs.size
    for (const [name, body] of functions) if (isRunning(body.slice(body.indexOf(name) + name.length))) runs.add(name)
  }
  const rows = [...text.matchAll(/\b(?:m|rawM|listM|channelM)ethod\(\{\n\s+\.\.\.(\w+),/g)]
  return rows.flatMap((row, i) => {
    const end = text.indexOf('\n    }),', row.index)
    const body = text.slice(row.index, Math.min(end < 0 ? text.length : end, rows[i + 1]?.index ?? text.length))
    return isRunning(body) ? [row[1] as string] : []
  })
}

it('none is cheap', async () => {
  const costs = new Map<string, string>()
  for (const file of readdirSync(SIGNATURES)) {
    const module = (await import(join(SIGNATURES, file))) as Record<string, { cost?: string } | undefined>
    for (const [name, signature] of Object.entries(module)) costs.set(name, signature?.cost ?? 'cheap')
  }
  const running = readdirSync(METHODS).flatMap((file) => runningRows(readFileSync(join(METHODS, file), 'utf8')))
  // It sees what there is.
  for (const name of ['stateCall', 'stateComputeDataCID', 'ethGetStorageAt', 'ethEstimateGas', 'ethTraceBlock'])
    expect(running).toContain(name)
  expect(running.filter((name) => costs.get(name) === 'cheap')).toEqual([])
})
