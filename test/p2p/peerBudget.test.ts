/** What is remembered of peers that have used up what they may ask for. */
import { expect, it } from 'vitest'
import { MAX_BUDGETED_PEERS } from '../../src/p2p/limits.ts'
import { PeerBudget } from '../../src/p2p/peerBudget.ts'
import { VirtualTime } from '../support/virtualTime.ts'

/** Whether a peer that has used up its budget has some again when so many others have come. */
function hasAgainAfter(others: number): boolean {
  const budget = new PeerBudget(new VirtualTime(), { capacity: 1, perSecond: 0 })
  expect([budget.take('first'), budget.take('first')]).toEqual([true, false])
  for (let i = 0; i < others; i++) budget.take(`other ${i}`)
  return budget.has('first', 1)
}

it('of so many it is remembered; of one more the one that was longest unheard of starts afresh', () => {
  expect(hasAgainAfter(MAX_BUDGETED_PEERS - 1)).toBe(false)
  expect(hasAgainAfter(MAX_BUDGETED_PEERS)).toBe(true)
})
