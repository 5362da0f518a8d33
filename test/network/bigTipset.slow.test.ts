/** 5,000 messages in one tipset, between real processes: `node test/network/bigTipset.ts` prints the figures. */
import { expect, it } from 'vitest'
import { bigTipset } from './bigTipset.ts'

/** Resident memory of a follower meanwhile, MB: idle ones hold 200 to 300. */
const MAX_RESIDENT_MB = 900

it('followers that execute and followers of headers follow, and neither lose nor ban a peer', async () => {
  const report = await bigTipset({ messages: 5_000, miners: 1 })
  console.log(JSON.stringify(report))
  expect(report.messages).toBe(5_000)
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
