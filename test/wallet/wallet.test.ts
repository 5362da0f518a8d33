/** The wallet by Lotus' rules and texts (chain/wallet/wallet.go). */
import { beforeAll, describe, expect, it } from 'vitest'
import { fromBase64, toBase64, utf8 } from '../../src/base/bytes.ts'
import type { Random } from '../../src/base/ports.ts'
import { parseJson } from '../../src/codec/jsonText.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { parseAddress } from '../../src/types/address.ts'
import type { Message } from '../../src/types/message.ts'
import { authenticateMessage, verifySignature } from '../../src/types/verifySignature.ts'
import { type KeyInfo, keyInfo, keyType } from '../../src/wallet/keyInfo.ts'
import { KeyStore } from '../../src/wallet/keyStore.ts'
import { MemorySecretStore } from '../../src/wallet/secretStore.ts'
import { Wallet } from '../../src/wallet/wallet.ts'
import { type Row, readSharedZstd } from '../support/recorded.ts'
import { missingShared } from '../support/shared.ts'

const CONTEXT = { addressPrefix: 't' } as const

/** Distinct keys, the same on every run. */
function counter(): Random {
  let calls = 0
  return {
    fill: (out) => {
      calls++
      for (let i = 0; i < out.length; i++) out[i] = (i * 7 + calls * 13 + 1) & 0xff
    },
  }
}

/** A disk that is slow for one read. */
class SlowSecrets extends MemorySecretStore {
  #gate: Promise<void> | undefined

  /** The next read ends when what is returned is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#gate = promise
    return resolve
  }

  override async read(name: string): Promise<Uint8Array | undefined> {
    const gate = this.#gate
    this.#gate = undefined
    const content = await super.read(name)
    await gate
    return content
  }
}

/** A disk on which nothing new finds room. */
class FullSecrets extends MemorySecretStore {
  isFull = false

  override create(name: string, content: Uint8Array): Promise<boolean> {
    return this.isFull ? Promise.reject(new Error('no room')) : super.create(name, content)
  }

  override replace(name: string, content: Uint8Array): Promise<void> {
    return this.isFull ? Promise.reject(new Error('no room')) : super.replace(name, content)
  }
}

function create(secrets = new MemorySecretStore(), addressPrefix: 'f' | 't' = 't') {
  const store = new KeyStore(secrets)
  return { secrets, store, wallet: new Wallet(store, { random: counter(), addressPrefix, chainId: 31415926n }) }
}

const base32 = (name: string): string => {
  const bits = [...utf8(name)].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? [])
    .map((five) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(five.padEnd(5, '0'), 2)])
    .join('')
}

const UNKNOWN = parseAddress('t15hcarwznrb4xdi5e7s73ml37jj6sdojuhqdl4lq')

beforeAll(async () => {
  await initCrypto()
})

describe('keys', () => {
  it('of each type sign what verifies', async () => {
    const { wallet } = create()
    for (const [type, protocol] of [
      ['secp256k1', 1],
      ['bls', 3],
      ['delegated', 4],
    ] as const) {
      const address = await wallet.newKey(type)
      expect(address.protocol).toBe(protocol)
      const data = utf8('hello')
      const signature = await wallet.sign(address, data)
      expect(verifySignature(signature, address, data)).toBe(true)
      expect(verifySignature(signature, address, utf8('hallo'))).toBe(false)
      expect(verifySignature({ ...signature, type: (signature.type % 3) + 1 }, address, data)).toBe(false)
    }
  })

  it('of an unknown type are refused with the texts of Lotus', async () => {
    const { wallet } = create()
    await expect(wallet.newKey('nonsense')).rejects.toThrow(/^unknown sig type: nonsense$/)
    await expect(wallet.newKey('secp256k1-ledger')).rejects.toThrow(
      'no wallet backends supporting key type: secp256k1-ledger',
    )
    await expect(wallet.import({ type: 'bls', privateKey: new Uint8Array(31) })).rejects.toThrow(
      'failed to make key: bls signature invalid private key',
    )
    await expect(wallet.import({ type: 'x', privateKey: new Uint8Array(32) })).rejects.toMatchObject({
      code: 'UNKNOWN_KEY_TYPE',
    })
  })

  it('sign messages', async () => {
    const { wallet } = create()
    for (const type of ['secp256k1', 'bls', 'delegated']) {
      const from = await wallet.newKey(type)
      const to = await wallet.newKey('delegated')
      const message: Message = {
        version: 0,
        to,
        from,
        nonce: 3n,
        value: 10n,
        gasLimit: 1000000n,
        gasFeeCap: 100n,
        gasPremium: 1n,
        method: type === 'delegated' ? 3844450837n : 0n,
        params: new Uint8Array(0),
      }
      const signed = await wallet.signMessage(from, message)
      expect(signed.message).toBe(message)
      authenticateMessage(signed, from, 31415926n)
    }
    await expect(wallet.signMessage(UNKNOWN, {} as Message)).rejects.toThrow()
  })
})

