/**
 * Clients that people have for Filecoin's own methods, each with what they do with it, against a local chain: iso-filecoin
 * signs on its own, @glif/filecoin-rpc-client speaks /rpc/v1, shipyard's lotus-client /rpc/v0 over HTTP and WebSocket.
 */
import { createRequire } from 'node:module'
import LotusRpcEngine from '@glif/filecoin-rpc-client'
import { Message } from 'iso-filecoin/message'
import { RPC } from 'iso-filecoin/rpc'
import { create, signMessage } from 'iso-filecoin/wallet'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, RpcClient } from '../support/rpcClient.ts'
import { type DevnetProcess, startDevnetProcess } from './devnetProcess.ts'

const FIL = 10n ** 18n
const TIMEOUT_MS = 60_000

// Shipyard's packages bring no types.
const load: (name: string) => Answer = createRequire(import.meta.url)
const { NodejsProvider } = load('@filecoin-shipyard/lotus-client-provider-nodejs')
const { LotusRPC } = load('@filecoin-shipyard/lotus-client-rpc')
const { mainnet } = load('@filecoin-shipyard/lotus-client-schema')

/** Any client: a method by name. */
interface Client {
  readonly version: 'v0' | 'v1'
  call(method: string, ...params: unknown[]): Promise<Answer>
  close?(): Promise<void>
}

let devnet: DevnetProcess
beforeAll(async () => {
  devnet = await startDevnetProcess()
}, TIMEOUT_MS)
afterAll(() => devnet?.close())

function glif(): Client {
  const module = LotusRpcEngine as Answer
  const engine: Answer = new (module.default ?? module)({ apiAddress: `${devnet.url}/rpc/v1`, token: devnet.token })
  return { version: 'v1', call: (method, ...params) => engine.request(method, ...params) }
}

function shipyard(transport: 'http' | 'ws'): Client {
  const provider: Answer = new NodejsProvider(`${devnet.url.replace('http', transport)}/rpc/v0`, {
    token: devnet.token,
  })
  const client: Answer = new LotusRPC(provider, { schema: mainnet.fullNode })
  return {
    version: 'v0',
    call: (method, ...params) => client[method](...params),
    close: () => client.destroy(),
  }
}

function draft(from: string, to: string, value: bigint, params: unknown = ''): Answer {
  const fees = { GasLimit: 0, GasFeeCap: '0', GasPremium: '0' }
  return { Version: 0, To: to, From: from, Nonce: 0, Value: value.toString(), ...fees, Method: 0, Params: params }
}

function executed({ version, call }: Client, cid: Answer): Promise<Answer> {
  return version === 'v0' ? call('StateWaitMsg', cid, 0) : call('StateWaitMsg', cid, 0, -1, true)
}

/** What a method of multisigs asks for: pushed by the node on v0, drafted on v1. */
async function pushed({ version, call }: Client, method: string, params: unknown[]): Promise<Answer> {
  const answer = await call(method, ...params)
  return version === 'v0' ? answer : (await call('MpoolPushMessage', answer.Message, null)).CID
}

const GO_ERROR = 'cannot unmarshal string into Go struct field Message.GasLimit of type int64'

