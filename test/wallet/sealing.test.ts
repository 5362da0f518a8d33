/** Keystore entries under a passphrase. */

import { scryptSync } from 'node:crypto'
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js'
import { describe, expect, it } from 'vitest'
import { fromBase64, fromHex, toHex, utf8 } from '../../src/base/bytes.ts'
import type { Random } from '../../src/base/ports.ts'
import { KeyStore } from '../../src/wallet/keyStore.ts'
import { isSealed, Sealer, type SealingCost } from '../../src/wallet/sealing.ts'
import { MemorySecretStore } from '../../src/wallet/secretStore.ts'

/** Cheap, for tests. */
const COST: SealingCost = { n: 16, r: 8, p: 1 }

const random: Random = { fill: (out) => void crypto.getRandomValues(out) }
const INFO = { type: 'secp256k1', privateKey: new Uint8Array(32).fill(0x5a) }

describe('a sealed keystore', () => {
  it('opens with the passphrase, and shows nothing without it', async () => {
    const secrets = new MemorySecretStore()
    const store = new KeyStore(secrets, new Sealer('correct horse', random, COST))
    await store.put('wallet-x', INFO)
    expect(await store.get('wallet-x')).toEqual(INFO)
    const file = (await secrets.list())[0] as string
    const content = (await secrets.read(file)) as Uint8Array
    expect(isSealed(content)).toBe(true)
    expect(toHex(content)).not.toContain(toHex(utf8('PrivateKey')))
    expect(await new KeyStore(secrets, new Sealer('correct horse', random, COST)).get('wallet-x')).toEqual(INFO)
    await expect(new KeyStore(secrets, new Sealer('wrong horse', random, COST)).get('wallet-x')).rejects.toMatchObject({
      code: 'WRONG_PASSPHRASE',
    })
    await expect(new KeyStore(secrets).get('wallet-x')).rejects.toMatchObject({ code: 'LOCKED' })
  })

  it('is what scrypt of another implementation and the AEAD say it is', async () => {
    const secrets = new MemorySecretStore()
    await new KeyStore(secrets, new Sealer('pass', random, COST)).put('wallet-x', INFO)
    const content = (await secrets.read((await secrets.list())[0] as string)) as Uint8Array
    const form = JSON.parse(new TextDecoder().decode(content)) as Record<string, string | number>
    const salt = fromBase64(form.Salt as string)
    const key = scryptSync('pass', salt, 32, { N: form.N as number, r: form.R as number, p: form.P as number })
    const cipher = xchacha20poly1305(new Uint8Array(key), fromBase64(form.Nonce as string), utf8('wallet-x'))
    const plain = new TextDecoder().decode(cipher.decrypt(fromBase64(form.Data as string)))
    expect(JSON.parse(plain)).toEqual({
      Type: 'secp256k1',
      PrivateKey: Buffer.from(INFO.privateKey).toString('base64'),
    })
  })

  it('notices changed, swapped and cut entries', async () => {
    const sealer = new Sealer('pass', random, COST)
    const sealed = sealer.seal('a', utf8('secret'))
    expect(() => sealer.open('b', sealed)).toThrow(expect.objectContaining({ code: 'WRONG_PASSPHRASE' }))
    const text = new TextDecoder().decode(sealed)
    for (const damaged of [
      text.replace('"N":16', '"N":17'),
      text.replace('"N":16', '"N":1073741824'),
      text.replace('"R":8', '"R":-1'),
      // The most that memory allows, sixteen times over: a minute.
      text.replace('"N":16', '"N":1048576').replace('"P":1', '"P":16'),
      text.replace('sealed-1', 'sealed-2'),
      text.replace(/"Salt":"[^"]*"/, '"Salt":"AAAA"'),
      text.replace(/"Nonce":"[^"]*"/, '"Nonce":"%"'),
    ]) {
      expect(() => sealer.open('a', utf8(damaged)), damaged).toThrow(expect.objectContaining({ code: 'DAMAGED_ENTRY' }))
    }
    const changed = text.replace(/"Data":"(.)/, (_all, first: string) => `"Data":"${first === 'A' ? 'B' : 'A'}`)
    expect(() => sealer.open('a', utf8(changed))).toThrow(expect.objectContaining({ code: 'WRONG_PASSPHRASE' }))
  })

  it('takes the passphrase in either Unicode form', () => {
    const sealed = new Sealer('caf\u00e9', random, COST).seal('a', fromHex('0102'))
    expect(new Sealer('cafe\u0301', random, COST).open('a', sealed)).toEqual(fromHex('0102'))
  })

  it('seals what was plain, once, and not under a second passphrase', async () => {
    const secrets = new MemorySecretStore()
    const plain = new KeyStore(secrets)
    await plain.put('wallet-a', INFO)
    await plain.put('wallet-b', { ...INFO, type: 'bls' })
    const store = new KeyStore(secrets, new Sealer('pass', random, COST))
    expect(await store.get('wallet-a')).toEqual(INFO)
    expect(await store.sealAll()).toBe(2)
    expect(await store.sealAll()).toBe(0)
    expect(await store.get('wallet-b')).toEqual({ ...INFO, type: 'bls' })
    await plain.put('wallet-c', INFO)
    const other = new KeyStore(secrets, new Sealer('other', random, COST))
    await expect(other.sealAll()).rejects.toMatchObject({ code: 'WRONG_PASSPHRASE' })
    expect(await plain.get('wallet-c')).toEqual(INFO)
  })

  it('leaves an entry that is no key as it is: a flipped bit can be repaired', async () => {
    const secrets = new MemorySecretStore()
    const store = new KeyStore(secrets, new Sealer('pass', random, COST))
    await store.put('wallet-a', INFO)
    const [file] = (await secrets.list()) as [string]
    const damaged = (await secrets.read(file)) as Uint8Array
    damaged[0] = (damaged[0] as number) ^ 1
    await secrets.replace(file, damaged)
    expect(await store.sealAll()).toBe(0)
    expect(await secrets.read(file)).toEqual(damaged)
    await expect(store.get('wallet-a')).rejects.toMatchObject({ code: 'DAMAGED_ENTRY' })
  })
})

describe('a plain keystore', () => {
  it('numbers trash and refuses other duplicates', async () => {
    const store = new KeyStore(new MemorySecretStore())
    await store.put('trash-x', INFO)
    await store.put('trash-x', INFO)
    await store.put('trash-x', INFO)
    expect(await store.list()).toEqual(['trash-x', 'trash-x-1', 'trash-x-2'])
    await store.put('x', INFO)
    await expect(store.put('x', INFO)).rejects.toThrow("checking key before put 'x': key already exists")
    await expect(store.delete('y')).rejects.toThrow("checking key before delete 'y': key info not found")
    await expect(store.get('y')).rejects.toThrow("opening key 'y': key info not found")
  })

  it('says which entry is damaged', async () => {
    const secrets = new MemorySecretStore()
    await new KeyStore(secrets).put('x', INFO)
    await secrets.replace((await secrets.list())[0] as string, utf8('{'))
    await expect(new KeyStore(secrets).get('x')).rejects.toThrow("decoding key 'x': not a key")
    await secrets.create('not base32!', utf8('{}'))
    await expect(new KeyStore(secrets).list()).rejects.toMatchObject({ code: 'DAMAGED_ENTRY' })
  })
})
