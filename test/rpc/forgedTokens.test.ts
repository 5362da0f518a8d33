/** Tokens that somebody made who does not know the secret, or wrote differently: none gives a permission that was not given. */
import { describe, expect, it } from 'vitest'
import { toBase64Url, utf8 } from '../../src/base/bytes.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { hmacSha256 } from '../../src/crypto/hashes.ts'
import { PERMISSIONS } from '../../src/rpc/permission.ts'
import { Tokens } from '../../src/rpc/tokens.ts'
import { spellingsOf } from '../support/tokenSpellings.ts'

const SECRET = new Uint8Array(32).map((_, i) => i * 7 + 3)
const ADMIN = '{"Allow":["read","write","sign","admin"]}'

const node = (secret = SECRET): Tokens =>
  new Tokens({
    secret,
    clock: { nowMs: () => 1_700_000_000_000, monotonicMs: () => 0 },
    random: { fill: (out) => void crypto.getRandomValues(out) },
    store: new MemoryStore(),
  })

const unsigned = (alg: string, payload = ADMIN): string =>
  `${toBase64Url(utf8(JSON.stringify({ alg, typ: 'JWT' })))}.${toBase64Url(utf8(payload))}`
const bytesOf = async (signature: Promise<ArrayBuffer>): Promise<string> => toBase64Url(new Uint8Array(await signature))

/** HMAC with another hash, by the runtime's own cryptography. */
async function hmac(hash: string, text: string, secret: Uint8Array<ArrayBuffer>): Promise<string> {
  const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash }, false, ['sign'])
  return bytesOf(crypto.subtle.sign('HMAC', key, new Uint8Array(utf8(text))))
}

describe('a forged token', () => {
  it.each(['none', 'None', 'NONE', 'nOnE', '', 'HS256'])('with algorithm "%s" and no signature', (alg) => {
    for (const end of ['.', '', '.AA', `.${toBase64Url(new Uint8Array(32))}`]) {
      expect(node().verify(unsigned(alg) + end)).toBeUndefined()
    }
  })

  it.each(['SHA-512', 'SHA-384', 'SHA-1'])('with an HMAC of %s, even by the secret', async (hash) => {
    for (const alg of ['HS512', 'HS384', 'HS256']) {
      const text = unsigned(alg)
      const signature = await hmac(hash, text, new Uint8Array(SECRET))
      expect(node().verify(`${text}.${signature}`)).toBeUndefined()
      // Its first 32 bytes are no HMAC of SHA-256 either.
      expect(node().verify(`${text}.${signature.slice(0, 43)}`)).toBeUndefined()
    }
  })

  it('with RS256 and ES256, signed and as an HMAC by the public key', async () => {
    const rsa = {
      name: 'RSASSA-PKCS1-v1_5',
      modulusLength: 2048,
      publicExponent: new Uint8Array([1, 0, 1]),
      hash: 'SHA-256',
    }
    const rsaPair = await crypto.subtle.generateKey(rsa, true, ['sign', 'verify'])
    const rsaText = unsigned('RS256')
    const text = new Uint8Array(utf8(rsaText))
    expect(
      node().verify(`${rsaText}.${await bytesOf(crypto.subtle.sign(rsa, rsaPair.privateKey, text))}`),
    ).toBeUndefined()
    const spki = new Uint8Array(await crypto.subtle.exportKey('spki', rsaPair.publicKey))
    for (const alg of ['RS256', 'HS256']) {
      const confused = unsigned(alg)
      expect(node().verify(`${confused}.${await hmac('SHA-256', confused, spki)}`)).toBeUndefined()
    }
    const ec = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
    const ecPair = await crypto.subtle.generateKey(ec, true, ['sign', 'verify'])
    const ecText = unsigned('ES256')
    const ecSignature = crypto.subtle.sign(ec, ecPair.privateKey, new Uint8Array(utf8(ecText)))
    expect(node().verify(`${ecText}.${await bytesOf(ecSignature)}`)).toBeUndefined()
  })

  it('with other secrets: of another node, empty, zeros, its text, one byte more or less', () => {
    const text = unsigned('HS256')
    const longer = new Uint8Array([...SECRET, 0])
    const zeros = new Uint8Array(32)
    const others = [zeros, new Uint8Array(0), utf8('secret'), longer.map((byte) => byte ^ 1), SECRET.subarray(1)]
    for (const secret of others) {
      expect(node().verify(`${text}.${toBase64Url(hmacSha256(secret, utf8(text)))}`)).toBeUndefined()
    }
    const copied = node(zeros).issue(PERMISSIONS)
    expect(node(zeros).verify(copied)?.permissions).toEqual(new Set(PERMISSIONS))
    expect(node().verify(copied)).toBeUndefined()
  })

  it('with what another part of a good one says: payload, header and signature are bound', () => {
    const tokens = node()
    const [header, read, signature] = tokens.issue(['read']).split('.') as [string, string, string]
    const [, admin, adminSignature] = tokens.issue(PERMISSIONS).split('.') as [string, string, string]
    for (const forged of [
      `${header}.${admin}.${signature}`,
      `${header}.${read}.${adminSignature}`,
      `${toBase64Url(utf8('{"typ":"JWT","alg":"HS256"}'))}.${admin}.${adminSignature}`,
      `${header}.${read}${admin}.${signature}`,
      `${header}.${read}.${signature}.${admin}`,
    ]) {
      expect(tokens.verify(forged)).toBeUndefined()
    }
  })

  it('with any one character of a good one changed', () => {
    const tokens = node()
    const token = tokens.issue(PERMISSIONS)
    for (let at = 0; at < token.length - 1; at++) {
      for (const other of ['A', 'B', '_', '.', '=']) {
        if (token[at] === other) continue
        expect(tokens.verify(token.slice(0, at) + other + token.slice(at + 1)), `${at} ${other}`).toBeUndefined()
      }
    }
  })
})

describe('another spelling of a token', () => {
  /** Spellings that some decoder of base64 takes for the same. */
  const spellings = (token: string): string[] => {
    const [header, payload, signature] = token.split('.') as [string, string, string]
    return [
      ...spellingsOf(token),
      token.replaceAll('-', '+').replaceAll('_', '/'),
      `${header}.${payload}.${signature}=`,
      `${header}=.${payload}=.${signature}=`,
      `${header}\n.${payload}.${signature}`,
      `${header}.${payload}.${signature}\r\n`,
      ` ${token}`,
      `${token} `,
      `Bearer ${token}`,
      token.replaceAll('.', '%2e'),
      encodeURIComponent(token).replace('e', '%65'),
      `${token}\0`,
      token.toUpperCase(),
    ]
  }

  it('gives what the token gives, or nothing; and nothing once that is revoked', async () => {
    const tokens = node()
    for (let i = 0; i < 20; i++) {
      const token = tokens.issueUnique(['read'])
      for (const one of spellings(token)) {
        expect([undefined, 'read']).toContain(tokens.verify(one)?.permissions.values().next().value)
      }
      await tokens.revoke(spellings(token)[i % 4] as string)
      for (const one of [token, ...spellings(token)]) expect(tokens.verify(one), one).toBeUndefined()
    }
  })
})
