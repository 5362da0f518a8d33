/** Pricing: figures from Lotus' tests (node/impl/gasutils, chain/messagepool) and the recorded session. */
import { describe, expect, test } from 'vitest'
import { fromHex } from '../../src/base/bytes.ts'
import { bytes as bytesCodec, encode } from '../../src/codec/description.ts'
import { minimumReplacementPremium } from '../../src/mempool/fees.ts'
import { capGasFee } from '../../src/mempool/gas/capGasFee.ts'
import { executionError } from '../../src/mempool/gas/executionError.ts'
import { estimateFeeCap } from '../../src/mempool/gas/feeCap.ts'
import { medianPremium, PremiumEstimator } from '../../src/mempool/gas/gasPremium.ts'
import { transitionalGas } from '../../src/mempool/gas/transitionalGas.ts'
import { MinimumGas } from '../../src/mempool/minimumGas.ts'
import { DEFAULT_SEND_SPEC } from '../../src/mempool/sendSpec.ts'
import { ethRevertReason } from '../../src/types/ethRevert.ts'
import type { Tipset } from '../../src/types/tipset.ts'
import { seeded } from '../support/seeded.ts'
import { FakeChain, keyAddress, testMessage } from './fakes.ts'

const a1 = keyAddress(1)
const a2 = keyAddress(2)

describe('fee cap', () => {
  test('20 epochs: a factor of 2699/256', () => {
    expect(estimateFeeCap(256n, 0n, 20n)).toBe(2699n)
  })
  test('fewer epochs than none: it falls', () => {
    expect(estimateFeeCap(1000n, 5n, -1n)).toBe((1000n * 227n) / 256n + 5n)
    expect(estimateFeeCap(1000n, 5n, 0n)).toBe(1005n)
  })
})

