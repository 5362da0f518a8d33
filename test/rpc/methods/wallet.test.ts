/** `Wallet…` and `Auth…` over HTTP: every row with every kind of token, and the recorded answers of Lotus. */
import { beforeAll, describe, expect, it } from 'vitest'
import { fromBase64, fromUtf8 } from '../../../src/base/bytes.ts'
import { MemoryStore } from '../../../src/base/memoryStore.ts'
import type { Random } from '../../../src/base/ports.ts'
import { stringifyJson } from '../../../src/codec/jsonText.ts'
import { initCrypto } from '../../../src/crypto/init.ts'
import { RpcEngine } from '../../../src/rpc/engine.ts'
import { RpcError } from '../../../src/rpc/errors.ts'
import { HttpHandler } from '../../../src/rpc/http.ts'
import type { MethodRow } from '../../../src/rpc/method.ts'
import { authMethods } from '../../../src/rpc/methods/auth.ts'
import { walletMethods } from '../../../src/rpc/methods/wallet.ts'
import { PERMISSIONS } from '../../../src/rpc/permission.ts'
import { createMethodTable } from '../../../src/rpc/table.ts'
import { Tokens } from '../../../src/rpc/tokens.ts'
import { isIdAddress } from '../../../src/types/address.ts'
import { KeyStore } from '../../../src/wallet/keyStore.ts'
import { MemorySecretStore } from '../../../src/wallet/secretStore.ts'
import { Wallet } from '../../../src/wallet/wallet.ts'
import { type Row, readSharedZstd, recordedCalls } from '../../support/recorded.ts'
import { missingShared } from '../../support/shared.ts'
import { httpRequest, silentLog } from '../stubTable.ts'

const random: Random = { fill: (out) => void crypto.getRandomValues(out) }

function createNode() {
  const clock = { now: 1_700_000_000_000, nowMs: () => clock.now, monotonicMs: () => clock.now }
  const tokens = new Tokens({ secret: new Uint8Array(32).fill(3), clock, random, store: new MemoryStore() })
  const wallet = new Wallet(new KeyStore(new MemorySecretStore()), { random, addressPrefix: 't', chainId: 31415926n })
  const rows: MethodRow[] = [
    ...walletMethods({
      wallet,
      keyAddress: (one) => {
        if (isIdAddress(one)) throw new RpcError('FAILED', 'actor not found')
        return one
      },
      balance: () => 0n,
    }),
    ...authMethods({ tokens }),
  ]
  const engine = new RpcEngine({ table: createMethodTable(rows), json: { addressPrefix: 't' }, log: silentLog })
  const handler = new HttpHandler(engine, { verifier: tokens })
  const admin = tokens.issue(PERMISSIONS)
  const call = async (method: string, params: unknown[], token?: string, path = '/rpc/v1') => {
    const body = stringifyJson({ jsonrpc: '2.0', method, params: params as Row[], id: 1 })
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const answer = await handler.handle(httpRequest('POST', path, body, headers))
    const json =
      answer.body === ''
        ? undefined
        : (JSON.parse(answer.body) as { result?: unknown; error?: { code: number; message: string } })
    return { status: answer.status, result: json?.result, error: json?.error }
  }
  return {
    tokens,
    clock,
    rows,
    call,
    admin,
    asAdmin: (method: string, ...params: unknown[]) => call(method, params, admin),
  }
}

beforeAll(async () => {
  await initCrypto()
})

describe('every row with every token', () => {
  const node = createNode()
  const dead = node.tokens.issueUnique(PERMISSIONS, -1)
  const revoked = node.tokens.issueUnique(PERMISSIONS)
  const kinds: readonly [string, string | undefined, readonly string[] | undefined][] = [
    ['no token', undefined, ['read']],
    ['garbage', 'garbage', undefined],
    ['expired', dead, undefined],
    ['revoked', revoked, undefined],
    ['no Allow', node.tokens.issue(null), []],
    ...PERMISSIONS.map((one): [string, string, readonly string[]] => [`${one} alone`, node.tokens.issue([one]), [one]]),
    ...PERMISSIONS.map((one, i): [string, string, readonly string[]] => {
      const allow = PERMISSIONS.slice(0, i + 1)
      return [`up to ${one}`, node.tokens.issue(allow), allow]
    }),
  ]
  beforeAll(() => node.tokens.revoke(revoked))

  it.each(kinds)('%s', async (_kind, token, allow) => {
    for (const row of node.rows) {
      for (const path of ['/rpc/v0', '/rpc/v1']) {
        const { status, error } = await node.call(
          `Node.${row.name}`,
          row.params.map(() => null),
          token,
          path,
        )
        if (allow === undefined) {
          expect(status, row.name).toBe(401)
        } else if (!allow.includes(row.perm)) {
          // Parameters are looked at before the permission.
          expect([200, 500], row.name).toContain(status)
          if (status === 200)
            expect(error?.message).toBe(`missing permission to invoke '${row.name}' (need '${row.perm}')`)
        } else {
          expect(error?.message ?? '', row.name).not.toContain('missing permission')
        }
      }
    }
  })
})

