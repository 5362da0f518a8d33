/** A node's wallet with its keys in a signer, over the signer's HTTP handler. */
import { beforeAll, describe, expect, it } from 'vitest'
import { MemoryStore } from '../../../src/base/memoryStore.ts'
import type { Random } from '../../../src/base/ports.ts'
import { initCrypto } from '../../../src/crypto/init.ts'
import { httpTransport } from '../../../src/rpc/client/httpTransport.ts'
import { remoteWallet } from '../../../src/rpc/client/remoteWallet.ts'
import { RpcEngine } from '../../../src/rpc/engine.ts'
import { HttpHandler } from '../../../src/rpc/http.ts'
import { signerMethods } from '../../../src/rpc/methods/signer.ts'
import { PERMISSIONS } from '../../../src/rpc/permission.ts'
import { createMethodTable } from '../../../src/rpc/table.ts'
import { Tokens } from '../../../src/rpc/tokens.ts'
import type { Address } from '../../../src/types/address.ts'
import { authenticateMessage } from '../../../src/types/verifySignature.ts'
import { KeyStore } from '../../../src/wallet/keyStore.ts'
import { MemorySecretStore } from '../../../src/wallet/secretStore.ts'
import { PolicyGuard, parsePolicy } from '../../../src/wallet/signingPolicy.ts'
import { Wallet } from '../../../src/wallet/wallet.ts'
import { httpRequest, silentLog } from '../stubTable.ts'

const random: Random = { fill: (out) => void crypto.getRandomValues(out) }
const CHAIN_ID = 31415926n
const FIL = 10n ** 18n
const options = { random, addressPrefix: 't', chainId: CHAIN_ID } as const

/** A signer with one key of each kind, and a node's wallet that has none. */
async function opened(manage = false) {
  const clock = { nowMs: () => 1_700_000_000_000, monotonicMs: () => 0 }
  const keys = new Wallet(new KeyStore(new MemorySecretStore()), options)
  const own = await Promise.all(['secp256k1', 'bls', 'delegated'].map((type) => keys.newKey(type)))
  const rules = Object.fromEntries(own.map((one) => [one.toString(), { dailyLimit: '10 FIL' }]))
  const policy = parsePolicy({ keys: rules, chainId: Number(CHAIN_ID), manage })
  const noted: string[] = []
  const log = {
    signing: ({ nonce }: { nonce: bigint }) => void noted.push(`signing ${nonce}`),
    refused: (_signer: string, reason: string) => void noted.push(reason),
  }
  const rows = signerMethods({ wallet: keys, policy, guard: new PolicyGuard(policy, []), log, clock })
  const tokens = new Tokens({ secret: new Uint8Array(32).fill(3), clock, random, store: new MemoryStore() })
  const engine = new RpcEngine({ table: createMethodTable(rows), json: { addressPrefix: 'f' }, log: silentLog })
  const handler = new HttpHandler(engine, { verifier: tokens })
  const walletWith = (token: string): Wallet => {
    const transport = httpTransport(async (body) => {
      const answer = await handler.handle(httpRequest('POST', '/rpc/v0', body, { authorization: `Bearer ${token}` }))
      return { status: answer.status, text: answer.body }
    })
    return new Wallet(new KeyStore(new MemorySecretStore()), { ...options, remote: remoteWallet(transport, 'f') })
  }
  return {
    own,
    noted,
    node: walletWith(tokens.issue(PERMISSIONS)),
    stranger: walletWith(tokens.issue(['read', 'sign'])),
  }
}

const send = (from: Address, to: Address, nonce: bigint, value: bigint) => ({
  ...{ version: 0, to, from, nonce, value, gasLimit: 1n, gasFeeCap: 1n, gasPremium: 1n },
  // A key of an f410 address calls a contract even where it only pays.
  ...{ method: from.protocol === 4 ? 3844450837n : 0n, params: new Uint8Array(0) },
})

describe('keys in a signer', () => {
  beforeAll(() => initCrypto())

  it('sign for the node: each kind but calls of contracts, which are not listed', async () => {
    const { own, noted, node } = await opened()
    const [secp, bls, delegated] = own as [Address, Address, Address]
    expect((await node.list()).map(String).sort()).toEqual(own.map(String).sort())
    for (const from of [secp, bls]) {
      const signed = await node.signMessage(from, send(from, delegated, 0n, FIL))
      expect(() => authenticateMessage(signed, from, CHAIN_ID)).not.toThrow()
    }
    await expect(node.signMessage(delegated, send(delegated, delegated, 0n, FIL))).rejects.toThrow('method 3844450837')
    expect(noted).toEqual(['signing 0', 'signing 0', expect.stringContaining('method')])
  })

  it('refuse above the limit, bytes that are no message, and the key itself', async () => {
    const { own, node } = await opened()
    const [from] = own as [Address]
    await node.signMessage(from, send(from, from, 0n, 9n * FIL))
    await expect(node.signMessage(from, send(from, from, 1n, FIL))).rejects.toThrow('within 24 hours')
    await expect(node.sign(from, new Uint8Array(38))).rejects.toThrow('messages alone')
    await expect(node.export(from)).rejects.toThrow('not managed')
    await expect(node.newKey('bls')).rejects.toThrow('not managed')
    await expect(node.delete(from)).rejects.toThrow('not managed')
  })

  it('answer nobody without all permissions', async () => {
    const { own, noted, stranger } = await opened()
    await expect(stranger.sign(own[0] as Address, new Uint8Array(38))).rejects.toThrow('missing permission')
    await expect(stranger.list()).rejects.toThrow('missing permission')
    expect(noted).toEqual([])
  })

  it('are told from the node when nobody answers for them', async () => {
    const transport = httpTransport(() => Promise.reject(new TypeError('fetch failed')))
    const node = new Wallet(new KeyStore(new MemorySecretStore()), { ...options, remote: remoteWallet(transport, 'f') })
    await expect(node.list()).rejects.toThrow('the remote wallet does not answer: could not connect')
  })

  it('can be managed where the policy says so', async () => {
    const { own, node } = await opened(true)
    const [from] = own as [Address]
    const key = await node.export(from)
    await node.delete(from)
    expect(await node.has(from)).toBe(false)
    expect(String(await node.import(key))).toBe(String(from))
    expect(await node.has(from)).toBe(true)
  })
})
