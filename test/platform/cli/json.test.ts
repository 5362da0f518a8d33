/** `--json`, completion scripts, colours: what scripts and shells depend on. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Json } from '../../../src/codec/jsonText.ts'
import { type FakeNode, leadingTo, petrel, startFakeNode } from './fakeNode.ts'

const run = promisify(execFile)
const OWN = 't15hcarwznrb4xdi5e7s73ml37jj6sdojuhqdl4lq'
const CID = 'bafy2bzacecmda75ovposbdateg7eyhwij65zklgyijgcjwynlklmqazpwlhba'
const cid = (text: string): Json => ({ '/': text })
const HEAD = {
  Cids: [cid(CID)],
  Blocks: [{ Miner: 't01000', Height: 7, Timestamp: 1_700_000_000, ParentBaseFee: '100', Parents: [cid(CID)] }],
  Height: 7,
}
const STATUS = {
  SyncStatus: { Epoch: 7, Behind: 0 },
  PeerStatus: { PeersToPublishMsgs: 1, PeersToPublishBlocks: 2 },
  ChainStatus: { BlocksPerTipsetLast100: 0, BlocksPerTipsetLastFinality: 0 },
}

let node: FakeNode
beforeAll(async () => {
  node = await startFakeNode()
  node.answers = {
    ChainHead: HEAD,
    ChainReadObj: 'g/VCAQIK',
    ChainStatObj: { Size: 2048, Links: 3 },
    WalletList: [OWN],
    WalletDefaultAddress: OWN,
    WalletBalance: '1500000000000000000',
    WalletNew: OWN,
    WalletSetDefault: null,
    StateGetActor: { Code: cid(CID), Head: cid(CID), Nonce: 1, Balance: '5', DelegatedAddress: null },
    StateNetworkVersion: 28,
    StateNetworkName: 'testnetnet',
    StateMarketBalance: { Escrow: '10', Locked: '4' },
    StateListActors: ['t00', 't01'],
    StateMinerPower: {
      MinerPower: { RawBytePower: '1', QualityAdjPower: '1' },
      TotalPower: { RawBytePower: '4', QualityAdjPower: '4' },
    },
    StartTime: '2026-01-01T00:00:00Z',
    Version: { Version: '0.1.0+devnet', APIVersion: 131840, BlockDelay: 30 },
    NodeStatus: STATUS,
    NetBandwidthStats: { TotalIn: 1, TotalOut: 2, RateIn: 3, RateOut: 4 },
    NetPeers: [],
    MpoolPending: [],
    LogList: ['chain', 'sync'],
    LogSetLevel: null,
    ID: '12D3KooWBF8cpp65hp2u9LK5mh19x67ftAam84z9LsfaquTDSBpt',
  }
})
afterAll(() => node.close())

describe('--json', () => {
  it.each<[string, unknown]>([
    ['chain head', { Height: 7, Cids: [CID] }],
    [`chain read-obj ${CID}`, [true, { '/': { bytes: 'AQI' } }, 10]],
    [`chain stat-obj ${CID}`, { Size: 2048, Links: 3 }],
    ['wallet list --addr-only', [OWN]],
    ['wallet balance', { Address: OWN, Balance: '1500000000000000000' }],
    ['wallet new', { Address: OWN }],
    [`wallet set-default ${OWN}`, { message: `Default address set to: ${OWN}` }],
    ['state network-version', { NetworkVersion: 28 }],
    ['state list-actors', ['t00', 't01']],
    [`state market balance ${OWN}`, { Escrow: '10', Locked: '4' }],
    ['state power', { TotalPower: { RawBytePower: '4', QualityAdjPower: '4' } }],
    ['status', { SyncStatus: STATUS.SyncStatus, PeerStatus: STATUS.PeerStatus }],
    ['mpool pending', []],
    ['net id', { ID: '12D3KooWBF8cpp65hp2u9LK5mh19x67ftAam84z9LsfaquTDSBpt' }],
    ['net peers', []],
    ['log list', ['chain', 'sync']],
    ['log set-level debug --system sync', { level: 'debug', systems: ['sync'] }],
    ['version', { Daemon: '0.1.0+devnet+api2.3.0', Local: '0.1.0-test' }],
  ])('%s', async (command, expected) => {
    for (const args of [
      [...command.split(' '), '--json'],
      ['--json', ...command.split(' ')],
    ]) {
      const ran = await petrel(args, leadingTo(node))
      expect(ran.err).toBe('')
      expect(JSON.parse(ran.out)).toEqual(expected)
    }
  })

  it('prints an error as without it', async () => {
    const ran = await petrel(['--json', 'chain', 'getmessage', CID], leadingTo(node))
    expect(ran).toMatchObject({ code: 1, out: '' })
    expect(ran.err).toMatch(/^ERROR: /)
  })

  it('a stream is one document a line', async () => {
    const step = (height: number): Json => ({
      Reverted: [],
      Applied: [{ Height: height, TipSet: [cid(CID)], Transfers: [] }],
      Position: [cid(`bafy${height}`)],
    })
    const ends = [cid('bafy8')]
    node.answers = {
      ...node.answers,
      ChainGetTransfersSince: (from) => {
        const [last] = from as { '/': string }[]
        if (last === undefined) return step(7)
        return last['/'] === 'bafy7' ? step(8) : { Reverted: [], Applied: [], Position: ends }
      },
    }
    const ran = await petrel(['transfers', '--json'], leadingTo(node))
    expect(
      ran.out
        .trimEnd()
        .split('\n')
        .map((one) => JSON.parse(one) as unknown),
    ).toEqual([step(7), step(8)])
    // Nothing new is no document.
    expect(await petrel(['--json', 'transfers', '--since', 'bafy8'], leadingTo(node))).toMatchObject({
      code: 0,
      out: '',
    })
  })

  it('info names the parts', async () => {
    const ran = await petrel(['info', '--json'], leadingTo(node))
    expect(JSON.parse(ran.out)).toMatchObject({ Network: 'testnetnet', Chain: { Height: 7 }, Wallet: { Addresses: 1 } })
  })
})

describe('0x addresses', () => {
  it.each([
    [['wallet', 'balance'], [], 'WalletBalance'],
    [['wallet', 'sign'], ['00'], 'WalletSign'],
    [['wallet', 'verify'], ['00', '01ab'], 'WalletVerify'],
    [['wallet', 'export'], [], 'WalletExport'],
    [['wallet', 'set-default'], [], 'WalletSetDefault'],
    [['wallet', 'delete'], [], 'WalletDelete'],
    [['state', 'get-actor'], [], 'StateGetActor'],
    [['msig', 'inspect'], [], 'StateGetActor'],
    [['paych', 'status'], [], 'PaychAvailableFunds'],
  ])('are translated: %j', async (command, rest, method) => {
    node.calls.length = 0
    await petrel([...command, '0x9c8707d7ff615e13ce8b2d977e881ec15ae55eba', ...rest], leadingTo(node))
    const asked = node.calls.find((call) => call.method === method || call.method === 'StateGetActor')
      ?.params[0] as string
    // The pair is in data/golden/nv28/chain.jsonl.zst, eth_getTransactionByHash.
    expect(asked.slice(1)).toBe('410ftsdqpv77mfpbhtulfwlx5ca6yfnokxv2vphjtoy')
  })
})

describe('colours', () => {
  it('are on a terminal alone, and not against NO_COLOR', async () => {
    const options = { ...leadingTo(node), now: 1_700_000_000_000 }
    const coloured = (await petrel(['info'], { ...options, isTty: true })).out
    expect(coloured).toContain('\u001b[32msync ok\u001b[0m')
    expect((await petrel(['info'], options)).out).toContain('[sync ok]')
    const refused = { ...options, env: { ...options.env, NO_COLOR: '1' }, isTty: true }
    expect((await petrel(['info'], refused)).out).toContain('[sync ok]')
  })
})

describe('completion', () => {
  const script = async (shell: string): Promise<string> => (await petrel(['completion', shell])).out

  it.skipIf(!existsSync('/bin/bash'))('bash completes commands of a group, and options', async () => {
    const complete = async (...words: string[]): Promise<string[]> => {
      const program = `${await script('bash')}
COMP_WORDS=(petrel ${words.map((one) => `'${one}'`).join(' ')}); COMP_CWORD=${words.length}; _petrel; printf '%s\\n' "\${COMPREPLY[@]}"`
      return (await run('/bin/bash', ['-c', program])).stdout.trim().split('\n')
    }
    expect(await complete('wal')).toEqual(['wallet'])
    expect(await complete('wallet', 'ba')).toEqual(['balance'])
    expect(await complete('--repo', '/x', 'msig', 'swap-p')).toEqual(['swap-propose'])
    expect(await complete('wallet', 'market', '')).toContain('withdraw')
    expect(await complete('send', '--gas-l')).toEqual(['--gas-limit'])
  })

  it('zsh and fish name every command', async () => {
    const [zsh, fish] = [await script('zsh'), await script('fish')]
    for (const word of ['msig', 'evm', 'wait-api', 'swap-propose', '--gas-limit']) expect(zsh).toContain(word)
    for (const word of ['msig', 'evm', 'wait-api', 'swap-propose', '-l gas-limit']) expect(fish).toContain(word)
    expect((await petrel(['completion', 'tcsh'])).code).toBe(2)
  })
})
