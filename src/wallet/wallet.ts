/**
 * The node's wallet.
 * @see lotus chain/wallet/wallet.go LocalWallet, chain/wallet/multi.go MultiWallet
 */
import { fromUtf8, utf8 } from '../base/bytes.ts'
import { PetrelError } from '../base/errors.ts'
import type { Random } from '../base/ports.ts'
import { encode } from '../codec/description.ts'
import { type Address, isIdAddress, parseAddress } from '../types/address.ts'
import { type Message, message as messageCodec } from '../types/message.ts'
import type { Signature } from '../types/signature.ts'
import type { SignedMessage } from '../types/signedMessage.ts'
import { signingBytes } from '../types/verifySignature.ts'
import { WalletError, type WalletErrorCode } from './errors.ts'
import { generateKey, type Key, keyOf, signWith } from './key.ts'
import { KEY_SECP256K1_LEDGER, type KeyInfo, WATCH_ONLY } from './keyInfo.ts'
import { type KeyStore, TRASH_PREFIX } from './keyStore.ts'
import { type RemoteKeys, type SigningMeta, UNKNOWN_DATA } from './remoteKeys.ts'

const NAME_PREFIX = 'wallet-'
const DEFAULT_NAME = 'default'

/** What a wallet needs to know. */
export interface WalletOptions {
  readonly random: Random
  /** Of this network: entry names and error texts carry it. */
  readonly addressPrefix: 'f' | 't'
  /** Ethereum's chain ID of this network, for messages of delegated keys. */
  readonly chainId: bigint
  /** Keys of another process. They go before the wallet's own, and new ones are made there. */
  readonly remote?: RemoteKeys | undefined
}

/** Kind of an entry that only names the address of a remote key. */
const REMOTE_ADDRESS = 'remote-address'

function wrap(context: string, cause: unknown): unknown {
  if (!(cause instanceof PetrelError)) return cause
  const code: WalletErrorCode = cause instanceof WalletError ? cause.code : 'INVALID_KEY'
  return new WalletError(code, `${context}: ${cause.message}`, cause.info, { cause })
}

/** The address that an entry is about. */
function addressOf(info: KeyInfo): Address {
  return info.type === REMOTE_ADDRESS ? parseAddress(fromUtf8(info.privateKey)) : keyOf(info).address
}

