/** Where an execution of ours and what a block claims of it part. */
import { equalBytes } from '../base/bytes.ts'
import type { ChainView } from '../chain/chainView.ts'
import { readReceipts } from '../chain/receipts.ts'
import type { TipsetState } from '../chain/vm.ts'
import { chainMessageCid } from '../types/chainMessage.ts'
import type { Receipt } from '../types/receipt.ts'
import type { Tipset } from '../types/tipset.ts'

function receiptText({ exitCode, gasUsed, eventsRoot }: Receipt): string {
  const events = eventsRoot === null ? '' : `, events ${eventsRoot.toString()}`
  return `exit code ${exitCode}, gas ${gasUsed}${events}`
}

function equalReceipts(a: Receipt, b: Receipt): boolean {
  return (
    a.exitCode === b.exitCode &&
    a.gasUsed === b.gasUsed &&
    equalBytes(a.return, b.return) &&
    (a.eventsRoot === null ? b.eventsRoot === null : b.eventsRoot !== null && a.eventsRoot.equals(b.eventsRoot))
  )
}

/**
 * Says at which message two executions of a tipset part.
 * @param claimed - of the child; its receipts are read where they can be had
 * @throws BlockMissing
 */
export function firstDifference(view: ChainView, tipset: Tipset, computed: TipsetState, claimed: TipsetState): string {
  if (computed.receiptsRoot.equals(claimed.receiptsRoot)) {
    return 'all receipts are equal: the states part in something that no receipt shows'
  }
  const { blocks } = view.store
  const theirs = readReceipts(blocks, claimed.receiptsRoot)
  const ours = readReceipts(blocks, computed.receiptsRoot)
  const messages = view.tipsetMessages(tipset)
  const count = Math.max(ours.length, theirs.length)
  for (let i = 0; i < count; i++) {
    const mine = ours[i]
    const other = theirs[i]
    if (mine !== undefined && other !== undefined && equalReceipts(mine, other)) continue
    const message = messages[i]
    const name = message === undefined ? 'which the tipset does not have' : chainMessageCid(message).toString()
    const text = (receipt: Receipt | undefined): string => (receipt === undefined ? 'none' : receiptText(receipt))
    return `the first message that differs is ${i} (${name}): ${text(mine)} (computed), ${text(other)} (claimed)`
  }
  return `all ${count} receipts are equal, but their lists are not`
}
