import { upgradeHeight } from '../../networks/network.ts'
import type { Ticket } from '../../types/blockHeader.ts'
import { firstBlock } from '../../types/tipset.ts'
import type { BlockContext } from '../blockContext.ts'
import { ticketInput } from '../election.ts'
import { ValidationError } from '../validationError.ts'

/**
 * Check 14: the ticket is the worker's, drawn from the parents' smallest.
 * @throws ValidationError `TICKET_INVALID`
 */
export function checkTicket({ header, base, view, beacon, worker, verifyBls }: BlockContext): void {
  const smoke = upgradeHeight(view.network, 'Smoke') ?? -1
  const baseTicket = header.height > smoke ? firstBlock(base).ticket?.vrfProof : undefined
  const input = ticketInput(beacon, header.height, header.miner, baseTicket)
  if (!verifyBls((header.ticket as Ticket).vrfProof, input, worker.payload)) {
    throw new ValidationError('TICKET_INVALID', 'validating block tickets failed: vrf was invalid')
  }
}