describe('a key that is deleted', () => {
  it('signs no more, also when it was being read at that moment', async () => {
    const secrets = new SlowSecrets()
    const address = await create(secrets).wallet.newKey('secp256k1')
    const { wallet } = create(secrets)
    const release = secrets.hold()
    const signature = wallet.sign(address, utf8('hello'))
    await wallet.delete(address)
    release()
    await expect(signature).rejects.toMatchObject({ code: 'KEY_NOT_FOUND' })
    expect(await wallet.has(address)).toBe(false)
  })
})

describe('the first key', () => {
  it('is the default, until another is set or it is deleted', async () => {
    const { wallet } = create()
    await expect(wallet.defaultAddress()).rejects.toThrow(
      /^failed to get default key: opening key 'default': key info not found$/,
    )
    const first = await wallet.newKey('secp256k1')
    const second = await wallet.newKey('bls')
    expect((await wallet.defaultAddress()).equals(first)).toBe(true)
    await wallet.setDefault(second)
    expect((await wallet.defaultAddress()).equals(second)).toBe(true)
    await expect(wallet.setDefault(UNKNOWN)).rejects.toThrow(
      "opening key 'wallet-t15hcarwznrb4xdi5e7s73ml37jj6sdojuhqdl4lq': key info not found",
    )
    expect((await wallet.defaultAddress()).equals(second)).toBe(true)
    await wallet.delete(first)
    expect((await wallet.defaultAddress()).equals(second)).toBe(true)
    await wallet.delete(second)
    await expect(wallet.defaultAddress()).rejects.toMatchObject({ code: 'KEY_NOT_FOUND' })
  })
})

describe('unknown keys', () => {
  it('have the texts of Lotus', async () => {
    const { wallet } = create()
    const text = 'key not found for t15hcarwznrb4xdi5e7s73ml37jj6sdojuhqdl4lq'
    await expect(wallet.sign(UNKNOWN, utf8('x'))).rejects.toThrow(text)
    await expect(wallet.export(UNKNOWN)).rejects.toThrow(text)
    expect(await wallet.has(UNKNOWN)).toBe(false)
    await wallet.delete(UNKNOWN)
    const main = create(new MemorySecretStore(), 'f')
    await expect(main.wallet.export(UNKNOWN)).rejects.toThrow(
      'key not found for f15hcarwznrb4xdi5e7s73ml37jj6sdojuhqdl4lq',
    )
  })
})

describe('delete', () => {
  it('keeps the key as trash, and import brings it back', async () => {
    const { wallet, store } = create()
    const address = await wallet.newKey('secp256k1')
    const info = await wallet.export(address)
    await wallet.delete(address)
    expect(await wallet.has(address)).toBe(false)
    expect(await wallet.list()).toEqual([])
    expect(await store.list()).toEqual([`trash-${address.toString('t')}`])
    expect((await wallet.import(info)).equals(address)).toBe(true)
    await expect(wallet.import(info)).rejects.toThrow(
      `saving to keystore: checking key before put 'wallet-${address.toString('t')}': key already exists`,
    )
    await wallet.delete(address)
    expect(await store.list()).toEqual([`trash-${address.toString('t')}`])
  })
})

