/**
 * Bearer tokens of the API: JSON Web Tokens signed with HMAC-SHA256, as Lotus makes and reads them, with an optional
 * expiry and a list of revoked ones.
 *
 * Written on HMAC directly and not on `jose`: verification here must be synchronous (a promise per request costs more
 * than the check), and Lotus ignores the header's `alg`, which `jose` rightly refuses to do.
 * @see lotus node/impl/common/common.go AuthVerify, AuthNew; node/modules/core.go APISecret; gbrlsnchs/jwt v3 Verify
 */

import { MAX_CACHED_TOKENS, MAX_TOKEN_LENGTH } from '../base/bounds.ts'
import { concatBytes, fromBase64Url, fromUtf8, toBase64Url, toHex, utf8 } from '../base/bytes.ts'
import { errorMessage } from '../base/errors.ts'
import { Lru } from '../base/lru.ts'
import type { Clock, KeyValueStore, Random } from '../base/ports.ts'
import type { Json } from '../codec/description.ts'
import { jsonField } from '../codec/goJson.ts'
import { parseJson, stringifyJson } from '../codec/jsonText.ts'
import { hmacSha256, sha256 } from '../crypto/hashes.ts'
import { WalletError } from '../wallet/errors.ts'
import { KEY_JWT_SECRET } from '../wallet/keyInfo.ts'
import type { KeyStore } from '../wallet/keyStore.ts'
import { RpcError } from './errors.ts'
import { PERMISSIONS, type TokenVerifier, type ValidToken } from './permission.ts'

/** Keystore entry of the secret. */
const SECRET_NAME = 'auth-jwt-private'
const SECRET_BYTES = 32
const ID_BYTES = 16
const REVOKED_PREFIX = utf8('auth/revoked/')
/**
 * Stands there for ever, also for a token that has expired: a clock that jumps ahead and back makes such a one good again. An
 * entry has some 50 bytes, and only an administrator makes one.
 */
const REVOKED = new Uint8Array(0)
/** `{"alg":"HS256","typ":"JWT"}` */
const HEADER = toBase64Url(utf8('{"alg":"HS256","typ":"JWT"}'))

/** What a token says. */
export interface TokenClaims {
  /** Permissions, a flat set; null: the token has no `Allow`, and so no permission. */
  readonly allow: readonly string[] | null
  /** Unix seconds from which on it is void; undefined: never. */
  readonly expiresSec: number | undefined
}

/** What a token is checked with. */
export interface TokensDeps {
  /** Secret of the HMAC. */
  readonly secret: Uint8Array
  readonly clock: Clock
  readonly random: Random
  /** Keeps what was revoked. */
  readonly store: KeyValueStore
}

interface Parsed extends TokenClaims {
  /** SHA-256 of header and payload as signed: one name for all spellings of a token. */
  readonly id: Uint8Array
}

/**
 * The API secret from the keystore, made at the first start. Deleting the entry voids every token.
 * @throws WalletError `DAMAGED_ENTRY` for one that is too short
 * @returns `isNew`: the token file must be written anew
 */
export async function loadApiSecret(
  keystore: KeyStore,
  random: Random,
): Promise<{ secret: Uint8Array; isNew: boolean }> {
  const found = await keystore.find(SECRET_NAME)
  if (found !== undefined) {
    if (found.privateKey.length >= SECRET_BYTES) return { secret: found.privateKey, isNew: false }
    const text = `Cannot use key '${SECRET_NAME}': it has ${found.privateKey.length} bytes, at least ${SECRET_BYTES} are needed`
    throw new WalletError('DAMAGED_ENTRY', text, { name: SECRET_NAME })
  }
  const secret = new Uint8Array(SECRET_BYTES)
  random.fill(secret)
  await keystore.put(SECRET_NAME, { type: KEY_JWT_SECRET, privateKey: secret })
  return { secret, isNew: true }
}

function failed(reason: string): RpcError {
  return new RpcError('FAILED', `JWT Verification failed: ${reason}`)
}

/** Compares without telling by its time where the difference is. */
function equalInConstantTime(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let i = 0; i < a.length; i++) difference |= (a[i] as number) ^ (b[i] as number)
  return difference === 0
}

function jsonPart(text: string): { [key: string]: Json } {
  let json: Json
  try {
    json = parseJson(fromUtf8(fromBase64Url(text)))
  } catch (cause) {
    throw failed(errorMessage(cause))
  }
  if (json === null) return {}
  if (typeof json !== 'object' || Array.isArray(json))
    throw failed('json: cannot unmarshal into Go value of type jwt.Header')
  return json
}

function allowOf(payload: { [key: string]: Json }): readonly string[] | null {
  const allow = jsonField(payload, 'Allow')
  if (allow === undefined || allow === null) return null
  if (!Array.isArray(allow) || !allow.every((permission) => typeof permission === 'string')) {
    throw failed('json: cannot unmarshal into Go struct field jwtPayload.Allow of type []auth.Permission')
  }
  return allow
}

