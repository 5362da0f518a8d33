/**
 * Named keys over a platform's secret store: file names and contents as Lotus writes them, or sealed under a passphrase.
 * @see lotus node/repo/fsrepo.go fsLockedRepo List, Get, Put, Delete
 */
import { fromBase32, toBase32 } from '../base/base32.ts'
import { fromUtf8, utf8 } from '../base/bytes.ts'
import { PetrelError, unlessThrown } from '../base/errors.ts'
import { parseJson, stringifyJson } from '../codec/jsonText.ts'
import { WalletError } from './errors.ts'
import { type KeyInfo, keyInfo } from './keyInfo.ts'
import { isSealed, type Sealer } from './sealing.ts'
import type { SecretStore } from './secretStore.ts'

/** Entries with this prefix never collide: a number is appended instead. */
export const TRASH_PREFIX = 'trash-'

const CONTEXT = { addressPrefix: 'f' } as const

function fileName(name: string): string {
  return toBase32(utf8(name)).toUpperCase()
}

function entryName(file: string): string {
  try {
    return fromUtf8(fromBase32(file.toLowerCase()))
  } catch (cause) {
    throw new WalletError('DAMAGED_ENTRY', `decoding key: '${file}': not a keystore file`, { file }, { cause })
  }
}

/** The keystore. */
export class KeyStore {
  readonly #secrets: SecretStore
  readonly #sealer: Sealer | undefined

  /** @param sealer - with one, new entries are sealed; without, sealed entries are refused */
  constructor(secrets: SecretStore, sealer?: Sealer) {
    this.#secrets = secrets
    this.#sealer = sealer
  }

  /** Names of all entries, sorted. */
  async list(): Promise<string[]> {
    return (await this.#secrets.list()).map(entryName).sort()
  }

  /**
   * @returns undefined when there is no such entry
   * @throws WalletError `LOCKED`, `WRONG_PASSPHRASE`, `DAMAGED_ENTRY`
   */
  async find(name: string): Promise<KeyInfo | undefined> {
    const content = await this.#secrets.read(fileName(name))
    if (content === undefined) return undefined
    return this.#decode(name, isSealed(content) ? this.#open(name, content) : content)
  }

  /**
   * Like {@link find}, for an entry that must be there.
   * @throws WalletError also `KEY_NOT_FOUND`: "opening key '<name>': key info not found"
   */
  async get(name: string): Promise<KeyInfo> {
    const info = await this.find(name)
    if (info === undefined)
      throw new WalletError('KEY_NOT_FOUND', `opening key '${name}': key info not found`, { name })
    return info
  }

  /** @throws WalletError `KEY_EXISTS`: "checking key before put '<name>': key already exists"; never for trash */
  async put(name: string, info: KeyInfo): Promise<void> {
    for (let retry = 0; ; retry++) {
      const actual = retry === 0 ? name : `${name}-${retry}`
      if (await this.#secrets.create(fileName(actual), this.#encode(actual, info))) return
      if (!name.startsWith(TRASH_PREFIX)) {
        throw new WalletError('KEY_EXISTS', `checking key before put '${name}': key already exists`, { name })
      }
    }
  }

  /** In one step: whatever goes wrong, it is what it was or what it is to be. */
  replace(name: string, info: KeyInfo): Promise<void> {
    return this.#secrets.replace(fileName(name), this.#encode(name, info))
  }

  /** @throws WalletError `KEY_NOT_FOUND` */
  async delete(name: string): Promise<void> {
    if (await this.#secrets.remove(fileName(name))) return
    throw new WalletError('KEY_NOT_FOUND', `checking key before delete '${name}': key info not found`, { name })
  }

  /**
   * Seals every entry that is still plain. Call it once after opening with a passphrase.
   * Opening a sealed entry on the way proves the passphrase before anything is written.
   * @returns how many were sealed
   */
  async sealAll(): Promise<number> {
    const sealer = this.#sealer
    if (sealer === undefined) return 0
    const plain: { file: string; content: Uint8Array }[] = []
    for (const file of await this.#secrets.list()) {
      const content = await this.#secrets.read(file)
      if (content === undefined) continue
      const name = entryName(file)
      if (isSealed(content)) sealer.open(name, content)
      // What is no key may be a sealed one with a flipped bit, which can be repaired as it is.
      else if (unlessThrown(() => this.#decode(name, content), WalletError) !== undefined) plain.push({ file, content })
    }
    for (const { file, content } of plain) await this.#secrets.replace(file, sealer.seal(entryName(file), content))
    return plain.length
  }

  #open(name: string, content: Uint8Array): Uint8Array {
    if (this.#sealer === undefined) {
      throw new WalletError('LOCKED', `Cannot open key '${name}': it is encrypted and no passphrase was given`, {
        name,
      })
    }
    return this.#sealer.open(name, content)
  }

  #encode(name: string, info: KeyInfo): Uint8Array {
    const plain = utf8(stringifyJson(keyInfo.toJson(info, CONTEXT)))
    return this.#sealer === undefined ? plain : this.#sealer.seal(name, plain)
  }

  #decode(name: string, content: Uint8Array): KeyInfo {
    const damaged = (cause?: unknown): WalletError =>
      new WalletError('DAMAGED_ENTRY', `decoding key '${name}': not a key`, { name }, { cause })
    let info: KeyInfo
    try {
      info = keyInfo.fromJson(parseJson(fromUtf8(content)), CONTEXT)
    } catch (cause) {
      if (!(cause instanceof PetrelError)) throw cause
      throw damaged(cause)
    }
    // A field whose name is damaged is an absent one: without this check the API's secret would be empty, and known to all.
    if (info.type === '' || info.privateKey.length === 0) throw damaged()
    return info
  }
}
