/** How far a search for an old message walks. What searches find is compared with Lotus in test/rpc/methods/search.test.ts. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Steps, Walk } from '../../src/base/steps.ts'
import { loadSought, NO_LOOKBACK_LIMIT, searchMessage } from '../../src/chain/searchMessage.ts'
import { parseCid } from '../../src/codec/cid.ts'
import { openRecordedView } from '../support/recordedView.ts'
import { missingShared, sharedPath } from '../support/shared.ts'

/** Epochs that one pointer of the skip list spans. */
const SKIP_LENGTH = 20

test.skipIf(missingShared('data/golden/f3') !== undefined)(
  'goes down a long chain about twice, not once for each halving',
  async () => {
    const { view, vm } = openRecordedView('f3')
    const scenario = JSON.parse(readFileSync(sharedPath('data/golden/f3/scenario.json'), 'utf8')) as {
      messages: string[][]
    }
    const [cid] = scenario.messages[0] as [string]
    const head = view.store.head()
    let steps = 0
    const walk: Walk = <T>(all: Steps<T>): T => {
      for (;;) {
        const next = all.next()
        if (next.done === true) return next.value
        steps++
      }
    }
    const options = { limit: NO_LOOKBACK_LIMIT, allowReplaced: true, walk }
    const found = await searchMessage(loadSought(view, parseCid(cid)), head, options, { view, vm })
    const depth = head.height - (found?.tipset.height ?? head.height)
    expect(depth).toBeGreaterThan(6 * SKIP_LENGTH)
    expect(steps).toBeLessThan((2 * depth) / SKIP_LENGTH)
  },
)