describe('premium', () => {
  const one = (premium: bigint, gasLimit: bigint) => ({ premium, gasLimit })
  // @see lotus node/impl/gasutils/gasutils_test.go TestMedian
  test.each([
    [[one(5n, 5_000_000_000n)], 1, 5n],
    [[one(5n, 5_000_000_000n), one(10n, 5_000_000_000n)], 1, 10n],
    [[one(10n, 2_500_000_000n), one(20n, 2_500_000_000n)], 1, 15n],
    [[one(10n, 2_500_000_000n), one(20n, 2_500_000_000n), one(30n, 2_500_000_000n)], 1, 25n],
    [[one(10n, 2_500_000_000n), one(20n, 2_500_000_000n), one(30n, 2_500_000_000n)], 2, 15n],
  ])('median of case %#', (paid, blocks, expected) => {
    expect(medianPremium(paid.toReversed(), blocks)).toBe(expected)
  })

  function estimate(blocks: bigint, normal = 0, premium = 0n): bigint {
    const chain = new FakeChain()
    for (let i = 0; i < 3; i++) chain.mine(premium === 0n ? [] : [testMessage(a1, a2, i, premium)])
    chain.mine()
    return new PremiumEstimator({ chain, normal: () => normal }).estimate(blocks, chain.head())
  }
  test('an empty chain gives the floors', () => {
    expect([0n, 1n, 2n, 3n, 10n, 1000n].map((blocks) => estimate(blocks))).toEqual([
      200_000n,
      200_000n,
      150_000n,
      100_000n,
      100_000n,
      100_000n,
    ])
  })
  test('noise stays within 1.5 % at three deviations', () => {
    expect(estimate(10n, 3)).toBe(101_500n)
    expect(estimate(10n, -3)).toBe(98_500n)
  })
  test('a quiet chain gives the lowest that was paid', () => {
    expect(estimate(10n, 0, 300_000n)).toBe(300_000n)
  })
  test.each([1n, 2n, 13n, 128n])(
    'over %i epochs is read a tipset at a time, and is that of all they paid',
    (blocks) => {
      const chain = new FakeChain()
      /** By tipset, newest first. */
      const paid: { premium: bigint; gasLimit: bigint }[][] = []
      const { int } = seeded('premiums')
      for (let i = 0; i < 300; i++) {
        const messages = Array.from({ length: int(9) }, (_, nonce) =>
          testMessage(a1, a2, nonce, 100_000n + BigInt(int(500)), { gasLimit: BigInt(int(1_500_000_000)) }),
        )
        chain.mine(messages)
        paid.unshift(messages.map(({ message: { gasPremium: premium, gasLimit } }) => ({ premium, gasLimit })))
      }
      const head = chain.mine()
      let reads = 0
      const deps = {
        loadTipset: chain.loadTipset.bind(chain),
        tipsetMessages: (tipset: Tipset) => {
          reads++
          return chain.tipsetMessages(tipset)
        },
      }
      const steps = new PremiumEstimator({ chain: deps, normal: () => 0 }).findPremium(blocks, head)
      let next = steps.next()
      for (let before = 0; next.done !== true; next = steps.next()) {
        expect(reads - before).toBeLessThanOrEqual(1)
        before = reads
      }
      expect(reads).toBe(Number(blocks) * 2)
      const seen = paid.slice(0, reads).flat()
      const falling = seen.toSorted((a, b) => Number(b.premium - a.premium))
      // Where nobody paid, as on an empty chain.
      expect(next.value).toBe(seen.length === 0 ? estimate(blocks) : medianPremium(falling, reads))
    },
  )
  test('what empty tipsets paid is forgotten after 512 of them', () => {
    const chain = new FakeChain()
    let reads = 0
    const deps = {
      loadTipset: chain.loadTipset.bind(chain),
      tipsetMessages: (tipset: Tipset) => {
        reads++
        return chain.tipsetMessages(tipset)
      },
    }
    const estimator = new PremiumEstimator({ chain: deps, normal: () => 0 })
    const first = [chain.mine(), chain.mine(), chain.mine()][2] as Tipset
    estimator.estimate(1n, first)
    expect(reads).toBe(2)
    // The same two tipsets: they are remembered.
    estimator.estimate(2n, first)
    expect(reads).toBe(3)
    for (let i = 0; i < 600; i++) estimator.estimate(1n, chain.mine())
    const before = reads
    // Each of these has read one tipset that was new.
    expect(before).toBe(3 + 600)
    estimator.estimate(3n, first)
    expect(reads - before).toBe(3)
  })
})

describe('fee limit', () => {
  const message = testMessage(a1, a2, 0, 0n).message
  // @see lotus chain/messagepool/messagepool_test.go TestCapGasFee
  test('caps fee cap and premium', () => {
    const dear = { ...message, gasLimit: 100_000_000n, gasFeeCap: 100_000_000n, gasPremium: 100_000n }
    const { gasFeeCap, gasPremium } = capGasFee(dear, DEFAULT_SEND_SPEC, 100_000_000_000n)
    expect([gasFeeCap, gasPremium]).toEqual([1000n, 1000n])
  })
  test('lowers a premium above the fee cap', () => {
    const odd = { ...message, gasLimit: 100_000_000n, gasFeeCap: 100_000n, gasPremium: 100_000_000n }
    const { gasFeeCap, gasPremium } = capGasFee(odd, { ...DEFAULT_SEND_SPEC, maxFee: 100_000_000_000_000n }, 0n)
    expect([gasFeeCap, gasPremium]).toEqual([100_000n, 100_000n])
  })
  test('as in the recorded session: 1 FIL at most, maximized', () => {
    const spec = { ...DEFAULT_SEND_SPEC, maxFee: 10n ** 18n, maximizeFeeCap: true }
    const { gasFeeCap } = capGasFee({ ...message, gasLimit: 1_516_578n, gasPremium: 99_809n }, spec, 7n)
    expect(gasFeeCap).toBe(659_379_207_663n)
  })
})

test('the least replacement of 100065 is 110072', () => {
  expect(minimumReplacementPremium(100_065n)).toBe(110_072n)
})

