/**
 * A disk whose last byte others take in the midst of a commit: what was begun is written, whole, and what comes after it is refused before
 * LMDB begins. Afterwards all goes on in the same process.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkHome } from '../../../platform/server/checkHome.ts'
import { Home } from '../../../platform/server/home.ts'
import { LmdbEnvironment } from '../../../platform/server/lmdbStore.ts'
import { blockCid } from '../../../src/crypto/blockCid.ts'
import { initCrypto } from '../../../src/crypto/init.ts'
import { seeded } from '../../support/seeded.ts'
import { fillDisk, mountSmallDisk } from '../../support/smallDisk.ts'

const DISK_BYTES = 64 * 1024 * 1024
const ROUNDS = 12
const BLOCKS = 400
const { path: disk, isMounted, end } = mountSmallDisk('petrel-room-', DISK_BYTES)
beforeAll(async () => void (await initCrypto()))
afterAll(end)

describe.skipIf(!isMounted).each(['in this thread', 'aside'])('a commit %s while others take the last byte', (how) => {
  test('is written', async () => {
    const random = seeded('blocks')
    const home = new Home(join(disk, how.replaceAll(' ', '-')))
    const environment = new LmdbEnvironment({ path: home.chain })
    const ballast = join(disk, 'ballast')
    const name = (round: number): Uint8Array => Uint8Array.of(round)
    const kept: Uint8Array[][] = []
    for (let round = 0; round < ROUNDS; round++) {
      const blocks = Array.from({ length: BLOCKS }, () => random.bytes(1 + random.int(3000)))
      const put = async (): Promise<void> => {
        const write = { op: 'put', key: name(round), value: name(round) } as const
        if (how === 'aside') return await environment.meta.commit([write])
        environment.meta.batch([write])
      }
      const take = (): void => fillDisk(ballast, 0)
      for (const block of blocks) environment.blocks.put(blockCid(block), block)
      const size = { writes: 1, bytes: 2 }
      if (how === 'aside') await environment.writeAside(size, take)
      else environment.commit(size, take)
      // What was deleted in the round before is given back late.
      take()
      await expect(put()).rejects.toMatchObject({ code: 'STORE_FULL' })
      rmSync(ballast)
      // The kernel may give it back a little later.
      await expect.poll(() => environment.meta.whyUnwritable?.(), { timeout: 20_000 }).toBeUndefined()
      await put()
      kept.push(blocks)
    }
    await environment.close()
    expect((await checkHome(home))?.faults).toEqual([])
    const again = new LmdbEnvironment({ path: home.chain })
    for (const [round, blocks] of kept.entries()) {
      expect(again.meta.get(name(round))).toEqual(name(round))
      for (const block of blocks) expect(again.blocks.get(blockCid(block))).toEqual(block)
    }
    await again.close()
    rmSync(home.path, { recursive: true })
  }, 60_000)
})
