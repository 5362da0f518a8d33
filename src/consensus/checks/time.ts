/** Checks 3 to 5: height and timestamp. */

import type { Network } from '../../networks/network.ts'
import type { BlockHeader } from '../../types/blockHeader.ts'
import { firstBlock, type Tipset } from '../../types/tipset.ts'
import { ValidationError } from '../validationError.ts'

const MS = 1000

/** Above its parents, at the second that its height says, and not in the future. */
export function checkTime(header: BlockHeader, base: Tipset, network: Network, nowMs: number): void {
  const { height, timestamp } = header
  if (height <= base.height) {
    throw new ValidationError(
      'HEIGHT_NOT_ABOVE_PARENTS',
      `block height not greater than parent height: ${height} != ${base.height}`,
    )
  }
  const expected = firstBlock(base).timestamp + network.blockDelaySecs * (height - base.height)
  if (timestamp !== expected) {
    throw new ValidationError('TIMESTAMP_WRONG', `block had wrong timestamp: ${timestamp} != ${expected}`)
  }
  if (timestamp * MS > nowMs + network.allowableClockDriftSecs * MS) {
    throw new ValidationError(
      'TIMESTAMP_IN_FUTURE',
      `block was from the future: ${timestamp} > ${Math.floor(nowMs / MS)}`,
    )
  }
}
