import { beforeAll, expect, it } from 'vitest'
import { latin1 } from '../../src/base/bytes.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { MESSAGE_WINDOW, ROW_TIPSETS } from '../../src/sync/limits.ts'
import type { Tipset } from '../../src/types/tipset.ts'
import { createFollower, RecordedSource, settled, withMessages } from './follower.ts'
import { createWorld } from './world.ts'

beforeAll(initCrypto)

it('tipsets whose signatures are verified together are marked in one write', async () => {
  const world = createWorld(1)
  const length = 4 * ROW_TIPSETS
  const chain: Tipset[] = []
  for (let i = 0; i < length; i++) chain.push(await world.tipset(chain.at(-1) ?? world.genesis, {}))
  const meta = new MemoryStore()
  const writes: number[] = []
  const write = meta.batch.bind(meta)
  meta.batch = (ops) => {
    const marks = ops.filter(({ op, key }) => op === 'put' && latin1(key).startsWith('sync/valid/'))
    if (marks.length > 0) writes.push(marks.length)
    write(ops)
  }
  const follower = createFollower(world, { mode: 'execute', source: new RecordedSource(world.view), meta })
  follower.syncer.offerTipset('peer', withMessages(world.view, chain.at(-1) as Tipset))
  await settled(follower.syncer)
  expect(follower.store.head().height).toBe(length)
  expect(writes.reduce((sum, marks) => sum + marks, 0)).toBe(length)
  // The target is checked by itself, and a window of messages may end a row.
  expect(writes.length).toBeLessThanOrEqual(length / ROW_TIPSETS + 1 + Math.floor(length / MESSAGE_WINDOW))
  await follower.syncer.stop()
})
