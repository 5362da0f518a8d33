/**
 * The last write of a store, torn: some of its pages are on the disk, others are not, one in part, the file's end perhaps. The page
 * that makes them count comes last, when the disk has said that it holds the others: until then the state is the one before the
 * write, whole. A disk that says so and does not hold them is named when the store is opened.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { LmdbEnvironment } from '../../../platform/server/lmdbStore.ts'
import { utf8 } from '../../../src/base/bytes.ts'
import { startNode } from '../../runtimes/nodeProcess.ts'
import { seeded } from '../../support/seeded.ts'
import { StoreReader } from './askReader.ts'

const SEED = 16
const PAGE = 4096
/** What a disk writes in one piece. */
const SECTOR = 512
const ROUNDS = 40
/** Commits that the disk has acknowledged, of which it has lost pages. */
const LIES = 120
/** Pages that say where everything is: each commit writes one of them last. */
const FIRST_PAGES = 2

const home = mkdtempSync(join(tmpdir(), 'petrel-torn-'))
const reader = new StoreReader()
afterAll(() => {
  reader.close()
  rmSync(home, { recursive: true, force: true })
})

test('a torn write leaves the state before it', async () => {
  const node = await startNode('node', home, ['devnet', '--api', '0', '--block-time', '0.2', '--actors', 'native'])
  await node.stop()
  const file = join(home, 'chain', 'data.mdb')
  const content = (): Uint8Array => new Uint8Array(readFileSync(file))
  const write = async (round: number): Promise<void> => {
    const environment = new LmdbEnvironment({ path: join(home, 'chain') })
    const key = (i: number): Uint8Array => utf8(`torn/${(i * 37) % 200}`)
    environment.meta.batch(
      Array.from({ length: 60 }, (_, i) => ({
        op: 'put' as const,
        key: key(i + round),
        value: new Uint8Array(300).fill(i + round),
      })),
    )
    await environment.close()
  }
  const stateOf = async (bytes: Uint8Array) => {
    writeFileSync(file, bytes)
    rmSync(join(home, 'chain', 'lock.mdb'), { force: true })
    return await reader.ask(home)
  }
  await write(0)
  const before = content()
  await write(50)
  const after = content()
  const [old, young] = [await stateOf(before), await stateOf(after)]
  expect([old?.faults, young?.faults, old?.values === young?.values]).toEqual(['sound', 'sound', false])

  const pageOf = (bytes: Uint8Array, page: number): Uint8Array => {
    const out = new Uint8Array(PAGE)
    out.set(bytes.subarray(page * PAGE, (page + 1) * PAGE))
    return out
  }
  const { int } = seeded('torn write', SEED)
  const pages = Math.ceil(after.length / PAGE)
  const same = (page: number): boolean =>
    Buffer.from(before.subarray(page * PAGE, (page + 1) * PAGE)).equals(after.subarray(page * PAGE, (page + 1) * PAGE))
  const changed = [...Array(pages).keys()].filter((page) => page >= FIRST_PAGES && !same(page))
  expect(changed.length).toBeGreaterThan(5)
  for (let round = 0; round < ROUNDS; round++) {
    const length = int(3) === 0 ? before.length : after.length
    const torn = new Uint8Array(length)
    torn.set(before.subarray(0, length))
    const share = [1, 5, 9, 10][round % 4] as number
    for (const page of changed) {
      if (int(10) >= share || page * PAGE >= length) continue
      const bytes = int(6) === 0 ? SECTOR * int(PAGE / SECTOR) : PAGE
      torn.set(after.subarray(page * PAGE, Math.min(page * PAGE + bytes, length)), page * PAGE)
    }
    expect(await stateOf(torn), `seed ${SEED}, round ${round}`).toEqual(old)
  }

  const damaged = { values: 'STORE_DAMAGED', faults: 'STORE_DAMAGED' }
  let lies = 0
  for (let round = 0; round < LIES; round++) {
    const lying = after.slice()
    const share = [1, 3, 9][round % 3] as number
    const one = changed[round % changed.length] as number
    const lost = round % 2 === 0 ? [one] : changed.filter(() => int(10) < share)
    // Behind what was the file's end there is nothing.
    for (const page of lost) lying.set(pageOf(before, page), page * PAGE)
    const said = await stateOf(lying)
    if (!isDeepStrictEqual(said, young)) {
      lies++
      expect(said, `seed ${SEED}, lie ${round}: pages ${lost.join()}`).toEqual(damaged)
    }
  }
  console.log(`${lies} of ${LIES} losses named, of ${changed.length} pages; the others were of no account`)
  expect(lies).toBeGreaterThan(LIES / 2)
}, 180_000)