describe.each<[string, () => Client, error: string]>([
  // Its HTTP library reads no body of an answer with status 500, which Lotus gives, too.
  ['@glif/filecoin-rpc-client', glif, 'status code 500'],
  ['lotus-client over HTTP', () => shipyard('http'), GO_ERROR],
  ['lotus-client over WebSocket', () => shipyard('ws'), GO_ERROR],
])('%s', { timeout: TIMEOUT_MS }, (_name, open, error) => {
  let client: Client
  let from: string
  let to: string
  beforeAll(async () => {
    client = open()
    from = await client.call('WalletDefaultAddress')
    to = await client.call('WalletNew', 'secp256k1')
  })
  afterAll(() => client?.close?.())

  it('head, balance, send, wait, trace', async () => {
    const { call } = client
    expect((await call('ChainHead')).Cids).toHaveLength(1)
    const signed = await call('MpoolPushMessage', draft(from, to, 3n * FIL), null)
    // What came as an empty text goes out as one: clients decode it as base64.
    expect(signed.Message.Params).toBe('')
    expect((await executed(client, signed.CID)).Receipt.ExitCode).toBe(0)
    const replay = await call('StateReplay', [], signed.CID)
    expect(replay.ExecutionTrace.Msg).toMatchObject({ Value: (3n * FIL).toString() })
    await expect.poll(() => call('WalletBalance', to), { timeout: TIMEOUT_MS }).toBe((3n * FIL).toString())
  })

  it('a multisig from creation to execution', async () => {
    const created = await pushed(client, 'MsigCreate', [1, [from], 0, (2n * FIL).toString(), from, '0'])
    const wallet = (await executed(client, created)).ReturnDec.IDAddress
    // filecoin.js gives parameters as a list of numbers.
    const proposed = await pushed(client, 'MsigPropose', [wallet, to, FIL.toString(), from, 0, []])
    expect((await executed(client, proposed)).ReturnDec).toMatchObject({ Applied: true, Code: 0 })
    await expect.poll(() => client.call('WalletBalance', to), { timeout: TIMEOUT_MS }).toBe((4n * FIL).toString())
  })

  it('replaces a message that waits by one that pays more', async () => {
    const { call, version } = client
    const nonce: number = await call('MpoolGetNonce', from)
    const priced = await call('GasEstimateMessageGas', draft(from, to, 1n), null, [])
    const push = async (message: Answer): Promise<Answer> =>
      await call('MpoolPush', await call('WalletSignMessage', from, message))
    // It waits, since the number before it is free.
    const waiting = { ...priced, Nonce: nonce + 1 }
    const first = await push(waiting)
    const dearer = (percent: bigint): Answer => {
      const GasPremium = (((BigInt(waiting.GasPremium) + 1n) * percent) / 100n).toString()
      return { ...waiting, GasPremium, GasFeeCap: (BigInt(waiting.GasFeeCap) * 3n).toString() }
    }
    await expect(push(dearer(101n))).rejects.toThrow()
    const second = await push(dearer(200n))
    const mine = (one: Answer): boolean => one.Message.From === from && one.Message.Nonce === nonce + 1
    expect((await call('MpoolPending', [])).filter(mine).map((one: Answer) => one.CID)).toEqual([second])
    await push({ ...priced, Nonce: nonce })
    const found = await executed(client, second)
    expect(found.Receipt.ExitCode).toBe(0)
    // Who asks for the first one hears of the one in its place.
    const search = version === 'v0' ? [first] : [[], first, -1, true]
    expect((await call('StateSearchMsg', ...search)).Message).toEqual(second)
  })

  it('an error has its own text', async () => {
    const wrong = client.call('MpoolPushMessage', { ...draft(from, to, 1n), GasLimit: 'much' }, null)
    await expect(wrong).rejects.toThrow(error)
  })
})

describe('iso-filecoin', { timeout: TIMEOUT_MS }, () => {
  it('makes a key, signs without the node, pushes, waits', async () => {
    const rpc = new RPC({ api: `${devnet.url}/rpc/v1`, token: devnet.token, network: 'testnet' })
    const node = new RpcClient(devnet.url, devnet.token)
    const account: Answer = create('SECP256K1', 'testnet')
    const from = String(account.address)
    const rich = await node.call('WalletDefaultAddress')
    const funded = await node.call('MpoolPushMessage', draft(rich, from, 10n * FIL), null)
    await node.call('StateWaitMsg', funded.CID, 0, -1, true)
    expect(await rpc.version()).toMatchObject({ result: { Agent: 'petrel' } })
    await expect
      .poll(async () => (await rpc.balance(from)).result, { timeout: TIMEOUT_MS })
      .toBe((10n * FIL).toString())

    const message = new Message({ from, to: rich, value: FIL.toString() })
    const prepared = await message.prepare(rpc)
    const signature: Answer = signMessage(account.privateKey, 'SECP256K1', prepared)
    const { result: cid, error }: Answer = await rpc.pushMessage({ msg: prepared, signature })
    expect(error).toBeUndefined()
    const found: Answer = await rpc.waitMsg({ cid, confidence: 0 })
    expect(found.result.Receipt.ExitCode).toBe(0)
  })
})

describe('a batch', () => {
  it('is answered in order', async () => {
    const node = new RpcClient(devnet.url, devnet.token)
    const request = (id: number, method: string): Answer => ({ jsonrpc: '2.0', id, method, params: [] })
    const response = await node.post([request(1, 'Filecoin.ChainHead'), request(2, 'Node.WalletDefaultAddress')])
    const [head, wallet] = (await response.json()) as [Answer, Answer]
    expect([head.id, wallet.id]).toEqual([1, 2])
    expect(head.result.Height).toBeGreaterThanOrEqual(0)
    expect(wallet.result).toMatch(/^t1/)
  })
})
