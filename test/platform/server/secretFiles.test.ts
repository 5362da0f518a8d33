/** A disk that refuses is named; a name that is no key's leads nowhere. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { SecretFiles } from '../../../platform/server/secretFiles.ts'
import { utf8 } from '../../../src/base/bytes.ts'

const folder = mkdtempSync(join(tmpdir(), 'petrel-secrets-'))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it('a keystore that cannot be written or read says so, with the folder and the reason', async () => {
  mkdirSync(folder, { recursive: true })
  const keystore = join(folder, 'keystore')
  writeFileSync(keystore, 'a file where the folder should be')
  const secrets = new SecretFiles(keystore)
  const failed = {
    code: 'STORE_FAILED',
    message: expect.stringMatching(`Cannot write a key in ${keystore}: E`) as string,
  }
  await expect(secrets.create('ABC', utf8('secret'))).rejects.toMatchObject(failed)
  await expect(secrets.replace('ABC', utf8('secret'))).rejects.toMatchObject(failed)
  await expect(secrets.remove('ABC')).rejects.toMatchObject({ code: 'STORE_FAILED' })
  rmSync(keystore)
  mkdirSync(join(keystore, 'ABC'), { recursive: true, mode: 0o700 })
  await expect(secrets.read('ABC')).rejects.toMatchObject({ code: 'STORE_FAILED' })
})

it('a name that is too long for a file is refused by name, too', async () => {
  mkdirSync(folder, { recursive: true })
  // No system that we run on has files of more than 255 bytes in their names.
  await expect(new SecretFiles(folder).read('A'.repeat(300))).rejects.toMatchObject({
    code: 'STORE_FAILED',
    message: expect.stringContaining('ENAMETOOLONG') as string,
  })
})
