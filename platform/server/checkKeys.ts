/** Whether each key can be read, and is the one of its address: who finds out when it is to sign finds out late. */
import { errorMessage, PetrelError } from '../../src/base/errors.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { WalletError } from '../../src/wallet/errors.ts'
import { KeyStore } from '../../src/wallet/keyStore.ts'
import { Sealer } from '../../src/wallet/sealing.ts'
import { Wallet } from '../../src/wallet/wallet.ts'
import type { Check } from './checkHost.ts'
import type { Home } from './home.ts'
import { systemRandom } from './random.ts'
import { SecretFiles } from './secretFiles.ts'

/** What a look at the keys of a wallet found. */
interface KeysSeen {
  readonly sound: number
  /** Sealed, and no passphrase was given. */
  readonly locked: number
  /** Why each of the others cannot be used; its text names the entry. */
  readonly faults: readonly string[]
}

/** Reads every key of a wallet; those that only watch have none. */
export async function readKeys(wallet: Pick<Wallet, 'list' | 'export'>): Promise<KeysSeen> {
  let [sound, locked] = [0, 0]
  const faults: string[] = []
  for (const address of await wallet.list()) {
    try {
      await wallet.export(address)
      sound++
    } catch (error) {
      if (!(error instanceof PetrelError)) throw error
      if (error instanceof WalletError && error.code === 'WATCH_ONLY') continue
      if (error instanceof WalletError && error.code === 'LOCKED') locked++
      else faults.push(errorMessage(error))
    }
  }
  return { sound, locked, faults }
}

/** @param passphrase - of a keystore that is sealed */
export async function checkKeys(home: Home, passphrase: string | undefined): Promise<Check> {
  const name = 'keys'
  const remedy =
    'take the key from a backup: petrel wallet import, or petrel restore into a new home; keep the damaged file'
  await initCrypto()
  const sealer = passphrase === undefined ? undefined : new Sealer(passphrase, systemRandom)
  const keystore = new KeyStore(new SecretFiles(home.keystore), sealer)
  try {
    const wallet = new Wallet(keystore, { random: systemRandom, addressPrefix: 'f', chainId: 0n })
    const { sound, locked, faults } = await readKeys(wallet)
    if (faults.length > 0) return { name, state: 'fault', found: faults.join('; '), remedy }
    const found = `${sound} of the wallet are whole`
    if (locked === 0) return { name, state: 'ok', found, remedy: '' }
    const unlock = 'give the passphrase by PETREL_PASSPHRASE'
    return { name, state: 'unknown', found: `${found}, ${locked} are encrypted`, remedy: unlock }
  } catch (error) {
    if (!(error instanceof PetrelError)) throw error
    return { name, state: 'fault', found: errorMessage(error), remedy }
  }
}
