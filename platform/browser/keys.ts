/** The keystore of a tab. Keys are in IndexedDB sealed under the passphrase, or not at all. */
import { toHex } from '../../src/base/bytes.ts'
import type { Logger } from '../../src/base/ports.ts'
import { KeyStore } from '../../src/wallet/keyStore.ts'
import { Sealer } from '../../src/wallet/sealing.ts'
import { MemorySecretStore, type SecretStore } from '../../src/wallet/secretStore.ts'
import type { KeysState } from './messages.ts'
import { browserRandom } from './random.ts'

/** Keystore entry of the secret that the tabs of one node share. */
const TABS_SECRET = 'tabs-secret'
const TABS_KEY_TYPE = 'tabs-secret'
const SECRET_BYTES = 32

/** An open keystore. */
export interface TabKeys {
  readonly keystore: KeyStore
  readonly state: KeysState
  /** Known to those alone who have the passphrase: what tabs tell each other is sealed with it. undefined: no passphrase. */
  readonly tabsSecret: Uint8Array | undefined
}

/**
 * Opens the keys. Without a passphrase they live in this worker's memory alone and end with it, because every script of
 * the page can read what IndexedDB holds.
 * @throws WalletError `WRONG_PASSPHRASE`
 */
export async function openKeys(secrets: SecretStore, passphrase: string | undefined, log: Logger): Promise<TabKeys> {
  if (passphrase === undefined) {
    const isLocked = (await secrets.list()).length > 0
    if (isLocked) log.warn('keys of an earlier start are sealed: give the passphrase to use them')
    else log.warn('no passphrase: keys made in this tab are in memory alone and end with it')
    return {
      keystore: new KeyStore(new MemorySecretStore()),
      state: isLocked ? 'locked' : 'memory',
      tabsSecret: undefined,
    }
  }
  const keystore = new KeyStore(secrets, new Sealer(passphrase, browserRandom))
  // Proves the passphrase.
  await keystore.sealAll()
  return { keystore, state: 'sealed', tabsSecret: await tabsSecret(keystore) }
}

async function tabsSecret(keystore: KeyStore): Promise<Uint8Array> {
  for (;;) {
    const found = await keystore.find(TABS_SECRET)
    if (found !== undefined) return found.privateKey
    const secret = new Uint8Array(SECRET_BYTES)
    browserRandom.fill(secret)
    try {
      await keystore.put(TABS_SECRET, { type: TABS_KEY_TYPE, privateKey: secret })
    } catch (error) {
      // Another tab was quicker: take its own.
      if ((await keystore.find(TABS_SECRET)) === undefined) throw error
    }
  }
}

/** A name that nobody guesses. */
export function randomName(): string {
  const bytes = new Uint8Array(16)
  browserRandom.fill(bytes)
  return toHex(bytes)
}
