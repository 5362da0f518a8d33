/**
 * A write that the kernel refuses in the midst of a commit, although there was room: what was kept stays kept, nothing that failed is
 * there, and nothing is written any more until the process starts anew. The refusal is a real one: the size that a process' files may
 * have is bounded (`ulimit -f`).
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkHome } from '../../../platform/server/checkHome.ts'
import { Home } from '../../../platform/server/home.ts'
import { DATA_FILE } from '../../../platform/server/lmdbFile.ts'
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

describe.each(['in this thread', 'aside'])('a refused write, %s', (how) => {
  test('ends all writing, and leaves what was kept', async () => {
    const home = new Home(join(folder, how.replaceAll(' ', '-')))
    const limited = `trap '' XFSZ; ulimit -f ${MOST_BLOCKS}; exec "$0" "$@"`
    const args = ['-c', limited, process.execPath, SCRIPT, home.chain, String(WRITES), how === 'aside' ? how : 'sync']
    const { stdout, stderr, status, signal } = spawnSync('bash', args, { encoding: 'utf8' })
    expect([status, signal], stderr).toEqual([0, null])
    const lines = stdout.trim().split('\n')
    const said = lines.slice(0, WRITES).map((line) => line.split(' ')[1] as string)
    const kept = said.indexOf('STORE_FAILED')
    expect(kept).toBeGreaterThan(3)
    expect(said).toEqual(said.map((_, i) => (i < kept ? 'kept' : 'STORE_FAILED')))
    expect(lines.at(-1)).toMatch(/^why Cannot write to the store/)
    expect(statSync(join(home.chain, DATA_FILE)).size).toBeLessThanOrEqual(1024 * MOST_BLOCKS)

    expect((await checkHome(home))?.faults).toEqual([])
    const environment = new LmdbEnvironment({ path: home.chain })
    for (let i = 0; i < WRITES; i++) {
      const value = environment.meta.get(utf8(`key ${i}`))
      expect(value?.[0], `key ${i}`).toBe(i < kept ? i : undefined)
    }
    await environment.meta.commit([{ op: 'put', key: utf8('after'), value: Uint8Array.of(1) }])
    expect(environment.meta.get(utf8('after'))).toEqual(Uint8Array.of(1))
    await environment.close()
  }, 60_000)
})