describe.skipIf(missingShared('data/golden/nv28'))('the recorded answers', () => {
  it('to WalletVerify and WalletValidateAddress', async () => {
    const node = createNode()
    const calls = recordedCalls('nv28', 'chain.jsonl.zst', ['Filecoin.WalletVerify', 'Filecoin.WalletValidateAddress'])
    expect(calls.length).toBeGreaterThan(30)
    for (const { method, params, response, path } of calls) {
      const answer = await node.call(method, params, node.admin, path)
      expect({ result: answer.result, error: answer.error }, stringifyJson(params)).toEqual({
        result: response.result,
        error: response.error,
      })
    }
  })

  it('to the wallet of the session', async () => {
    const node = createNode()
    const keys = JSON.parse(readSharedZstd('data/golden/nv28/keys.json.zst')) as Record<string, unknown>
    for (const info of Object.values(keys)) await node.asAdmin('Filecoin.WalletImport', info)
    const calls = recordedCalls('nv28', 'session.jsonl.zst', [
      'Filecoin.WalletNew',
      'Filecoin.WalletHas',
      'Filecoin.WalletSignMessage',
    ])
    let errors = 0
    for (const { method, params, response, path } of calls) {
      const answer = await node.call(method, params, node.admin, path)
      if (response.error !== undefined) {
        errors++
        expect(answer.error).toEqual(response.error)
      } else if (method === 'Filecoin.WalletHas') {
        expect(answer.result).toBe(response.result)
      } else if (method === 'Filecoin.WalletNew') {
        const text = answer.result as string
        const recorded = response.result as string
        expect([text.slice(0, 2), text.length]).toEqual([recorded.slice(0, 2), recorded.length])
      } else {
        // Lotus' ECDSA nonces are random: everything but the signature's bytes and the CID over them is equal.
        const recorded = response.result as { Message: Row }
        expect((answer.result as { Message: Row }).Message).toEqual(JSON.parse(stringifyJson(recorded.Message)))
      }
    }
    expect(errors).toBe(2)
  })
})

describe('a wallet over HTTP', () => {
  it('makes, signs, verifies, exports, deletes, imports', async () => {
    const { asAdmin } = createNode()
    expect((await asAdmin('Node.WalletList')).result).toEqual([])
    expect((await asAdmin('Node.WalletDefaultAddress')).error).toEqual({
      code: 1,
      message: "failed to get default key: opening key 'default': key info not found",
    })
    const made = (await asAdmin('Node.WalletNew', 1)).result as string
    const bls = (await asAdmin('Node.WalletNew', 'bls')).result as string
    expect((await asAdmin('Node.WalletList')).result).toEqual([made, bls].sort())
    expect((await asAdmin('Node.WalletDefaultAddress')).result).toBe(made)
    expect(await asAdmin('Node.WalletSetDefault', bls)).toMatchObject({ result: null, error: undefined })
    expect((await asAdmin('Node.WalletDefaultAddress')).result).toBe(bls)
    for (const one of [made, bls]) {
      const signature = (await asAdmin('Node.WalletSign', one, 'aGVsbG8=')).result
      expect((await asAdmin('Node.WalletVerify', one, 'aGVsbG8=', signature)).result).toBe(true)
      expect((await asAdmin('Node.WalletVerify', one, 'aGVsbG8h', signature)).result).toBe(false)
      expect((await asAdmin('Node.WalletVerify', 't01000', 'aGVsbG8=', signature)).result).toBe(false)
      expect((await asAdmin('Node.WalletVerify', one, 'aGVsbG8=', null)).result).toBe(false)
    }
    const info = (await asAdmin('Node.WalletExport', made)).result
    expect(info).toMatchObject({ Type: 'secp256k1' })
    expect((await asAdmin('Node.WalletImport', info)).error?.message).toMatch(/key already exists$/)
    expect((await asAdmin('Node.WalletDelete', made)).result).toBeNull()
    expect((await asAdmin('Node.WalletDelete', made)).result).toBeNull()
    expect((await asAdmin('Node.WalletHas', made)).result).toBe(false)
    expect((await asAdmin('Node.WalletExport', made)).error).toEqual({ code: 1, message: `key not found for ${made}` })
    expect((await asAdmin('Node.WalletSign', made, '')).error).toEqual({
      code: 1,
      message: `key not found for ${made}`,
    })
    expect((await asAdmin('Node.WalletSign', 't01000', '')).error?.message).toBe(
      'failed to resolve ID address: actor not found',
    )
    expect((await asAdmin('Node.WalletImport', info)).result).toBe(made)
  })
})

describe('tokens over HTTP', () => {
  it('are made, verified, revoked', async () => {
    const { asAdmin, call, clock } = createNode()
    const encoded = (await asAdmin('Node.AuthNew', ['read', 'write'])).result as string
    const token = fromUtf8(fromBase64(encoded))
    expect((await call('Node.AuthVerify', [token])).result).toEqual(['read', 'write'])
    expect((await call('Node.WalletList', [], token)).result).toEqual([])
    expect((await call('Node.AuthVerify', ['x'])).error).toEqual({
      code: 1,
      message: 'JWT Verification failed: jwt: malformed token',
    })
    const own = (await asAdmin('Node.AuthNewToken', ['read', 'write'], { ExpiresIn: 60 })).result as string
    const lasting = (await asAdmin('Node.AuthNewToken', ['read', 'write'], null)).result as string
    expect((await call('Node.WalletList', [], own)).status).toBe(200)
    clock.now += 60_000
    expect((await call('Node.WalletList', [], own)).status).toBe(401)
    expect((await call('Node.WalletList', [], lasting)).status).toBe(200)
    expect((await asAdmin('Node.AuthRevoke', lasting)).result).toBeNull()
    expect((await call('Node.WalletList', [], lasting)).status).toBe(401)
    expect((await call('Node.WalletList', [], token)).status).toBe(200)
  })
})
