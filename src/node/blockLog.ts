/**
 * What became of the messages of a local chain: a line for each as soon as its tipset was executed, and one for the tipset, in
 * Ethereum's terms besides Filecoin's.
 * @see foundry anvil, whose log has for each transaction its hash, the contract that it made, its gas, its failure, then the
 * block's number, hash and time
 */
import { toHex } from '../base/bytes.ts'
import { type ErrorInfo, unlessThrown } from '../base/errors.ts'
import type { Logger } from '../base/ports.ts'
import type { ChainView } from '../chain/chainView.ts'
import { revertReason } from '../chain/executionReverted.ts'
import { exitCodeName } from '../chain/exitCodeName.ts'
import { readReceipts } from '../chain/receipts.ts'
import { ethBlockHash } from '../eth/ethIndex.ts'
import { createdAddress } from '../eth/ethTraces.ts'
import { ethHashOf } from '../eth/ethTransactionOf.ts'
import { BlockMissing } from '../ipld/errors.ts'
import { type ChainMessage, chainMessageCid } from '../types/chainMessage.ts'
import { EamMethod } from '../types/methodNumbers.ts'
import type { Receipt } from '../types/receipt.ts'
import { EAM_ADDRESS } from '../types/singletons.ts'
import { firstBlock, type Tipset } from '../types/tipset.ts'

/** Messages of one tipset that have a line of their own; the tipset's line counts all. */
const MOST_LINES = 20
const MS_PER_SEC = 1000

/** @returns what ends it */
export function logBlocks(view: ChainView, log: Logger): () => void {
  return view.store.onHeadChange((_, applied) => {
    for (const tipset of applied) unlessThrown(() => tellParent(view, log, tipset), BlockMissing)
  })
}

/** A tipset names the receipts of the one that it builds on. */
function tellParent(view: ChainView, log: Logger, tipset: Tipset): void {
  if (tipset.height === 0) return
  const executed = view.store.parent(tipset)
  const messages = executed.height === 0 ? [] : view.tipsetMessages(executed)
  if (messages.length === 0) return
  const receipts = readReceipts(view.store.blocks, firstBlock(tipset).parentMessageReceipts)
  let gasUsed = 0n
  receipts.forEach((receipt, i) => {
    gasUsed += receipt.gasUsed
    const message = messages[i]
    if (i < MOST_LINES && message !== undefined) log.info('transaction', facts(view, message, receipt))
  })
  const time = new Date(firstBlock(executed).timestamp * MS_PER_SEC).toISOString()
  const hash = `0x${toHex(ethBlockHash(executed))}`
  log.info('block', { number: executed.height, hash, time, transactions: receipts.length, gasUsed })
}

function facts(view: ChainView, sent: ChainMessage, receipt: Receipt): ErrorInfo {
  const { message } = sent
  const { exitCode, gasUsed } = receipt
  const isCreation = message.to.equals(EAM_ADDRESS) && message.method === EamMethod.CreateExternal
  return {
    hash: `0x${toHex(ethHashOf(sent, BigInt(view.network.chainId)))}`,
    cid: chainMessageCid(sent).toString(),
    from: view.addressText(message.from),
    to: view.addressText(message.to),
    ...(isCreation && exitCode === 0 ? { contractCreated: `0x${toHex(createdAddress(receipt.return))}` } : {}),
    gasUsed,
    exitCode: exitCodeName(exitCode),
    ...(exitCode === 0 ? {} : { revertReason: revertReason(receipt) }),
  }
}
