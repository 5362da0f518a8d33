/** What reads the store of a node that writes it, or that cannot: a backup, a look through it. */
import fs, { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkHome } from '../../../platform/server/checkHome.ts'
import { Home } from '../../../platform/server/home.ts'
import { backupHome } from '../../../platform/server/homeBackup.ts'
import { assertSound, DATA_FILE } from '../../../platform/server/lmdbFile.ts'
import { metasOf, TXN_AT } from '../../../platform/server/lmdbPages.ts'
import { LmdbEnvironment } from '../../../platform/server/lmdbStore.ts'
import { utf8 } from '../../../src/base/bytes.ts'

const ENTRIES = 5

describe('the store of a home', () => {
  let home: Home
  let path = ''
  beforeEach(async () => {
    home = new Home(mkdtempSync(join(tmpdir(), 'petrel-beside-')))
    path = join(home.path, 'backup')
    const environment = new LmdbEnvironment({ path: home.chain })
    for (let i = 0; i < ENTRIES; i++) environment.meta.put(utf8(`payments/${i}`), utf8('kept'))
    await environment.close()
  })
  afterEach(() => rmSync(home.path, { recursive: true }))

  const backup = async (): Promise<number> =>
    (await backupHome({ home, path, sealer: undefined, isInsecure: true, nowMs: 0 })).entries

  /** As a reader finds it who has read the number of a commit, and the pages of the next: a page is of another commit than it was. */
  function tear(): string {
    const file = join(home.chain, DATA_FILE)
    const opened = openSync(file, 'r')
    const [newest] = metasOf(opened)
    closeSync(opened)
    if (newest === undefined) throw new Error('no commit')
    const bytes = readFileSync(file)
    let torn = 0
    for (let at = 2 * newest.pageBytes; at < bytes.length; at += newest.pageBytes) {
      const number = bytes.readBigUint64LE(at)
      if (number !== BigInt(at / newest.pageBytes) || newest.roots.includes(number)) continue
      if (bytes.readBigUint64LE(at + TXN_AT) !== newest.txnId) continue
      bytes.writeBigUint64LE(1n, at + TXN_AT)
      torn++
    }
    expect(torn).toBeGreaterThan(0)
    writeFileSync(file, bytes)
    expect(() => assertSound(file)).toThrow('lacks pages of what was written last')
    return file
  }

  it('is not called damaged while a node writes it', async () => {
    tear()
    // As versions before wrote it: the number of a process that lives.
    writeFileSync(join(home.path, 'petrel.lock'), `${process.ppid}\n`)
    expect(await backup()).toBe(ENTRIES)
    expect((await checkHome(home))?.faults).toEqual([])
  })

  it('is backed up where its lock does not say who has it', async () => {
    writeFileSync(join(home.path, 'petrel.lock'), 'no lock')
    expect(await backup()).toBe(ENTRIES)
  })

  it('is called so where the last commit is not whole and nobody writes', async () => {
    tear()
    await expect(backup()).rejects.toThrow('lacks pages of what was written last')
    await expect(checkHome(home)).rejects.toThrow('lacks pages of what was written last')
  })

  it('is backed up where its disk is full', async () => {
    const { statfsSync } = fs
    fs.statfsSync = (() => ({ bavail: 0, bsize: 4096 })) as unknown as typeof statfsSync
    syncBuiltinESMExports()
    try {
      expect(() => new LmdbEnvironment({ path: home.chain })).toThrow('the disk is full')
      expect(await backup()).toBe(ENTRIES)
    } finally {
      fs.statfsSync = statfsSync
      syncBuiltinESMExports()
    }
  })
})