describe.skipIf(missingShared('data/golden/nv28/keys.json.zst'))('the recorded wallet', () => {
  const exported = (): [string, KeyInfo][] =>
    Object.entries(parseJson(readSharedZstd('data/golden/nv28/keys.json.zst')) as Row).map(([address, json]) => [
      address,
      keyInfo.fromJson(json, CONTEXT),
    ])

  it('imports, lists in order, exports the same', async () => {
    const { wallet } = create()
    for (const [address, info] of exported()) expect((await wallet.import(info)).toString('t')).toBe(address)
    const texts = (await wallet.list()).map((address) => address.toString('t'))
    expect(texts).toEqual(
      exported()
        .map(([address]) => address)
        .sort(),
    )
    for (const [address, info] of exported()) expect(await wallet.export(parseAddress(address))).toEqual(info)
  })

  it('is found in files as Lotus writes them, of either prefix', async () => {
    const secrets = new MemorySecretStore()
    for (const [address, info] of exported()) {
      const content = `{"Type":"${info.type}","PrivateKey":"${toBase64(info.privateKey)}"}`
      await secrets.create(base32(`wallet-${address}`), utf8(content))
    }
    for (const prefix of ['t', 'f'] as const) {
      const { wallet } = create(secrets, prefix)
      const [address, info] = exported()[0] as [string, KeyInfo]
      expect(await wallet.export(parseAddress(address))).toEqual(info)
      expect((await wallet.list()).length).toBe(exported().length)
    }
  })

  it('writes files as Lotus does', async () => {
    const { wallet, secrets } = create()
    const [address, info] = exported()[0] as [string, KeyInfo]
    await wallet.import(info)
    const content = await secrets.read(base32(`wallet-${address}`))
    expect(new TextDecoder().decode(content)).toBe(
      `{"Type":"${info.type}","PrivateKey":"${toBase64(info.privateKey)}"}`,
    )
  })
})

describe('changes at the same time', () => {
  it('run one after the other', async () => {
    const { wallet } = create()
    const addresses = await Promise.all(Array.from({ length: 10 }, () => wallet.newKey('secp256k1')))
    expect(new Set(addresses.map((address) => address.key)).size).toBe(10)
    expect((await wallet.defaultAddress()).equals(addresses[0] as (typeof addresses)[0])).toBe(true)
    await Promise.all(addresses.map((address) => wallet.delete(address)))
    expect(await wallet.list()).toEqual([])
  })
})

describe('key types in JSON', () => {
  it.each([
    [1, 'secp256k1'],
    [2, 'bls'],
    [3, 'delegated'],
    ['bls', 'bls'],
    ['anything', 'anything'],
    [null, ''],
  ])('%s is %s', (json, type) => {
    expect(keyType.fromJson(json, CONTEXT)).toBe(type)
  })

  it('refuses other numbers with the text of Lotus', () => {
    expect(() => keyType.fromJson(7, CONTEXT)).toThrow(/^unknown sigtype: 7$/)
    expect(() => keyType.fromJson(300, CONTEXT)).toThrow('could not unmarshal KeyType either as string nor integer')
    expect(() => keyType.fromJson({}, CONTEXT)).toThrow('could not unmarshal KeyType either as string nor integer')
  })

  it('are texts on output', () => {
    const info = { type: 'bls', privateKey: fromBase64('AAAA') }
    expect(keyInfo.toJson(info, CONTEXT)).toEqual({ Type: 'bls', PrivateKey: 'AAAA' })
  })
})

