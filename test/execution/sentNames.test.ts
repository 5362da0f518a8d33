import { describe, expect, it } from 'vitest'
import { MAX_SENT_NAMES } from '../../src/chain/limits.ts'
import { SentNames } from '../../src/execution/sentNames.ts'

describe('names of blocks that a thread has', () => {
  it('are no more than their bound, however many it makes', () => {
    const names = new SentNames()
    let most = 0
    for (let i = 0; i < 2 * MAX_SENT_NAMES + 5; i++) {
      names.add(`block ${i}`)
      most = Math.max(most, names.size)
    }
    expect(most).toBe(MAX_SENT_NAMES)
    // Of 100 bytes each, in every thread.
    expect(most).toBeLessThanOrEqual(20_000)
    expect(names.size).toBe(5)
    expect(names.has(`block ${2 * MAX_SENT_NAMES + 4}`)).toBe(true)
  })
})