function expiryOf(payload: { [key: string]: Json }): number | undefined {
  const expiry = payload.exp
  if (expiry === undefined || expiry === null) return undefined
  if (typeof expiry === 'bigint') return Number(expiry)
  // A token that means to expire, and does not say when, is not taken for one that never does.
  if (typeof expiry !== 'number') throw failed('exp claim is no number')
  return expiry
}

/** Makes, checks and revokes tokens. */
export class Tokens implements TokenVerifier {
  readonly #deps: TokensDeps
  /** Tokens that were found valid, by their text. */
  readonly #known = new Lru<string, ValidToken & Pick<TokenClaims, 'expiresSec'>>(MAX_CACHED_TOKENS)

  readonly #onRevoked = new Set<() => void>()

  constructor(deps: TokensDeps) {
    this.#deps = deps
  }

  /** What tokens are signed with: for threads of this process that check them, too. */
  get secret(): Uint8Array {
    return this.#deps.secret
  }

  /** Hears of each revocation that is on disk. @returns what ends it */
  onRevoked(listener: () => void): () => void {
    this.#onRevoked.add(listener)
    return () => this.#onRevoked.delete(listener)
  }

  /** A token exactly as Lotus' AuthNew makes it: equal permissions give equal tokens, and it never expires. */
  issue(allow: readonly string[] | null): string {
    return this.#sign({ Allow: allow === null ? null : [...allow] })
  }

  /**
   * A token of its own: it carries an ID, so that it can be revoked without others, and may expire. Lotus reads it too.
   * @param lifetimeSec - seconds from now; undefined: for ever
   */
  issueUnique(allow: readonly string[], lifetimeSec?: number): string {
    const id = new Uint8Array(ID_BYTES)
    this.#deps.random.fill(id)
    const payload: { [key: string]: Json } = { Allow: [...allow], jti: toHex(id) }
    if (lifetimeSec !== undefined) payload.exp = Math.floor(this.#deps.clock.nowMs() / 1000) + lifetimeSec
    return this.#sign(payload)
  }

  /**
   * The token that the node writes for its own command line: with all permissions, the same at every start, as in
   * Lotus; another one after somebody has revoked that.
   */
  issueAdmin(): string {
    const token = this.issue(PERMISSIONS)
    return this.verify(token) === undefined ? this.issueUnique(PERMISSIONS) : token
  }

  /** What a valid token is; undefined for any other. Every thread that knows the secret comes to the same name. */
  verify(token: string): ValidToken | undefined {
    const known = this.#known.get(token)
    if (known !== undefined) return this.#isExpired(known.expiresSec) ? undefined : known
    try {
      const { id, allow, expiresSec } = this.#valid(token)
      const valid = { permissions: new Set(allow ?? []), name: toHex(id), expiresSec }
      this.#known.set(token, valid)
      return valid
    } catch (error) {
      if (error instanceof RpcError) return undefined
      throw error
    }
  }

  /**
   * What a valid token says.
   * @throws RpcError `FAILED`: "JWT Verification failed: …"
   */
  inspect(token: string): TokenClaims {
    return this.#valid(token)
  }

  #valid(token: string): Parsed {
    const parsed = this.#parse(token)
    if (this.#isExpired(parsed.expiresSec)) throw failed('jwt: exp claim is invalid')
    if (this.#deps.store.has(this.#revokedKey(parsed.id))) throw failed('token is revoked')
    return parsed
  }

  /**
   * Makes a token void, on disk when the promise resolves. A token of `issue` is one with all that have its permissions.
   * @throws RpcError `FAILED` when it is none of ours
   */
  async revoke(token: string): Promise<void> {
    const { id } = this.#parse(token)
    const { store } = this.#deps
    store.put(this.#revokedKey(id), REVOKED)
    this.#known.clear()
    await store.flush()
    for (const listener of this.#onRevoked) listener()
  }

  #sign(payload: Json): string {
    const signed = `${HEADER}.${toBase64Url(utf8(stringifyJson(payload)))}`
    return `${signed}.${toBase64Url(hmacSha256(this.#deps.secret, utf8(signed)))}`
  }

  #parse(token: string): Parsed {
    // A bound before any work: the header comes from anyone.
    if (token.length > MAX_TOKEN_LENGTH) throw failed('jwt: malformed token')
    const [header, payload, signature, ...rest] = token.split('.')
    if (header === undefined || payload === undefined || signature === undefined || rest.length > 0) {
      throw failed('jwt: malformed token')
    }
    jsonPart(header)
    const signed = utf8(`${header}.${payload}`)
    let given: Uint8Array
    try {
      given = fromBase64Url(signature)
    } catch (cause) {
      throw failed(errorMessage(cause))
    }
    if (!equalInConstantTime(given, hmacSha256(this.#deps.secret, signed)))
      throw failed('jwt: HMAC verification failed')
    const claims = jsonPart(payload)
    return { id: sha256(signed), allow: allowOf(claims), expiresSec: expiryOf(claims) }
  }

  #isExpired(expiresSec: number | undefined): boolean {
    return expiresSec !== undefined && this.#deps.clock.nowMs() / 1000 >= expiresSec
  }

  #revokedKey(id: Uint8Array): Uint8Array {
    return concatBytes(REVOKED_PREFIX, id)
  }
}