/** Keys by address. Addresses must be key addresses (f1, f3, f410): f0 is resolved by the caller. */
export class Wallet {
  readonly #store: KeyStore
  readonly #options: WalletOptions
  /** Keys read so far, by address. */
  readonly #keys = new Map<string, Key>()
  /** Keys deleted so far: what was read of the keystore before one went may be that one. */
  #deletions = 0
  /** Addresses whose keys the other process has. */
  readonly #remoteHas = new Set<string>()
  /** Changes of the keystore run one after the other. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(store: KeyStore, options: WalletOptions) {
    this.#store = store
    this.#options = options
  }

  /**
   * Makes a key; the first one becomes the default.
   * @param type - `secp256k1`, `bls`, `delegated`
   * @throws WalletError `UNKNOWN_KEY_TYPE`
   */
  newKey(type: string): Promise<Address> {
    return this.#alone(async () => {
      if (type === KEY_SECP256K1_LEDGER) {
        throw new WalletError('UNKNOWN_KEY_TYPE', `no wallet backends supporting key type: ${type}`, { type })
      }
      if (this.#remote !== undefined) return await this.#remote.newKey(type)
      const key = generateKey(type, this.#options.random)
      await this.#save(key)
      this.#keys.set(key.address.key, key)
      if ((await this.#store.find(DEFAULT_NAME)) === undefined) await this.#store.put(DEFAULT_NAME, key.info)
      return key.address
    })
  }

  /** All addresses, in order of their text, each once. */
  async list(): Promise<Address[]> {
    const found = new Map<string, Address>()
    for (const address of (await this.#remote?.list()) ?? []) {
      found.set(address.toString(this.#options.addressPrefix), address)
    }
    for (const name of await this.#store.list()) {
      if (!name.startsWith(NAME_PREFIX)) continue
      try {
        const address = parseAddress(name.slice(NAME_PREFIX.length))
        found.set(address.toString(this.#options.addressPrefix), address)
      } catch (cause) {
        throw wrap('converting name to address', cause)
      }
    }
    return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, address]) => address)
  }

  /** Whether it can sign: a watch-only address is listed, and has no key. */
  async has(address: Address): Promise<boolean> {
    return (await this.#remoteOf(address)) !== undefined || (await this.#find(address)) !== undefined
  }

  /** Whether a key that has signed is this process's own. */
  isKeyHere(address: Address): boolean {
    return this.#keys.has(address.key) && !this.#remoteHas.has(address.key)
  }

  /**
   * @throws WalletError `KEY_NOT_FOUND`: "failed to get default key: opening key 'default': key info not found";
   * `DAMAGED_ENTRY`
   */
  async defaultAddress(): Promise<Address> {
    try {
      const info = await this.#store.find(DEFAULT_NAME)
      const first = info === undefined ? (await this.#remote?.list())?.[0] : undefined
      if (first !== undefined) return first
      const address = addressOf(info ?? (await this.#store.get(DEFAULT_NAME)))
      // It is a copy of one that stands under its own name: another key is a damaged one, and money sent to it is lost.
      if (await this.has(address)) return address
      throw new WalletError(
        'DAMAGED_ENTRY',
        "entry 'default' is damaged: the wallet has no such key; set another default",
      )
    } catch (cause) {
      throw wrap('failed to get default key', cause)
    }
  }

  /** @throws WalletError `KEY_NOT_FOUND`, `WATCH_ONLY` */
  setDefault(address: Address): Promise<void> {
    return this.#alone(async () => {
      if (await this.#isWatchOnly(address)) throw this.#watchOnly(address)
      const info =
        (await this.#remoteOf(address)) === undefined
          ? ((await this.#find(address))?.info ?? (await this.#store.get(this.#name(address))))
          : { type: REMOTE_ADDRESS, privateKey: utf8(address.toString(this.#options.addressPrefix)) }
      await this.#store.replace(DEFAULT_NAME, info)
    })
  }

  /** @throws WalletError `KEY_NOT_FOUND` */
  async export(address: Address): Promise<KeyInfo> {
    const remote = await this.#remoteOf(address)
    return remote === undefined ? (await this.#need(address)).info : await remote.export(address)
  }

  /** Where new keys go; a watch-only address stays here. @throws WalletError `UNKNOWN_KEY_TYPE`, `INVALID_KEY`, `KEY_EXISTS` */
  import(info: KeyInfo): Promise<Address> {
    if (info.type === WATCH_ONLY) return this.#watch(info)
    return this.#remote === undefined ? this.keep(info) : this.#remote.import(info)
  }

  /** Into this keystore, also when another process holds keys. @throws WalletError as `import` */
  keep(info: KeyInfo): Promise<Address> {
    return this.#alone(async () => {
      let key: Key
      try {
        key = keyOf(info)
      } catch (cause) {
        throw wrap('failed to make key', cause)
      }
      await ((await this.#isWatchOnly(key.address)) ? this.#arrive(key) : this.#save(key))
      return key.address
    })
  }

  #watch({ type, privateKey }: KeyInfo): Promise<Address> {
    return this.#alone(async () => {
      const address = parseAddress(fromUtf8(privateKey))
      if (isIdAddress(address) || address.isUndefined) {
        const text = `Cannot watch ${address.toString(this.#options.addressPrefix)}: expected the address of a key or an actor, not an ID`
        throw new WalletError('INVALID_KEY', text)
      }
      if (await this.has(address)) {
        throw new WalletError(
          'KEY_EXISTS',
          `the wallet has the key of ${address.toString(this.#options.addressPrefix)}`,
        )
      }
      await this.#store.put(this.#name(address), { type, privateKey })
      return address
    })
  }

  /** Moves a key to the trash entries; nothing happens when it is unknown. */
  delete(address: Address): Promise<void> {
    return this.#alone(async () => {
      // Deleted here alone, it would go on signing there.
      const remote = await this.#askRemote(address)
      this.#remoteHas.delete(address.key)
      await remote?.delete(address)
      const key = await this.#find(address)
      if (key === undefined) {
        if (await this.#isWatchOnly(address)) await this.#forgetNames(address)
        return
      }
      const standard = await this.#store.find(DEFAULT_NAME)
      const trash = TRASH_PREFIX + address.toString(this.#options.addressPrefix)
      await this.#forget(trash)
      await this.#store.put(trash, key.info)
      // Before its key: a default whose key is gone, as a kill in between would leave it, is a damaged one.
      if (standard !== undefined && addressOf(standard).equals(address)) await this.#forget(DEFAULT_NAME)
      await this.#forgetNames(address)
      this.#deletions++
      this.#keys.delete(address.key)
    })
  }

  /**
   * Signs bytes as given, without an envelope.
   * @throws WalletError `KEY_NOT_FOUND`: "key not found for <address>"; `WATCH_ONLY`
   */
  async sign(address: Address, data: Uint8Array, meta: SigningMeta = UNKNOWN_DATA): Promise<Signature> {
    const remote = await this.#remoteOf(address)
    return remote === undefined ? signWith(await this.#need(address), data) : await remote.sign(address, data, meta)
  }

  /**
   * Signs a message: its CID's bytes, or the Ethereum transaction for a delegated key.
   * @param address - key address of the signer; the message's From is not looked at
   * @throws WalletError `KEY_NOT_FOUND`; TypesError `INVALID_TRANSACTION`
   */
  async signMessage(address: Address, message: Message): Promise<SignedMessage> {
    const data = signingBytes(message, address, this.#options.chainId)
    try {
      const meta = { type: 'message', extra: encode(messageCodec, message) }
      return { message, signature: await this.sign(address, data, meta) }
    } catch (cause) {
      throw wrap('failed to sign message', cause)
    }
  }

  get #remote(): RemoteKeys | undefined {
    return this.#options.remote
  }

  /** Where the key is, when another process has it. It is asked once for each that it has. */
  async #askRemote(address: Address): Promise<RemoteKeys | undefined> {
    const remote = this.#remote
    if (remote === undefined || this.#remoteHas.has(address.key)) return remote
    if (!(await remote.has(address))) return undefined
    this.#remoteHas.add(address.key)
    return remote
  }

  /**
   * The same; while that process does not answer, keys that are here are used.
   * @see lotus chain/wallet/multi.go find
   */
  async #remoteOf(address: Address): Promise<RemoteKeys | undefined> {
    try {
      return await this.#askRemote(address)
    } catch (error) {
      if ((await this.#find(address)) === undefined) throw error
      return undefined
    }
  }

  /** Runs `change` after all earlier changes, whether they failed or not. */
  #alone<T>(change: () => Promise<T>): Promise<T> {
    const result = this.#last.then(change, change)
    this.#last = result.catch(() => undefined)
    return result
  }

  #name(address: Address): string {
    return NAME_PREFIX + address.toString(this.#options.addressPrefix)
  }

  /** A keystore may come from a node of the other kind of network: both prefixes name the same key. */
  #names(address: Address): readonly [string, string] {
    const own = this.#options.addressPrefix
    return [this.#name(address), NAME_PREFIX + address.toString(own === 'f' ? 't' : 'f')]
  }

  async #find(address: Address): Promise<Key | undefined> {
    for (;;) {
      const known = this.#keys.get(address.key)
      if (known !== undefined) return known
      const deletions = this.#deletions
      const key = await this.#read(address)
      if (deletions !== this.#deletions) continue
      if (key !== undefined) this.#keys.set(address.key, key)
      return key
    }
  }

  async #read(address: Address): Promise<Key | undefined> {
    for (const name of this.#names(address)) {
      const info = await this.#store.find(name)
      if (info === undefined || info.type === WATCH_ONLY) continue
      const key = keyOf(info)
      if (!key.address.equals(address)) {
        const text = `key '${name}': the entry is damaged: it holds the key of another address`
        throw new WalletError('DAMAGED_ENTRY', text, { name })
      }
      return key
    }
    return undefined
  }

  async #need(address: Address): Promise<Key> {
    const key = await this.#find(address)
    if (key === undefined) {
      if (await this.#isWatchOnly(address)) throw this.#watchOnly(address)
      const text = address.toString(this.#options.addressPrefix)
      throw new WalletError('KEY_NOT_FOUND', `key not found for ${text}`, { address: text })
    }
    return key
  }

  async #isWatchOnly(address: Address): Promise<boolean> {
    if (this.#keys.has(address.key)) return false
    for (const name of this.#names(address)) if ((await this.#store.find(name))?.type === WATCH_ONLY) return true
    return false
  }

  #watchOnly(address: Address): WalletError {
    const name = address.toString(this.#options.addressPrefix)
    const text = `${name} is watch-only: its key is not in this wallet; draft by \`petrel send --offline\`, sign where the key is`
    return new WalletError('WATCH_ONLY', text, { address: name })
  }

  async #save(key: Key): Promise<void> {
    try {
      await this.#store.put(this.#name(key.address), key.info)
    } catch (cause) {
      throw wrap('saving to keystore', cause)
    }
  }

  /** Saves the key of an address that was watched: the entry is the one or the other at every moment. */
  async #arrive(key: Key): Promise<void> {
    const [name, ...others] = this.#names(key.address)
    try {
      await this.#store.replace(name, key.info)
    } catch (cause) {
      throw wrap('saving to keystore', cause)
    }
    for (const other of others) await this.#forget(other)
  }

  async #forgetNames(address: Address): Promise<void> {
    for (const name of this.#names(address)) await this.#forget(name)
  }

  async #forget(name: string): Promise<void> {
    try {
      await this.#store.delete(name)
    } catch (error) {
      if (!(error instanceof WalletError) || error.code !== 'KEY_NOT_FOUND') throw error
    }
  }
}
