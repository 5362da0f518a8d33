import { describe, expect, it } from 'vitest'
import { deadlineInfo, nextNotElapsed } from '../../src/chain/queries/provingDeadline.ts'
import { amountLocked } from '../../src/chain/queries/spendableSupply.ts'
import { parseCid } from '../../src/codec/cid.ts'
import type { MultisigState } from '../../src/state/multisig.ts'

describe('proving deadlines', () => {
  it('are windows of 60 epochs with their challenge and cutoff before them', () => {
    // golden/nv28, StateMinerProvingDeadline of t01000 at epoch 183
    const info = nextNotElapsed(deadlineInfo(-2222, 40, 183))
    expect(info).toMatchObject({
      open: 178,
      close: 238,
      challenge: 158,
      faultCutoff: 108,
      periodStart: -2222,
      index: 40,
    })
  })

  it('that have passed come again one period later', () => {
    // go-state-types dline/deadline.go NextNotElapsed: the first window of the index that has not closed.
    for (const start of [-2222, 0, 17, 5000]) {
      for (let epoch = 0; epoch < 9000; epoch += 59) {
        for (const index of [0, 20, 47]) {
          const info = nextNotElapsed(deadlineInfo(start, index, epoch))
          expect(info.close).toBeGreaterThan(epoch)
          expect((((info.periodStart - start) % 2880) + 2880) % 2880).toBe(0)
          if (info.periodStart !== start) expect(info.close - 2880).toBeLessThanOrEqual(epoch)
        }
      }
    }
  })

  it('behind the last one have no length', () => {
    expect(deadlineInfo(100, 48, 0)).toMatchObject({ open: 2980, close: 2980, challenge: 2980, faultCutoff: 0 })
  })
})

describe('a multisig', () => {
  const state = (initialBalance: bigint, startEpoch: number, unlockDuration: number): MultisigState => ({
    signers: [],
    numApprovalsThreshold: 1,
    nextTxnId: 0,
    initialBalance,
    startEpoch,
    unlockDuration,
    pendingTxns: parseCid('bafy2bzaceamp42wmmgr2g2ymg46euououzfyck7szknvfacqscohrvaikwfay'),
  })

  it('unlocks evenly, and what is locked is rounded up', () => {
    // builtin-actors actors/multisig/src/state.rs amount_locked
    expect(amountLocked(state(100n, 10, 7), 9)).toBe(100n)
    expect(amountLocked(state(100n, 10, 7), 10)).toBe(100n)
    expect(amountLocked(state(100n, 10, 7), 11)).toBe(86n)
    expect(amountLocked(state(100n, 10, 7), 16)).toBe(15n)
    expect(amountLocked(state(100n, 10, 7), 17)).toBe(0n)
    expect(amountLocked(state(100n, 0, 0), 0)).toBe(0n)
  })
})
