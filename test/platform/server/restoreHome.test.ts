/** A backup becomes a home where the home is a volume: nothing beside it is written, and it stays the folder that it is. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Home, RESTORING } from '../../../platform/server/home.ts'
import { backupHome, restoreHome } from '../../../platform/server/homeBackup.ts'
import { LmdbEnvironment } from '../../../platform/server/lmdbStore.ts'
import { utf8 } from '../../../src/base/bytes.ts'

const KEY = utf8('payments/1')

describe('petrel restore', () => {
  let folder = ''
  let path = ''
  let restored = ''
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'petrel-restore-'))
    path = join(folder, 'node.backup')
    restored = join(folder, 'volumes', 'home')
    const home = new Home(join(folder, 'old'))
    home.acquire()
    home.release()
    writeFileSync(home.config, '{"network":"butterflynet"}')
    writeFileSync(home.settings, '[daemon]\n')
    const environment = new LmdbEnvironment({ path: home.chain })
    environment.meta.put(KEY, utf8('kept'))
    await environment.close()
    await backupHome({ home, path, sealer: undefined, isInsecure: true, nowMs: 0 })
  })
  afterEach(() => {
    chmodSync(join(folder, 'volumes'), 0o700)
    rmSync(folder, { recursive: true })
  })

  const assertRestored = async (): Promise<void> => {
    const home = new Home(restored)
    expect(readdirSync(restored).sort()).toEqual(['chain', 'config.json', 'config.toml', 'keystore'])
    expect(JSON.parse(readFileSync(home.config, 'utf8'))).toEqual({ network: 'butterflynet' })
    expect(statSync(home.keystore).mode & 0o777).toBe(0o700)
    const environment = new LmdbEnvironment({ path: home.chain, readsOnly: true })
    expect(environment.meta.get(KEY)).toEqual(utf8('kept'))
    await environment.close()
    home.acquire()
    home.release()
  }

  it('fills a folder that cannot be replaced', async () => {
    mkdirSync(restored, { recursive: true, mode: 0o700 })
    const { ino } = statSync(restored)
    // Root may write here all the same; that the folder is the same one says it for root, too.
    chmodSync(join(folder, 'volumes'), 0o500)
    await restoreHome(restored, path)
    expect(statSync(restored).ino).toBe(ino)
    expect(readdirSync(join(folder, 'volumes'))).toEqual(['home'])
    await assertRestored()
  })

  it('makes a folder that is not there', async () => {
    mkdirSync(join(folder, 'volumes'))
    await restoreHome(restored, path)
    expect(statSync(restored).mode & 0o777).toBe(0o700)
    await assertRestored()
  })

  it('leaves a folder as it was where the backup is none', async () => {
    mkdirSync(join(folder, 'volumes'))
    writeFileSync(path, 'no backup')
    await expect(restoreHome(restored, path)).rejects.toMatchObject({ code: 'BACKUP_REFUSED' })
    expect(existsSync(restored)).toBe(false)
    mkdirSync(restored)
    await expect(restoreHome(restored, path)).rejects.toMatchObject({ code: 'BACKUP_REFUSED' })
    expect(readdirSync(restored)).toEqual([])
  })

  it('where it was interrupted no node starts, and it does not begin over what is there', async () => {
    mkdirSync(join(restored, RESTORING), { recursive: true, mode: 0o700 })
    writeFileSync(join(restored, 'config.json'), '{}')
    expect(() => new Home(restored).acquire()).toThrow('`petrel restore` was interrupted')
    await expect(restoreHome(restored, path)).rejects.toThrow('an earlier restore was interrupted')
    expect(readdirSync(restored).sort()).toEqual([RESTORING, 'config.json'])
  })
})
