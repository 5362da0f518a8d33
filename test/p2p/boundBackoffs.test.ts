import { expect, it } from 'vitest'
import { MAX_BACKOFF_MS } from '../../src/p2p/gossip/limits.ts'
import { boundBackoffs } from '../../src/p2p/host/boundBackoffs.ts'
import type { Router } from '../../src/p2p/host/router.ts'

it('a peer that does not want to be grafted for a century is left alone for a while', () => {
  const asked: number[] = []
  const router = { doAddBackoff: (_id: string, _topic: string, ms: number) => void asked.push(ms) }
  boundBackoffs(router as unknown as Router)
  for (const ms of [60_000, MAX_BACKOFF_MS, MAX_BACKOFF_MS + 1, 1e15]) router.doAddBackoff('peer', 'topic', ms)
  expect(asked).toEqual([60_000, MAX_BACKOFF_MS, MAX_BACKOFF_MS, MAX_BACKOFF_MS])
})

it('a gossipsub that calls it otherwise is not taken', () => {
  expect(() => boundBackoffs({} as Router)).toThrow('has no method doAddBackoff')
})