describe('a watch-only address', () => {
  const watched = { type: 'watch-only', privateKey: utf8(UNKNOWN.toString('t')) }

  it('is listed, has no key, and is named when it is to sign', async () => {
    const { wallet, secrets } = create()
    expect((await wallet.import(watched)).equals(UNKNOWN)).toBe(true)
    const again = create(secrets).wallet
    expect((await again.list()).map((one) => one.toString('t'))).toEqual([UNKNOWN.toString('t')])
    expect(await again.has(UNKNOWN)).toBe(false)
    const refused = { code: 'WATCH_ONLY', message: expect.stringContaining(`${UNKNOWN.toString('t')} is watch-only`) }
    await expect(again.sign(UNKNOWN, utf8('x'))).rejects.toMatchObject(refused)
    await expect(again.export(UNKNOWN)).rejects.toMatchObject(refused)
    await expect(again.setDefault(UNKNOWN)).rejects.toMatchObject(refused)
    await again.delete(UNKNOWN)
    expect(await again.list()).toEqual([])
  })

  it('gives way to its key, and never takes the place of one', async () => {
    const { wallet } = create()
    const other = create()
    const address = await other.wallet.newKey('secp256k1')
    const watch = { type: 'watch-only', privateKey: utf8(address.toString('t')) }
    await wallet.import(watch)
    await wallet.import(await other.wallet.export(address))
    expect(await wallet.has(address)).toBe(true)
    expect(verifySignature(await wallet.sign(address, utf8('x')), address, utf8('x'))).toBe(true)
    await expect(wallet.import(watch)).rejects.toMatchObject({ code: 'KEY_EXISTS' })
    expect(await wallet.list()).toHaveLength(1)
  })

  it('is no ID and nothing else', async () => {
    const { wallet } = create()
    await expect(wallet.import({ type: 'watch-only', privateKey: utf8('t01234') })).rejects.toMatchObject({
      code: 'INVALID_KEY',
    })
    await expect(wallet.import({ type: 'watch-only', privateKey: utf8('hello') })).rejects.toThrow()
  })
})

it('a default that cannot be written leaves the one there was', async () => {
  const secrets = new FullSecrets()
  const { wallet } = create(secrets)
  const [first, second] = [await wallet.newKey('secp256k1'), await wallet.newKey('secp256k1')]
  secrets.isFull = true
  await expect(wallet.setDefault(second)).rejects.toThrow('no room')
  secrets.isFull = false
  await wallet.newKey('secp256k1')
  expect((await wallet.defaultAddress()).equals(first)).toBe(true)
  await wallet.setDefault(second)
  expect((await wallet.defaultAddress()).equals(second)).toBe(true)
})

describe('with a remote wallet that does not answer', () => {
  it('the keys that are here go on signing, and none is deleted here alone', async () => {
    const secrets = new MemorySecretStore()
    const base = { random: counter(), ...CONTEXT, chainId: 31415926n }
    const address = await new Wallet(new KeyStore(secrets), base).newKey('secp256k1')
    const other = await new Wallet(new KeyStore(new MemorySecretStore()), base).newKey('bls')
    const down = (): Promise<never> => Promise.reject(new Error('the remote wallet does not answer'))
    const remote = { newKey: down, has: down, list: down, sign: down, export: down, import: down, delete: down }
    const wallet = new Wallet(new KeyStore(secrets), { ...base, remote })
    expect(verifySignature(await wallet.sign(address, utf8('x')), address, utf8('x'))).toBe(true)
    expect(await wallet.has(address)).toBe(true)
    expect((await wallet.export(address)).type).toBe('secp256k1')
    expect(String(await wallet.defaultAddress())).toBe(String(address))
    for (const asked of [wallet.sign(other, utf8('x')), wallet.has(other), wallet.list(), wallet.delete(address)]) {
      await expect(asked).rejects.toThrow('the remote wallet does not answer')
    }
    expect(await wallet.has(address)).toBe(true)
  })
})
