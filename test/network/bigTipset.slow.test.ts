/**
 * A tipset full of messages between real processes: 2,000 here, 5,000 and more by `node test/network/bigTipset.ts --messages 5000`,
 * which prints the figures.
 */
import { expect, it } from 'vitest'
import { bigTipset } from './bigTipset.ts'

/** Resident memory of a follower meanwhile, MB: idle ones hold 200 to 300. */
const MAX_RESIDENT_MB = 900

const MESSAGES = 2_000

it('followers that execute and followers of headers follow, and neither lose nor ban a peer', async () => {
  const report = await bigTipset({ messages: MESSAGES, miners: 1 })
  console.log(JSON.stringify(report))
  expect(report.messages).toBe(MESSAGES)
  expect(report.heightAfter).toEqual([3, 3])
  for (const { mode, peers, complaints, peakMb } of report.followers) {
    expect(
      complaints.filter((line) => /banned|given up|turned away/.test(line)),
      mode,
    ).toEqual([])
    expect(peers, mode).toBeGreaterThanOrEqual(1)
    expect(peakMb, mode).toBeLessThan(MAX_RESIDENT_MB)
  }
}, 600_000)
