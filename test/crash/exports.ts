/** Exports of the chain that go on while their node is killed: one that is cut is no fault, one that is whole holds what it says. */
import { setTimeout as sleep } from 'node:timers/promises'
import { streamExport } from '../../platform/cli/exportStream.ts'
import type { Endpoint } from '../../platform/cli/rpcClient.ts'
import { carBlocks, readCarHeader } from '../../src/archive/car.ts'
import { concatBytes } from '../../src/base/bytes.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import { isBlockOf } from '../../src/ipld/verifyBlock.ts'

/** Of states; collections of a run under load leave twice as many. */
const RECENT_STATE_ROOTS = 10
const PAUSE_MS = 100
/** Its node ends it. */
const NEVER = new AbortController().signal

/** What is wrong with a whole export. */
function faultsOf(car: Uint8Array): string[] {
  const { roots } = readCarHeader(memorySource(car))
  const names = new Set<string>()
  const faults: string[] = []
  for (const [cid, data] of carBlocks(memorySource(car))) {
    names.add(String(cid))
    if (!isBlockOf(cid, data)) faults.push(`an export has another block as ${cid}`)
  }
  for (const root of roots) if (!names.has(String(root))) faults.push(`an export lacks its root ${root}`)
  return faults
}

/** Asked for again and again. */
export class Exports {
  whole = 0
  /** By the end of their node. */
  cut = 0

  /** @returns what is wrong, each as a line */
  async one(endpoint: Endpoint): Promise<string[]> {
    const chunks: Uint8Array[] = []
    const request = { recentStateRoots: RECENT_STATE_ROOTS, skipOldMessages: false, tipset: [] }
    try {
      await streamExport(endpoint, request, (chunk) => chunks.push(chunk), NEVER)
    } catch (error) {
      // Of which nothing came it was never begun.
      if (chunks.length > 0) this.cut++
      throw error
    }
    this.whole++
    await sleep(PAUSE_MS)
    return faultsOf(concatBytes(...chunks))
  }
}
