/** A node with nothing but genesis follows recorded chains to their heads. */
import { beforeAll, describe, expect, it } from 'vitest'
import { initCrypto } from '../../src/crypto/init.ts'
import { SYNC_STAGE } from '../../src/sync/syncState.ts'
import { firstBlock } from '../../src/types/tipset.ts'
import { missingShared } from '../support/shared.ts'
import { createFollower, headName, openRecorded, RecordedSource, settled, tipsetsOf } from './follower.ts'

beforeAll(async () => {
  await initCrypto()
})

for (const chain of ['nv17', 'nv28']) {
  const missing = missingShared(`data/golden/${chain}`)
  if (missing !== undefined) console.warn(`skipped: ${missing}`)
  describe.skipIf(missing !== undefined)(`following ${chain} from genesis`, () => {
    const recorded = missing === undefined ? openRecorded(chain) : (undefined as never)

    for (const mode of ['headers', 'execute'] as const) {
      // Every chain is executed, tipset by tipset, in test/fvm/golden.slow.test.ts: here one of them, by the syncer.
      const cannot = mode === 'execute' && (chain !== 'nv17' || recorded?.bundles.length === 0)
      it.skipIf(cannot)(`${mode}: reaches its head`, { timeout: 240_000 }, async () => {
        const { view } = recorded
        const source = new RecordedSource(view)
        const follower = createFollower(recorded, { mode, source })
        const head = view.store.head()
        const started = performance.now()
        follower.syncer.offerHead('recorded', { key: head.key, height: head.height, weight: view.weight(head) })
        await settled(follower.syncer)
        const [worker] = follower.syncer.state().activeSyncs
        expect(worker?.message).toBe('')
        expect(worker?.stage).toBe(SYNC_STAGE.complete)
        expect(headName(follower.store)).toBe(headName(view.store))
        expect(follower.reports).toEqual([])
        // Whatever the steps, each tipset was applied once.
        expect(follower.changes.flatMap((one) => one.reverted)).toEqual([])
        expect(follower.changes.flatMap((one) => one.applied.map((tipset) => tipset.height))).toEqual(
          tipsetsOf(view).map((tipset) => tipset.height),
        )
        console.log(
          `${chain} ${mode}: ${tipsetsOf(view).length} tipsets in ${Math.round(performance.now() - started)} ms`,
        )
        if (mode === 'headers') return
        const root = firstBlock(head).parentStateRoot
        expect(follower.blocks.has(root)).toBe(true)
        expect(follower.syncer.state().vmApplied).toBeGreaterThan(0)
      })
    }
  })
}
