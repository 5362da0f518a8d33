/**
 * Writes that the kernel refuses, although there was room, both really refused: where the file may grow no further (`ulimit -f`) LMDB is
 * never asked, and all goes on when it may; in the midst of a commit (`prlimit`) what was kept stays kept, nothing that failed is there,
 * and nothing is written any more until the process starts anew.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkHome } from '../../../platform/server/checkHome.ts'
import { Home } from '../../../platform/server/home.ts'
import { LmdbEnvironment } from '../../../platform/server/lmdbStore.ts'
import { utf8 } from '../../../src/base/bytes.ts'
import { initCrypto } from '../../../src/crypto/init.ts'

const SCRIPT = fileURLToPath(new URL('storeWriter.ts', import.meta.url))
const WRITES = 60
/** Of bash, 1,024 bytes each: room for some twenty writes. */
const MOST_BLOCKS = 3000
const folder = mkdtempSync(join(tmpdir(), 'petrel-io-'))
beforeAll(async () => void (await initCrypto()))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** @param forbids - the write from which on none is allowed @returns what came of each, and why none could be made at the end */
function write(home: Home, how: string, forbids: string): { readonly said: readonly string[]; readonly why: string } {
  const limited = `trap '' XFSZ; ulimit -S -f ${MOST_BLOCKS}; exec "$0" "$@"`
  const node = forbids === '' ? limited : `trap '' XFSZ; exec "$0" "$@"`
  const args = ['-c', node, process.execPath, SCRIPT, home.chain, String(WRITES), how, forbids]
  const { stdout, stderr, status, signal } = spawnSync('bash', args, { encoding: 'utf8' })
  expect([status, signal], stderr).toEqual([0, null])
  const lines = stdout.trim().split('\n')
  return { said: lines.slice(0, WRITES).map((line) => line.split(' ')[1] as string), why: lines.at(-1) as string }
}

async function assertKept(home: Home, said: readonly string[]): Promise<void> {
  expect((await checkHome(home))?.faults).toEqual([])
  const environment = new LmdbEnvironment({ path: home.chain })
  for (const [i, what] of said.entries()) {
    const value = environment.meta.get(utf8(`key ${i}`))
    expect(value?.[0], `key ${i}`).toBe(what === 'kept' ? i : undefined)
  }
  await environment.meta.commit([{ op: 'put', key: utf8('after'), value: Uint8Array.of(1) }])
  expect(environment.meta.get(utf8('after'))).toEqual(Uint8Array.of(1))
  await environment.close()
}

describe.each(['in this thread', 'aside'])('a refused write, %s', (name) => {
  const how = name === 'aside' ? name : 'sync'

  test('of a file that may not grow, goes on when it may', async () => {
    const home = new Home(join(folder, `full ${how}`))
    const { said, why } = write(home, how, '')
    const kept = said.indexOf('STORE_FULL')
    expect(kept).toBeGreaterThan(3)
    expect(said).toEqual(said.map((_, i) => (i < kept || i >= WRITES - 3 ? 'kept' : 'STORE_FULL')))
    expect(why).toBe('why writable')
    await assertKept(home, said)
  }, 60_000)

  test('in the midst of a commit ends all writing, and leaves what was kept', async () => {
    const home = new Home(join(folder, `broken ${how}`))
    const { said, why } = write(home, how, '20')
    expect(said).toEqual(said.map((_, i) => (i < 20 ? 'kept' : 'STORE_FAILED')))
    expect(why).toMatch(/^why Cannot write to the store/)
    await assertKept(home, said)
  }, 60_000)
})
