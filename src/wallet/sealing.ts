/**
 * Encryption of keystore entries under a passphrase: scrypt, then XChaCha20-Poly1305 with the entry's name as
 * associated data (an entry cannot be passed off as another). The form is our own; Lotus has none.
 *
 * `{"Petrel":"sealed-1","N":…,"R":…,"P":…,"Salt":base64,"Nonce":base64,"Data":base64}`
 */

import { xchacha20poly1305 } from '@noble/ciphers/chacha.js'
import { scrypt } from '@noble/hashes/scrypt.js'
import { equalBytes, fromBase64, fromUtf8, toBase64, utf8 } from '../base/bytes.ts'
import { BaseError, PetrelError, unlessThrown } from '../base/errors.ts'
import type { Random } from '../base/ports.ts'
import type { Json } from '../codec/description.ts'
import { parseJson, stringifyJson } from '../codec/jsonText.ts'
import { WalletError } from './errors.ts'

/** Cost of scrypt. The default takes 128 MiB and about half a second, once per start. */
export interface SealingCost {
  /** A power of two. */
  readonly n: number
  readonly r: number
  readonly p: number
}

/** As OWASP's password storage guide recommends for scrypt. */
const DEFAULT_SEALING_COST: SealingCost = { n: 2 ** 17, r: 8, p: 1 }

/** Beyond this (memory, and passes over it) an entry is refused, not computed: a damaged file must take neither the machine's memory nor minutes. */
const MAX_COST_BYTES = 2 ** 30
const FORM = 'sealed-1'
const SALT_BYTES = 32
const NONCE_BYTES = 24
const KEY_BYTES = 32

interface Sealed {
  readonly cost: SealingCost
  readonly salt: Uint8Array
  readonly nonce: Uint8Array
  readonly data: Uint8Array
}

function objectOf(content: Uint8Array): { [key: string]: Json } | undefined {
  const json = unlessThrown(() => parseJson(fromUtf8(content)), PetrelError)
  return typeof json === 'object' && json !== null && !Array.isArray(json) ? json : undefined
}

/** Whether an entry's content is in the sealed form (of any version). */
export function isSealed(content: Uint8Array): boolean {
  return objectOf(content)?.Petrel !== undefined
}

function parseSealed(name: string, content: Uint8Array): Sealed {
  const damaged = (): WalletError =>
    new WalletError('DAMAGED_ENTRY', `Cannot open key '${name}': the entry is damaged`, { name })
  const object = objectOf(content)
  if (object === undefined || object.Petrel !== FORM) throw damaged()
  const number = (key: string): number => {
    const value = object[key]
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 1) throw damaged()
    return value
  }
  const bytes = (key: string, length?: number): Uint8Array => {
    const value = object[key]
    if (typeof value !== 'string') throw damaged()
    const out = unlessThrown(() => fromBase64(value), BaseError)
    if (out === undefined || (length !== undefined && out.length !== length)) throw damaged()
    return out
  }
  const cost = { n: number('N'), r: number('R'), p: number('P') }
  // Of scrypt itself: a power of two above 1.
  const isScrypt = cost.n > 1 && Math.log2(cost.n) % 1 === 0
  if (!isScrypt || 128 * cost.n * cost.r * cost.p > MAX_COST_BYTES) throw damaged()
  return { cost, salt: bytes('Salt', SALT_BYTES), nonce: bytes('Nonce', NONCE_BYTES), data: bytes('Data') }
}

interface Derived {
  readonly cost: SealingCost
  readonly salt: Uint8Array
  readonly key: Uint8Array
}

function sameCost(a: SealingCost, b: SealingCost): boolean {
  return a.n === b.n && a.r === b.r && a.p === b.p
}

/** Seals and opens entries with one passphrase. Deriving a key is slow, so it is kept per salt. */
export class Sealer {
  readonly #passphrase: Uint8Array
  readonly #random: Random
  readonly #cost: SealingCost
  readonly #derived: Derived[] = []

  constructor(passphrase: string, random: Random, cost: SealingCost = DEFAULT_SEALING_COST) {
    // One text must be one key on every system: accents may arrive composed or not.
    this.#passphrase = utf8(passphrase.normalize('NFKC'))
    this.#random = random
    this.#cost = cost
  }

  /** New content for the entry `name`. */
  seal(name: string, plain: Uint8Array): Uint8Array {
    const { salt, key } = this.#sealingKey()
    const nonce = this.#fresh(NONCE_BYTES)
    const data = xchacha20poly1305(key, nonce, utf8(name)).encrypt(plain)
    const { n, r, p } = this.#cost
    const object = {
      Petrel: FORM,
      N: n,
      R: r,
      P: p,
      Salt: toBase64(salt),
      Nonce: toBase64(nonce),
      Data: toBase64(data),
    }
    return utf8(stringifyJson(object))
  }

  /** @throws WalletError `DAMAGED_ENTRY`, `WRONG_PASSPHRASE` (which a changed entry looks like too) */
  open(name: string, content: Uint8Array): Uint8Array {
    const sealed = parseSealed(name, content)
    const { key } = this.#derive(sealed.salt, sealed.cost)
    try {
      return xchacha20poly1305(key, sealed.nonce, utf8(name)).decrypt(sealed.data)
    } catch (cause) {
      throw new WalletError(
        'WRONG_PASSPHRASE',
        `Cannot open key '${name}': wrong passphrase, or the entry was changed`,
        { name },
        { cause },
      )
    }
  }

  #fresh(length: number): Uint8Array {
    const out = new Uint8Array(length)
    this.#random.fill(out)
    return out
  }

  /** A keystore shares one salt, so that opening it derives one key. */
  #sealingKey(): Derived {
    return (
      this.#derived.find((derived) => sameCost(derived.cost, this.#cost)) ??
      this.#derive(this.#fresh(SALT_BYTES), this.#cost)
    )
  }

  #derive(salt: Uint8Array, cost: SealingCost): Derived {
    const known = this.#derived.find((derived) => sameCost(derived.cost, cost) && equalBytes(derived.salt, salt))
    if (known !== undefined) return known
    const key = scrypt(this.#passphrase, salt, {
      N: cost.n,
      r: cost.r,
      p: cost.p,
      dkLen: KEY_BYTES,
      maxmem: MAX_COST_BYTES + 2 ** 20,
    })
    const derived = { cost, salt, key }
    this.#derived.push(derived)
    return derived
  }
}
