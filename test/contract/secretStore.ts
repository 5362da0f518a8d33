/** What every {@link SecretStore} must do. */
import { beforeEach, describe, expect, it } from 'vitest'
import { utf8 } from '../../src/base/bytes.ts'
import type { SecretStore } from '../../src/wallet/secretStore.ts'

/** Declares the suite. */
export function secretStoreContract(name: string, open: () => SecretStore): void {
  describe(`secret store: ${name}`, () => {
    let secrets: SecretStore
    beforeEach(() => {
      secrets = open()
    })

    it('is empty at first', async () => {
      expect(await secrets.list()).toEqual([])
      expect(await secrets.read('ABC')).toBeUndefined()
      expect(await secrets.remove('ABC')).toBe(false)
    })

    it('creates an entry once', async () => {
      expect(await secrets.create('ABC', utf8('one'))).toBe(true)
      expect(await secrets.create('ABC', utf8('two'))).toBe(false)
      expect(await secrets.read('ABC')).toEqual(utf8('one'))
      expect(await secrets.list()).toEqual(['ABC'])
    })

    it('of many that create the same entry at once, one wins', async () => {
      const made = await Promise.all(Array.from({ length: 8 }, (_, i) => secrets.create('ABC', utf8(String(i)))))
      expect(made.filter(Boolean)).toHaveLength(1)
      expect(await secrets.read('ABC')).toEqual(utf8(String(made.indexOf(true))))
    })

    it('replaces, and removes', async () => {
      await secrets.replace('ABC', utf8('one'))
      await secrets.replace('ABC', utf8('two'))
      await secrets.create('D234567', utf8('three'))
      expect(await secrets.read('ABC')).toEqual(utf8('two'))
      expect((await secrets.list()).sort()).toEqual(['ABC', 'D234567'])
      expect(await secrets.remove('ABC')).toBe(true)
      expect(await secrets.list()).toEqual(['D234567'])
    })

    it('shares no memory with its callers', async () => {
      const content = utf8('one')
      await secrets.create('ABC', content)
      content.fill(0)
      const read = (await secrets.read('ABC')) as Uint8Array
      expect(read).toEqual(utf8('one'))
      read.fill(0)
      expect(await secrets.read('ABC')).toEqual(utf8('one'))
    })
  })
}
