/**
 * The minting schedule, by values of the actors' own tests (builtin-actors v18 actors/reward/testdata,
 * TestSimpleReward.golden and TestBaselineReward.golden: every row there agrees, seven are here).
 */
import { describe, expect, it } from 'vitest'
import {
  BASELINE_INITIAL_VALUE,
  BASELINE_TOTAL,
  computeReward,
  computeRewardTheta,
  INIT_BASELINE_POWER,
  nextBaselinePower,
  SIMPLE_TOTAL,
} from '../../src/actors/reward/schedule.ts'

const SIMPLE: [number, bigint][] = [
  [0, 36266264293777134739n],
  [5000, 36246341860983438171n],
  [10000, 36226430372336764970n],
  [250000, 35283432155088349958n],
  [1000000, 32491879166191462986n],
  [2000000, 29110310430609650067n],
  [2555000, 27387841182142501307n],
]

/** Theta before and after, Q.128, and the reward above the simple one. */
const BASELINE: [bigint, bigint, bigint][] = [
  [0n, 340282366920938463463374607398434878123n, 84621274052457285111n],
  [1701411834604692317316873037158763279502223n, 1701752116971613255780336411766161714380346n, 84574788381047331439n],
  [3402823669209384634633746074317526559004446n, 3403163951576305573097209448924924993882569n, 84528328245977625901n],
  [85070591730234615865843651857938163975111150n, 85070932012601536804307115232545562409989273n, 82327999314209235033n],
  [
    340282366920938463463374607431752655900444600n,
    340282707203305384401838070806360054335322723n,
    75814376389282469993n,
  ],
  [
    680564733841876926926749214863505311800889200n,
    680565074124243847865212678238112710235767323n,
    67924050206720829853n,
  ],
  [
    869421447482997774148922121988128035825635953n,
    869421787765364695087385585362735434260514076n,
    63904955735320338264n,
  ],
]

describe('minting schedule', () => {
  it('mints the simple part', () => {
    for (const [epoch, reward] of SIMPLE)
      expect(computeReward(epoch, 0n, 0n, SIMPLE_TOTAL, BASELINE_TOTAL)).toBe(reward)
  })

  it('mints the baseline part', () => {
    const simple = computeReward(0, 0n, 0n, SIMPLE_TOTAL, BASELINE_TOTAL)
    for (const [before, after, reward] of BASELINE) {
      expect(computeReward(0, before, after, SIMPLE_TOTAL, BASELINE_TOTAL) - simple).toBe(reward)
    }
  })

  it('interpolates the effective network time', () => {
    // builtin-actors v18 actors/reward/src/logic.rs test_compute_r_theta: baseline (epoch + 1) * 2048.
    const q128 = (theta: bigint): number => Number(theta >> 96n) / 2 ** 32
    expect(q128(computeRewardTheta(1, 4096n, 2048n + 2048n, 2048n + 4096n))).toBe(0.5)
    expect(q128(computeRewardTheta(1, 4096n, 2048n + 1024n, 2048n + 4096n))).toBe(0.25)
    expect(computeRewardTheta(0, 4096n, 1n, 2n)).toBe(0n)
  })

  it('starts one epoch below the first baseline', () => {
    const first = nextBaselinePower(INIT_BASELINE_POWER)
    expect(BASELINE_INITIAL_VALUE - first).toBeLessThanOrEqual(2n)
  })
})
