/** What the monitor finds wrong with what it is told. */
import { PetrelError } from 'petrel'

/**
 * `WRONG_BLOCK`: the answer does not hash to the CID that was asked for. `NOT_LINKED`: a chain whose heights do not fall.
 * `REFUSED`: nobody answers at the address. `ORIGIN`: somebody answers, but not to this page. `MIXED`: a page over https may not
 * ask over http. `NOT_FOUND`: nothing is known by the name that was looked for.
 */
export type MonitorErrorCode = 'WRONG_BLOCK' | 'NOT_LINKED' | 'REFUSED' | 'ORIGIN' | 'MIXED' | 'NOT_FOUND'

export class MonitorError extends PetrelError<MonitorErrorCode> {}
