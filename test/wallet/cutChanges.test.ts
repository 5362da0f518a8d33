/**
 * Changes of a keystore that a kill cuts off after any of their writes: a wallet opened anew has all keys but the one in question, the address
 * is at least known as before, and the default is a key that is there, or none.
 */
import { beforeAll, expect, it } from 'vitest'
import { utf8 } from '../../src/base/bytes.ts'
import type { Random } from '../../src/base/ports.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import type { Address } from '../../src/types/address.ts'
import { generateKey } from '../../src/wallet/key.ts'
import { KeyStore } from '../../src/wallet/keyStore.ts'
import { MemorySecretStore } from '../../src/wallet/secretStore.ts'
import { Wallet } from '../../src/wallet/wallet.ts'

const random: Random = { fill: (out) => void crypto.getRandomValues(out) }
/** A change of several writes ends after fewer. */
const MOST_WRITES = 12

/** After so many writes it writes no more. */
class CutSecrets extends MemorySecretStore {
  left = Number.POSITIVE_INFINITY

  #write<T>(write: () => Promise<T>): Promise<T> {
    return this.left-- > 0 ? write() : Promise.reject(new Error('killed'))
  }

  override create(name: string, content: Uint8Array): Promise<boolean> {
    return this.#write(() => super.create(name, content))
  }

  override replace(name: string, content: Uint8Array): Promise<void> {
    return this.#write(() => super.replace(name, content))
  }

  override async remove(name: string): Promise<boolean> {
    // What is not there takes no write.
    if ((await this.read(name)) === undefined) return false
    return this.#write(() => super.remove(name))
  }
}

const open = (secrets: CutSecrets): Wallet =>
  new Wallet(new KeyStore(secrets), { random, addressPrefix: 't', chainId: 1n })

/**
 * Runs a change again and again, each time cut one write later, until it is through.
 * @param look - of a wallet that is opened on what the cut one left
 */
async function cutEverywhere(
  prepare: (wallet: Wallet) => Promise<Address>,
  change: (wallet: Wallet, address: Address) => Promise<unknown>,
  look: (wallet: Wallet, address: Address) => Promise<unknown>,
): Promise<number> {
  for (let writes = 0; writes < MOST_WRITES; writes++) {
    const secrets = new CutSecrets()
    const wallet = open(secrets)
    const address = await prepare(wallet)
    secrets.left = writes
    const isThrough = await change(wallet, address).then(
      () => true,
      () => false,
    )
    secrets.left = Number.POSITIVE_INFINITY
    await look(open(secrets), address)
    if (isThrough) return writes
  }
  throw new Error(`a change of more than ${MOST_WRITES} writes`)
}

/** The default signs, or there is none. */
async function assertDefault(wallet: Wallet): Promise<void> {
  try {
    const address = await wallet.defaultAddress()
    expect(await wallet.has(address)).toBe(true)
  } catch (error) {
    expect(error).toMatchObject({ code: 'KEY_NOT_FOUND' })
  }
}

beforeAll(() => initCrypto())

it('a deletion of the default leaves no default without its key', async () => {
  let other: Address | undefined
  const writes = await cutEverywhere(
    async (wallet) => {
      const address = await wallet.newKey('secp256k1')
      other = await wallet.newKey('secp256k1')
      return address
    },
    (wallet, address) => wallet.delete(address),
    async (wallet) => {
      await assertDefault(wallet)
      expect(await wallet.has(other as Address)).toBe(true)
    },
  )
  expect(writes).toBe(3)
})

it('the key of an address that was watched takes its place: it is known all the time', async () => {
  const key = generateKey('secp256k1', random)
  const writes = await cutEverywhere(
    (wallet) => wallet.import({ type: 'watch-only', privateKey: utf8(key.address.toString('t')) }),
    (wallet) => wallet.import(key.info),
    async (wallet) => expect((await wallet.list()).map(String)).toEqual([String(key.address)]),
  )
  expect(writes).toBe(1)
})

it('a new key is there before it is the default', async () => {
  const writes = await cutEverywhere(
    () => Promise.resolve(generateKey('secp256k1', random).address),
    (wallet) => wallet.newKey('secp256k1'),
    assertDefault,
  )
  expect(writes).toBe(2)
})
