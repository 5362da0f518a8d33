/** The keys that a node has acknowledged, beside the node: made, imported, deleted, and the one that is the default. */
import { systemRandom } from '../../platform/server/random.ts'
import { fromBase64, toBase64 } from '../../src/base/bytes.ts'
import { errorMessage } from '../../src/base/errors.ts'
import { parseAddress } from '../../src/types/address.ts'
import { verifySignature } from '../../src/types/verifySignature.ts'
import { generateKey } from '../../src/wallet/key.ts'
import { KEY_SECP256K1 } from '../../src/wallet/keyInfo.ts'
import type { NodeClient } from '../runtimes/nodeHost.ts'

/** What was said of a key; `asked`: an import or a deletion that was not answered may have been done. */
type Said = 'there' | 'asked' | 'deleted'

/** Instead of an address: there is no default. */
const NONE = ''
/** Of Lotus. @see src/wallet/wallet.ts defaultAddress */
const NO_DEFAULT = "failed to get default key: opening key 'default': key info not found"
const SIGNED_BYTES = 32

/** Compared with the node after each start. */
export class KeyModel {
  readonly #said = new Map<string, Said>()
  /** Those that may be deleted: nobody else counts on them. */
  readonly #imported = new Set<string>()
  /** Private keys in base64, as the keystore writes them where it is not sealed. */
  readonly secrets: string[] = []
  /** What may be the default; undefined: nothing was seen yet. */
  #defaults: Set<string> | undefined
  /** What was asked for and answered. */
  readonly done = { made: 0, imported: 0, deleted: 0, chosen: 0 }

  get size(): number {
    return this.#said.size
  }

  async make(client: NodeClient): Promise<void> {
    const address: string = await client.call('WalletNew', KEY_SECP256K1)
    this.#said.set(address, 'there')
    this.done.made++
    const { PrivateKey } = await client.call('WalletExport', address)
    this.secrets.push(PrivateKey)
  }

  async import(client: NodeClient, prefix: 'f' | 't' = 't'): Promise<void> {
    const { address, info } = generateKey(KEY_SECP256K1, systemRandom)
    const name = address.toString(prefix)
    const secret = toBase64(info.privateKey)
    this.secrets.push(secret)
    this.#said.set(name, 'asked')
    await client.call('WalletImport', { Type: info.type, PrivateKey: secret })
    this.#said.set(name, 'there')
    this.#imported.add(name)
    this.done.imported++
  }

  /** Deletes one of those that were imported. @param pick - a whole number below the one given */
  async delete(client: NodeClient, pick: (below: number) => number): Promise<void> {
    const names = [...this.#imported]
    const name = names[pick(names.length)]
    if (name === undefined) return
    this.#imported.delete(name)
    this.#said.set(name, 'asked')
    const isDefault = this.#defaults?.has(name) === true
    if (isDefault) this.#defaults?.add(NONE)
    await client.call('WalletDelete', name)
    this.#said.set(name, 'deleted')
    if (isDefault) this.#defaults?.delete(name)
    this.done.deleted++
  }

  /** Makes one of the keys the default. @param pick - as of {@link KeyModel.delete} */
  async choose(client: NodeClient, pick: (below: number) => number): Promise<void> {
    const names = [...this.#said].filter(([, said]) => said === 'there').map(([name]) => name)
    const name = names[pick(names.length)]
    if (name === undefined) return
    this.#defaults?.add(name)
    await client.call('WalletSetDefault', name)
    this.#defaults = new Set([name])
    this.done.chosen++
  }

  /** @returns what is wrong, each as a line */
  async check(client: NodeClient): Promise<string[]> {
    const faults: string[] = []
    const listed = new Set<string>(await client.call('WalletList'))
    for (const [name, said] of this.#said) {
      const isThere = listed.has(name)
      if (said === 'there' && !isThere) faults.push(`key ${name} is lost`)
      if (said === 'deleted' && isThere) faults.push(`key ${name} was deleted and is there`)
      const signs = await this.#signs(client, name)
      if (signs !== isThere) faults.push(`key ${name} is ${isThere ? '' : 'not '}listed: it signs: ${String(signs)}`)
      if (said !== 'asked') continue
      this.#said.set(name, isThere ? 'there' : 'deleted')
      if (isThere) this.#imported.add(name)
    }
    faults.push(...(await this.#wrongDefault(client, listed)))
    return faults
  }

  /** @returns whether it signs; what is neither a signature of this key nor a refusal, as a text */
  async #signs(client: NodeClient, name: string): Promise<boolean | string> {
    const data = new Uint8Array(SIGNED_BYTES)
    systemRandom.fill(data)
    try {
      const { Type: type, Data } = await client.call('WalletSign', name, toBase64(data))
      return verifySignature({ type, data: fromBase64(Data) }, parseAddress(name), data) || 'a wrong signature'
    } catch (error) {
      const text = errorMessage(error)
      return text.includes('key not found for') ? false : text
    }
  }

  /** The last one that was chosen, or one that somebody asked for since; where it was deleted, the next new key, or none. */
  async #wrongDefault(client: NodeClient, listed: ReadonlySet<string>): Promise<string[]> {
    const found: string = await client.call('WalletDefaultAddress').catch((error: unknown) => {
      const text = errorMessage(error)
      return text === NO_DEFAULT ? NONE : text
    })
    const may = this.#defaults
    this.#defaults = new Set([found])
    const isKnown = may === undefined || may.has(found) || (may.has(NONE) && listed.has(found))
    const isThere = found === NONE || listed.has(found)
    return isKnown && isThere ? [] : [`the default is ${found}, expected ${[...(may ?? [])].join(' or ')}`]
  }
}
