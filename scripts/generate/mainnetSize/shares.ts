/** What the messages of a chain are: counted by the kind of actor that they are sent to and by method. */
import type { ChainView } from '../../../src/chain/chainView.ts'
import { readReceipts } from '../../../src/chain/receipts.ts'
import { firstBlock, type Tipset } from '../../../src/types/tipset.ts'

/** Messages of one sort. */
export interface Share {
  readonly actor: string
  readonly method: bigint
  readonly count: number
  /** Of them, with another exit code than 0. */
  readonly failed: number
}

/** All that was executed below a head, the most frequent first. */
export function sharesOf(view: ChainView, head: Tipset): Share[] {
  const found = new Map<string, { actor: string; method: bigint; count: number; failed: number }>()
  for (let above = head; above.height > 0; ) {
    const tipset = view.store.parent(above)
    const { parentMessageReceipts, parentStateRoot } = firstBlock(above)
    const receipts = readReceipts(view.store.blocks, parentMessageReceipts)
    const tree = view.stateTree(parentStateRoot)
    for (const [i, { message }] of view.tipsetMessages(tipset).entries()) {
      const id = tree.lookupId(message.to)
      const code = id === undefined ? undefined : tree.getActor(id)?.code
      const actor = (code === undefined ? undefined : view.codes(code)?.kind) ?? 'none'
      const key = `${actor} ${message.method}`
      const share = found.get(key) ?? { actor, method: message.method, count: 0, failed: 0 }
      share.count++
      if (receipts[i]?.exitCode !== 0) share.failed++
      found.set(key, share)
    }
    above = tipset
  }
  return [...found.values()].sort((a, b) => b.count - a.count)
}

/** A line for each. */
export function sharesText(shares: readonly Share[]): string[] {
  const all = shares.reduce((sum, { count }) => sum + count, 0)
  return shares.map(({ actor, method, count, failed }) => {
    const part = ((100 * count) / all).toFixed(1).padStart(5)
    return `${part} %  ${actor}, method ${method}: ${count}${failed === 0 ? '' : `, ${failed} of them failed`}`
  })
}
