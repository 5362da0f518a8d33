/** The format of a store: an old one is upgraded whole or not at all, whenever the process ends; a newer one is left alone. */
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { open } from 'lmdb'
import { afterAll, expect, it } from 'vitest'
import { LmdbEnvironment } from '../../../platform/server/lmdbStore.ts'
import { utf8 } from '../../../src/base/bytes.ts'
import { ROOT } from '../../support/shared.ts'

const folder = mkdtempSync(join(tmpdir(), 'petrel-format-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const ENTRIES = 20_000
const KILLS = 10
const BINARY = { encoding: 'binary', keyEncoding: 'binary' } as const
const keyOf = (i: number): Uint8Array => utf8(`entry/${i}`)
const contentOf = (i: number): Uint8Array => utf8(`value ${i}`.repeat(8))

/** Tables of a store, past the program that it is tested with. */
function rawStore(path: string) {
  const root = open({ path, maxDbs: 4, ...BINARY })
  return { root, table: (name: string) => root.openDB({ name, ...BINARY }) }
}

/** As Petrel wrote it before values had checksums. */
async function oldStore(path: string): Promise<void> {
  const { root, table } = rawStore(path)
  const meta = table('meta')
  root.transactionSync(() => {
    for (let i = 0; i < ENTRIES; i++) meta.putSync(keyOf(i), contentOf(i))
  })
  await root.close()
}

/** How many entries there are in each place: all are in one of them, and in none twice. */
async function entriesOf(path: string): Promise<{ old: number; upgraded: number; isNoted: boolean }> {
  const { root, table } = rawStore(path)
  const [old, upgraded] = ['meta', 'values'].map((name) => table(name).getKeysCount({}))
  const isNoted = table('format').doesExist(utf8('version'))
  await root.close()
  return { old: old as number, upgraded: upgraded as number, isNoted }
}

/** Opens a store in a process that is killed some time after it began. @returns whether it was too late */
async function killedOpening(path: string, afterMs: number): Promise<boolean> {
  const child = spawn(process.execPath, [join(ROOT, 'test/platform/server/openStore.ts'), path])
  let said = ''
  const ended = new Promise<void>((resolve) => child.on('exit', () => resolve()))
  await new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      resolve()
    })
  })
  await sleep(afterMs)
  child.kill('SIGKILL')
  await ended
  return said.includes('opened')
}

it('is reached from the old one in a step that a kill undoes or leaves whole', { timeout: 120_000 }, async () => {
  const old = join(folder, 'old')
  await oldStore(old)
  const fates: string[] = []
  for (let i = 0; i < KILLS; i++) {
    const path = join(folder, `killed-${i}`)
    cpSync(old, path, { recursive: true })
    await killedOpening(path, i * 15)
    const { old: left, upgraded, isNoted } = await entriesOf(path)
    fates.push(`${left} ${upgraded} ${isNoted}`)
    const environment = new LmdbEnvironment({ path })
    for (let one = 0; one < ENTRIES; one += 997) expect(environment.meta.get(keyOf(one))).toEqual(contentOf(one))
    expect([...environment.meta.keys()].length).toBe(ENTRIES)
    await environment.close()
    expect(await entriesOf(path)).toEqual({ old: 0, upgraded: ENTRIES, isNoted: true })
  }
  const whole = [`${ENTRIES} 0 false`, `0 ${ENTRIES} true`]
  expect(fates.filter((fate) => !whole.includes(fate))).toEqual([])
  // Some were killed before the step, or none of this was tried.
  expect(fates).toContain(whole[0])
})

it('of a newer program is named, and nothing of it is touched', async () => {
  const path = join(folder, 'newer')
  const made = new LmdbEnvironment({ path })
  made.meta.put(utf8('key'), utf8('value'))
  await made.close()
  const { root, table } = rawStore(path)
  const stored = Buffer.alloc(5)
  stored.writeUInt32LE(crc32('version2'))
  stored.write('2', 4)
  table('format').putSync(utf8('version'), stored)
  await root.close()
  expect(() => new LmdbEnvironment({ path })).toThrow(/its format is 2, a newer Petrel made it; this one knows 1/)
})

it('whose number the disk has changed is damaged', async () => {
  const path = join(folder, 'damaged')
  await new LmdbEnvironment({ path }).close()
  const { root, table } = rawStore(path)
  table('format').putSync(utf8('version'), Buffer.from([1, 2, 3, 4, 0x31]))
  await root.close()
  expect(() => new LmdbEnvironment({ path })).toThrow(/Cannot read the number of its format: the store .* is damaged/)
})
