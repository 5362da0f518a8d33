/** Tokens by Lotus' rules (node/impl/common/common.go AuthNew, AuthVerify) and against `jose`. */
import { jwtVerify, SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { MAX_CACHED_TOKENS, MAX_TOKEN_LENGTH } from '../../src/base/bounds.ts'
import { fromBase64Url, fromUtf8, toBase64Url, utf8 } from '../../src/base/bytes.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { KeyValueStore, Random } from '../../src/base/ports.ts'
import { hmacSha256 } from '../../src/crypto/hashes.ts'
import { loadApiSecret, Tokens } from '../../src/rpc/tokens.ts'
import { KeyStore } from '../../src/wallet/keyStore.ts'
import { MemorySecretStore } from '../../src/wallet/secretStore.ts'
import { spellingsOf } from '../support/tokenSpellings.ts'

const SECRET = new Uint8Array(32).map((_, i) => i * 5 + 1)
const random: Random = { fill: (out) => void crypto.getRandomValues(out) }

function create(options: { secret?: Uint8Array; store?: KeyValueStore } = {}) {
  const clock = { now: 1_700_000_000_000, nowMs: () => clock.now, monotonicMs: () => clock.now }
  const tokens = new Tokens({
    secret: options.secret ?? SECRET,
    clock,
    random,
    store: options.store ?? new MemoryStore(),
  })
  return { clock, tokens }
}

function sign(header: string, payload: string, secret: Uint8Array = SECRET): string {
  const signed = `${toBase64Url(utf8(header))}.${toBase64Url(utf8(payload))}`
  return `${signed}.${toBase64Url(hmacSha256(secret, utf8(signed)))}`
}

const HEADER = '{"alg":"HS256","typ":"JWT"}'

describe('tokens', () => {
  it('have the header and payload of Lotus, and verify with another implementation', async () => {
    const { tokens } = create()
    const token = tokens.issue(['read', 'write'])
    const [header, payload] = token
      .split('.')
      .slice(0, 2)
      .map((part) => fromUtf8(fromBase64Url(part)))
    expect(header).toBe('{"alg":"HS256","typ":"JWT"}')
    expect(payload).toBe('{"Allow":["read","write"]}')
    expect((await jwtVerify(token, SECRET)).payload).toEqual({ Allow: ['read', 'write'] })
    expect(tokens.issue(['read', 'write'])).toBe(token)
  })

  it('of another implementation are taken', async () => {
    const { tokens } = create()
    const foreign = await new SignJWT({ Allow: ['sign'] }).setProtectedHeader({ alg: 'HS256' }).sign(SECRET)
    expect(tokens.verify(foreign)?.permissions).toEqual(new Set(['sign']))
    expect(tokens.inspect(foreign)).toMatchObject({ allow: ['sign'] })
  })

  it('of so many characters are looked at, and with one more not', () => {
    const { tokens } = create()
    const of = (length: number): string => {
      const empty = sign(HEADER, '{"Allow":["read"],"jti":""}')
      const bytes = Math.floor(((length - empty.length) * 3) / 4)
      for (let more = bytes; ; more++) {
        const token = sign(HEADER, `{"Allow":["read"],"jti":"${'x'.repeat(more)}"}`)
        if (token.length >= length) return token
      }
    }
    const [longest, longer] = [of(MAX_TOKEN_LENGTH), of(MAX_TOKEN_LENGTH + 1)]
    expect([longest.length, longer.length]).toEqual([MAX_TOKEN_LENGTH, MAX_TOKEN_LENGTH + 1])
    expect(tokens.verify(longest)?.permissions).toEqual(new Set(['read']))
    expect(tokens.verify(longer)).toBeUndefined()
  })

  it('are remembered, so many of them, and not one more', () => {
    const store = new MemoryStore()
    let checks = 0
    const { tokens } = create({
      store: Object.assign(Object.create(store) as MemoryStore, {
        has: () => {
          checks++
          return false
        },
      }),
    })
    const all = Array.from({ length: MAX_CACHED_TOKENS + 1 }, () => tokens.issueUnique(['read']))
    const verify = (which: readonly string[]): number => {
      const before = checks
      for (const token of which) expect(tokens.verify(token)?.permissions).toEqual(new Set(['read']))
      return checks - before
    }
    const most = all.slice(0, MAX_CACHED_TOKENS)
    expect([verify(most), verify(most)]).toEqual([MAX_CACHED_TOKENS, 0])
    expect([verify(all.slice(-1)), verify(all.slice(0, 1))]).toEqual([1, 1])
  })

  it('are checked by their HMAC alone, whatever the header says', () => {
    const { tokens } = create()
    expect(tokens.verify(sign('{"alg":"none"}', '{"Allow":["admin"]}'))?.permissions).toEqual(new Set(['admin']))
    expect(tokens.verify('eyJhbGciOiJub25lIn0.eyJBbGxvdyI6WyJhZG1pbiJdfQ.')).toBeUndefined()
    expect(tokens.verify(sign(HEADER, '{"Allow":["admin"]}', new Uint8Array(32)))).toBeUndefined()
  })

  it('are a flat set; without Allow they grant nothing, not even read', () => {
    const { tokens } = create()
    expect(tokens.verify(sign(HEADER, '{"Allow":["admin"]}'))?.permissions.has('read')).toBe(false)
    expect(tokens.verify(sign(HEADER, '{}'))?.permissions).toEqual(new Set())
    expect(tokens.verify(sign(HEADER, '{"Allow":null}'))?.permissions).toEqual(new Set())
    expect(tokens.verify(sign(HEADER, '{"allow":["read"]}'))?.permissions).toEqual(new Set(['read']))
    expect(tokens.inspect(sign(HEADER, '{}')).allow).toBeNull()
    expect(tokens.inspect(sign(HEADER, '{"Allow":[]}')).allow).toEqual([])
  })

  it.each([
    ['x', 'JWT Verification failed: jwt: malformed token'],
    ['', 'JWT Verification failed: jwt: malformed token'],
    ['a.b', 'JWT Verification failed: jwt: malformed token'],
    [sign(HEADER, '{}').slice(0, -8), 'JWT Verification failed: jwt: HMAC verification failed'],
    [`${sign(HEADER, '{}')}!`, 'JWT Verification failed: illegal base64 data'],
    [sign('{', '{}'), 'JWT Verification failed: '],
    [sign(HEADER, '[]'), 'JWT Verification failed: '],
    [sign(HEADER, '{"Allow":"admin"}'), 'JWT Verification failed: '],
    [sign(HEADER, '{"Allow":[1]}'), 'JWT Verification failed: '],
    [sign(HEADER, '{"Allow":["read"],"exp":"soon"}'), 'JWT Verification failed: '],
    [`${'a'.repeat(10000)}.b.c`, 'JWT Verification failed: jwt: malformed token'],
  ])('%s is refused', (token, text) => {
    const { tokens } = create()
    expect(tokens.verify(token)).toBeUndefined()
    expect(() => tokens.inspect(token)).toThrow(text)
  })

  it('expire, also when they are known already', () => {
    const { tokens, clock } = create()
    const token = tokens.issueUnique(['read'], 60)
    expect(tokens.verify(token)?.permissions).toEqual(new Set(['read']))
    clock.now += 59_000
    expect(tokens.verify(token)?.permissions).toEqual(new Set(['read']))
    clock.now += 1_000
    expect(tokens.verify(token)).toBeUndefined()
    expect(() => tokens.inspect(token)).toThrow('jwt: exp claim is invalid')
  })

  it('can be revoked one by one, for ever, in every spelling', async () => {
    const store = new MemoryStore()
    const { tokens } = create({ store })
    const [first, second] = [tokens.issueUnique(['read']), tokens.issueUnique(['read'])]
    expect(first).not.toBe(second)
    expect(tokens.verify(first)?.permissions).toEqual(new Set(['read']))
    await tokens.revoke(first)
    expect(tokens.verify(first)).toBeUndefined()
    expect(() => tokens.inspect(first)).toThrow('token is revoked')
    expect(tokens.verify(second)?.permissions).toEqual(new Set(['read']))
    for (const spelled of spellingsOf(first)) expect(tokens.verify(spelled)).toBeUndefined()
    const restarted = create({ store }).tokens
    expect(restarted.verify(first)).toBeUndefined()
    expect(restarted.verify(second)?.permissions).toEqual(new Set(['read']))
    await expect(tokens.revoke('garbage')).rejects.toThrow('jwt: malformed token')
  })

  it('have one name each, in every spelling, also when they are known already, and everywhere the same', () => {
    const { tokens, clock } = create()
    const all = [tokens.issue(['read']), tokens.issueUnique(['read']), tokens.issueUnique(['read'], 60)]
    const namesOf = (by: Tokens, token: string) => spellingsOf(token).map((spelled) => by.verify(spelled)?.name)
    const names = all.map((token) => namesOf(tokens, token))
    expect(names.map((own) => [own.length, new Set(own).size])).toEqual(all.map(() => [4, 1]))
    expect(new Set(names.flat()).size).toBe(all.length)
    expect(all.map((token) => namesOf(tokens, token))).toEqual(names)
    // A thread that answers reads knows the secret, and nothing of what the node has seen.
    expect(all.map((token) => namesOf(create().tokens, token))).toEqual(names)
    clock.now += 60_000
    expect(namesOf(tokens, all[2] as string)).toEqual([undefined, undefined, undefined, undefined])
  })

  it('of the node itself are the same at every start, until revoked', async () => {
    const store = new MemoryStore()
    const first = create({ store }).tokens.issueAdmin()
    const { tokens } = create({ store })
    expect(tokens.issueAdmin()).toBe(first)
    expect(tokens.verify(first)?.permissions).toEqual(new Set(['read', 'write', 'sign', 'admin']))
    await tokens.revoke(first)
    const second = tokens.issueAdmin()
    expect(second).not.toBe(first)
    expect(tokens.verify(second)?.permissions).toEqual(new Set(['read', 'write', 'sign', 'admin']))
  })

  it('stay revoked when they have expired by a clock that was ahead for a while', async () => {
    const { tokens, clock } = create()
    const day = 86_400
    const [stolen, other] = [tokens.issueUnique(['read', 'sign'], 30 * day), tokens.issueUnique(['read'], day)]
    await tokens.revoke(stolen)
    clock.now += 60 * day * 1000
    await tokens.revoke(other)
    clock.now -= 60 * day * 1000
    expect([tokens.verify(stolen), tokens.verify(other)]).toEqual([undefined, undefined])
    expect(() => tokens.inspect(stolen)).toThrow('token is revoked')
  })
})

describe('the API secret', () => {
  it('is made once, kept in the keystore as Lotus does, and new when deleted', async () => {
    const keystore = new KeyStore(new MemorySecretStore())
    const first = await loadApiSecret(keystore, random)
    expect(first.isNew).toBe(true)
    expect(first.secret).toHaveLength(32)
    expect(await keystore.get('auth-jwt-private')).toEqual({ type: 'jwt-hmac-secret', privateKey: first.secret })
    expect(await loadApiSecret(keystore, random)).toEqual({ secret: first.secret, isNew: false })
    const token = create({ secret: first.secret }).tokens.issue(['read'])
    await keystore.delete('auth-jwt-private')
    const second = await loadApiSecret(keystore, random)
    expect(create({ secret: second.secret }).tokens.verify(token)).toBeUndefined()
  })
})
