/** The port SecretStore: one suite, every implementation. */
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { SecretFiles } from '../../platform/server/secretFiles.ts'
import { utf8 } from '../../src/base/bytes.ts'
import { MemorySecretStore, type SecretStore } from '../../src/wallet/secretStore.ts'

const folders: string[] = []

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'petrel-secrets-'))
  folders.push(folder)
  return join(folder, 'keystore')
}

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const implementations: readonly [string, () => SecretStore][] = [
  ['in memory', () => new MemorySecretStore()],
  ['in files', () => new SecretFiles(newFolder())],
]

describe.each(implementations)('secrets %s', (_name, create) => {
  it('are listed, read, written over, removed', async () => {
    const store = create()
    expect(await store.list()).toEqual([])
    expect(await store.read('AAAA')).toBeUndefined()
    expect(await store.remove('AAAA')).toBe(false)
    expect(await store.create('AAAA', utf8('one'))).toBe(true)
    expect(await store.create('BBBB', utf8('two'))).toBe(true)
    expect((await store.list()).sort()).toEqual(['AAAA', 'BBBB'])
    expect(await store.create('AAAA', utf8('other'))).toBe(false)
    expect(await store.read('AAAA')).toEqual(utf8('one'))
    await store.replace('AAAA', utf8('a longer one'))
    expect(await store.read('AAAA')).toEqual(utf8('a longer one'))
    expect(await store.remove('AAAA')).toBe(true)
    expect(await store.list()).toEqual(['BBBB'])
  })

  it('are copies', async () => {
    const store = create()
    const content = utf8('secret')
    await store.create('AAAA', content)
    content.fill(0)
    const read = (await store.read('AAAA')) as Uint8Array
    expect(read).toEqual(utf8('secret'))
    read.fill(0)
    expect(await store.read('AAAA')).toEqual(utf8('secret'))
  })

  it('are created once when many try', async () => {
    const store = create()
    const results = await Promise.all(Array.from({ length: 8 }, (_, i) => store.create('AAAA', utf8(String(i)))))
    expect(results.filter((created) => created)).toHaveLength(1)
  })
})

describe.skipIf(process.platform === 'win32')('secrets in files', () => {
  it('are for the owner alone, and refused when they are not', async () => {
    const folder = newFolder()
    const store = new SecretFiles(folder)
    await store.create('AAAA', utf8('x'))
    await store.replace('AAAA', utf8('y'))
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(statSync(join(folder, 'AAAA')).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder)).toEqual(['AAAA'])
    chmodSync(join(folder, 'AAAA'), 0o640)
    // Lotus' text (node/repo/fsrepo.go kstrPermissionMsg).
    const text = "permissions of key: 'AAAA' are too relaxed, required: 0600"
    await expect(store.read('AAAA')).rejects.toThrow(text)
    await expect(store.list()).rejects.toThrow(text)
  })

  it('never leave the folder', async () => {
    const store = new SecretFiles(newFolder())
    for (const name of ['../x', 'a/b', '', '.', 'lower']) {
      await expect(store.create(name, utf8('x')), name).rejects.toMatchObject({ code: 'NAME_INVALID' })
    }
  })

  it('are not confused by other files', async () => {
    const folder = newFolder()
    const store = new SecretFiles(folder)
    await store.create('AAAA', utf8('x'))
    writeFileSync(join(folder, '.tmp-left-behind'), 'x')
    expect(await store.list()).toEqual(['AAAA'])
  })
})
