/** Where an execution of ours and what a block claims of it part. */
import { equalBytes } from '../base/bytes.ts'
import { errorMessage } from '../base/errors.ts'
import type { Timers } from '../base/ports.ts'
import { withTimeout } from '../base/waiting.ts'
import type { ChainView } from '../chain/chainView.ts'
import { readReceipts } from '../chain/receipts.ts'
import type { TipsetState } from '../chain/vm.ts'
import type { BlockValidation } from '../consensus/validateBlock.ts'
import { ValidationError } from '../consensus/validationError.ts'
import type { BlockEdge } from '../ipld/blockFetcher.ts'
import type { BlockHeader } from '../types/blockHeader.ts'
import { chainMessageCid } from '../types/chainMessage.ts'
import type { Receipt } from '../types/receipt.ts'
import type { Tipset } from '../types/tipset.ts'
import { SyncError } from './errors.ts'

/** How long receipts are sought that would tell where a wrong execution parts from ours, ms. */
const DIFFERENCE_MS = 10_000

/** What receipts are sought with. */
export interface DifferenceDeps {
  readonly validation: BlockValidation
  readonly edge: BlockEdge
  readonly timers: Timers
}

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

/** Where the result of `base` parts from what `block` claims of it; '' where something else is wrong with the block. */
export async function difference(
  { validation, edge, timers }: DifferenceDeps,
  error: unknown,
  block: BlockHeader,
  base: Tipset,
  computed: TipsetState,
): Promise<string> {
  const isResult =
    error instanceof ValidationError && (error.code === 'STATE_ROOT_WRONG' || error.code === 'RECEIPTS_ROOT_WRONG')
  if (!isResult) return ''
  const claimed = { stateRoot: block.parentStateRoot, receiptsRoot: block.parentMessageReceipts }
  const late = (): SyncError => new SyncError('STATE_UNAVAILABLE', 'state could not be fetched in time')
  const compare = (): string => firstDifference(validation.view, base, computed, claimed)
  try {
    return await withTimeout(timers, DIFFERENCE_MS, late, (inTime) => edge(compare, inTime))
  } catch (error) {
    return `the first message that differs is not known: ${errorMessage(error)}`
  }
}