describe('least gas', () => {
  test('goes by upgrade heights above 0', () => {
    const local = new MinimumGas({ calico: -14, hygge: -30 })
    // recorded: 1000 < 209863 and 200000 < 240863, messages of 135 and 166 bytes
    expect(local.total(200, 135)).toBe(209_863n)
    expect(local.total(200, 166)).toBe(240_863n)
    const mainnet = new MinimumGas({ calico: 265_200, hygge: 2_683_348 })
    expect(mainnet.total(265_199, 100)).toBe(38_863n + 136_000n)
    expect(mainnet.total(265_200, 100)).toBe(38_863n + 136n * 1300n)
    expect(mainnet.total(2_683_348, 100)).toBe(560_663n + 130_000n)
    // What the machine asks for goes by the network's version: ref-fvm fvm/src/gas/price_list.rs, 475000 + 38863 + 1300 * (36 + length).
    expect(local.executed(200, 135)).toBe(736_163n)
    expect(mainnet.executed(265_199, 100)).toBe(mainnet.total(265_199, 100))
    expect(mainnet.executed(2_683_348, 100)).toBe(mainnet.total(2_683_348, 100))
  })
})

test('estimates just before Hygge are raised', () => {
  expect(transitionalGas(1000n, 2_683_340, 2_683_348, 0n, () => undefined)).toBe(3000n)
  expect(transitionalGas(1024n, 2_683_340, 2_683_348, 6n, () => 'storageminer')).toBe(1085n)
  expect(transitionalGas(1000n, 2_683_349, 2_683_348, 0n, () => undefined)).toBe(1000n)
  expect(transitionalGas(1000n, 2_683_327, 2_683_348, 0n, () => undefined)).toBe(1000n)
})

describe('failures of a trial', () => {
  const trial = (exitCode: number, data: Uint8Array, error = 'why') =>
    executionError({ receipt: { exitCode, return: data, gasUsed: 1n, eventsRoot: null }, error })
  test('out of gas', () => {
    expect(trial(7, new Uint8Array(0))).toMatchObject({ code: 'OUT_OF_GAS', message: 'call ran out of gas' })
  })
  test('no such recipient, as recorded', () => {
    const vmError =
      'message failed with backtrace:\n--> caused by: send::send -- actor does not exist: 999999 (6: resource not found)\n (RetCode=5)'
    const error = trial(5, new Uint8Array(0), vmError)
    expect(error.message).toBe(`message execution failed (exit=[SysErrInvalidReceiver(5)], vm error=[${vmError}])`)
    expect(error.info).toEqual({ data: '0x' })
  })
  test('a contract that gives its reason, as recorded', () => {
    // session.jsonl: StateCall 160 returned these bytes
    const data = fromHex(
      `08c379a0${'20'.padStart(64, '0')}${'0e'.padStart(64, '0')}${'6f7574206f662070657472656c73'.padEnd(64, '0')}`,
    )
    const error = trial(33, encode(bytesCodec, data))
    expect(error.message).toBe(
      'message execution failed (exit=[33], revert reason=[Error(out of petrels)], vm error=[why])',
    )
  })
  test('an empty revert', () => {
    expect(trial(33, Uint8Array.of(0x40)).message).toContain('revert reason=[none]')
  })
})

test.each([
  [`4e487b71${'11'.padStart(64, '0')}`, 'ArithmeticOverflow()'],
  [`4e487b71${'99'.padStart(64, '0')}`, 'Panic(0x99)'],
  [`4e487b71${'f'.repeat(64)}`, `Panic(0x${'f'.repeat(64)})`],
  ['aabbccdd', '0xaabbccdd'],
  [`08c379a0${'f'.repeat(64)}`, `0x08c379a0${'f'.repeat(64)}`],
  // Bytes that are no UTF-8: seen in an answer of Lotus' eth_estimateGas.
  [
    `08c379a0${'20'.padStart(64, '0')}${'04'.padStart(64, '0')}${'fffefd80'.padEnd(64, '0')}`,
    'Error(\uFFFD\uFFFD\uFFFD\uFFFD)',
  ],
])('revert reason of %s', (hex, expected) => {
  expect(ethRevertReason(fromHex(hex))).toBe(expected)
})
