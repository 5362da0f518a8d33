/** Re-executes a recorded chain and compares with what Lotus recorded. */

import { parseCid } from '../../../src/codec/cid.ts'
import type { Json } from '../../../src/codec/jsonText.ts'
import { invocResult } from '../../../src/execution/invocResult.ts'
import { networkVersionAt } from '../../../src/networks/network.ts'
import { invocResult as invocResultForm } from '../../../src/rpc/types/execution.ts'
import { firstBlock, type Tipset } from '../../../src/types/tipset.ts'
import { type Row, recordedCalls } from '../../support/recorded.ts'
import { missingShared } from '../../support/shared.ts'
import { wasmActors } from './actorCode.ts'
import { jsonDifferences } from './compareJson.ts'
import { executeGolden, type GoldenChain, openGoldenChain } from './goldenChain.ts'

export interface ChainCheck {
  tipsets: number
  messages: number
  subcalls: number
  /** Milliseconds of execution alone. */
  ms: number
  /** One text per tipset or message that differs. */
  failures: string[]
}

/** Recorded answers of StateCompute by tipset key. */
export function recordedComputes(name: string): Map<string, Row> {
  const out = new Map<string, Row>()
  if (missingShared(`data/golden/${name}/chain.jsonl.zst`) !== undefined) return out
  for (const call of recordedCalls(name, 'chain.jsonl.zst', ['Filecoin.StateCompute'])) {
    const key = call.params[2] as Row[] | null
    if (key === null || (call.params[1] as Json[] | null)?.length) continue
    out.set(key.map((one) => parseCid(one['/'] as string)).join(), call.response.result as Row)
  }
  return out
}

function countSubcalls(trace: { subcalls: readonly { subcalls: readonly unknown[] }[] }): number {
  let count = 0
  for (const one of trace.subcalls) count += 1 + countSubcalls(one as never)
  return count
}

/** @param limit - stop after so many failures */
export function checkChain(name: string, limit = 10, golden: GoldenChain = openGoldenChain(name)): ChainCheck {
  const { network, tipsets } = golden
  const context = { addressPrefix: network.addressPrefix }
  const computes = recordedComputes(name)
  const check: ChainCheck = { tipsets: 0, messages: 0, subcalls: 0, ms: 0, failures: [] }
  for (let i = 0; i < tipsets.length && check.failures.length < limit; i++) {
    const tipset = tipsets[i] as Tipset
    const recorded = computes.get(tipset.key.join())
    const where = `${name} epoch ${tipset.height}`
    const start = performance.now()
    const { result, applied } = executeGolden(
      golden,
      tipset,
      wasmActors(golden.bundles, networkVersionAt(network, tipset.height)),
    )
    check.ms += performance.now() - start
    check.tipsets++
    check.messages += applied.length
    const next = tipsets[i + 1]
    if (next !== undefined) {
      const block = firstBlock(next)
      if (!result.stateRoot.equals(block.parentStateRoot)) {
        check.failures.push(`${where}: state root ${result.stateRoot}, expected ${block.parentStateRoot}`)
      }
      if (!result.receiptsRoot.equals(block.parentMessageReceipts)) {
        check.failures.push(`${where}: receipts ${result.receiptsRoot}, expected ${block.parentMessageReceipts}`)
      }
    }
    if (recorded === undefined) continue
    const root = (recorded.Root as Row)['/'] as string
    if (String(result.stateRoot) !== root) check.failures.push(`${where}: Root ${result.stateRoot}, expected ${root}`)
    const rows = recorded.Trace as Json[]
    if (rows.length !== applied.length) {
      check.failures.push(`${where}: ${applied.length} messages, expected ${rows.length}`)
    }
    for (let n = 0; n < Math.min(rows.length, applied.length); n++) {
      const one = applied[n] as (typeof applied)[number]
      if (one.result.trace !== undefined) check.subcalls += countSubcalls(one.result.trace)
      const differences = jsonDifferences(invocResultForm.toJson(invocResult(one), context), rows[n])
      if (differences.length > 0) {
        check.failures.push(`${where} message ${n} (${one.cid}):\n    ${differences.join('\n    ')}`)
      }
    }
  }
  return check
}
