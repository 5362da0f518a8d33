import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { systemTimers } from '../../platform/server/clock.ts'
import { LmdbEnvironment } from '../../platform/server/lmdbStore.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { BlockBound } from '../../src/ipld/blockBound.ts'
import { seeded } from '../support/seeded.ts'
import { until } from '../support/until.ts'

const MEBI = 1024 * 1024
const MOST = 24 * MEBI
const STAYS = 0x90
/** Blocks that are read again and again. */
const USED = 200
const folder = mkdtempSync(join(tmpdir(), 'petrel-bound-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('a cache of blocks on disk stays below its bound, and keeps what is to stay, and what is used', async () => {
  const random = seeded('block bound')
  const environment = new LmdbEnvironment({ path: folder })
  const { blocks } = environment
  const bound = new BlockBound(
    { blocks, bytes: () => environment.blockBytes() },
    { maxBytes: MOST, stays: (cid) => blocks.firstByte(cid) === STAYS },
    systemTimers,
  )
  const failures: unknown[] = []
  bound.start((error) => failures.push(error))
  const kept: Cid[] = []
  const used: Cid[] = []
  let last: Cid | undefined
  let highest = 0
  // Five times as much as may be there.
  for (let i = 0; i < 15; i++) {
    for (let j = 0; j < 2000; j++) {
      const data = random.bytes(16)
      const block = new Uint8Array(4096)
      block.set(data, 1)
      block[0] = j === 0 ? STAYS : 1
      last = blockCid(block)
      if (j === 0) kept.push(last)
      else if (i === 0 && j <= USED) used.push(last)
      blocks.put(last, block)
      if (j % 250 === 249) for (const cid of used) blocks.get(cid)
    }
    await environment.flush()
    await until(() => environment.blockBytes() <= MOST, 'enough was deleted')
    highest = Math.max(highest, statSync(join(folder, 'data.mdb')).size)
  }
  await bound.stop()
  expect(failures).toEqual([])
  expect(kept.every((cid) => blocks.has(cid))).toBe(true)
  // Of all others a fifth is left.
  expect(used.filter((cid) => blocks.has(cid)).length).toBeGreaterThan(0.8 * USED)
  expect(environment.blockBytes()).toBeGreaterThan(MOST / 3)
  // Pages that were freed are used again: the file has room for what came between two looks, not for all 120 MB.
  expect(highest).toBeLessThan(4 * MOST)
  await environment.close()
}, 60_000)
