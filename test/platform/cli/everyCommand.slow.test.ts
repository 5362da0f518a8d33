/** Every command of the tree with `--json`, against a local chain: one document on standard output, or none. */
import type { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createProgram } from '../../../platform/cli/program.ts'
import { type DevnetProcess, startDevnetProcess } from '../../clients/devnetProcess.ts'
import { type Answer, RpcClient } from '../../support/rpcClient.ts'
import { petrel } from './fakeNode.ts'

const TIMEOUT_MS = 120_000
const PEER = '12D3KooWBF8cpp65hp2u9LK5mh19x67ftAam84z9LsfaquTDSBpt'

/** What commands are about. */
interface Chain {
  readonly own: string
  readonly other: string
  readonly spare: string
  readonly message: string
  readonly block: string
  readonly miner: string
  readonly msig: string
}

/** Arguments of the commands, by name, in the order in which they run. */
const COMMANDS: Readonly<Record<string, (chain: Chain) => string>> = {
  'sync status': () => '',
  'sync check-bad': ({ block }) => block,
  'chain head': () => '',
  'chain list': () => '--count 2',
  'chain get-block': ({ block }) => block,
  'chain getmessage': ({ message }) => message,
  'chain read-obj': ({ block }) => block,
  'chain stat-obj': ({ message }) => message,
  'chain get': () => '/pstate',
  'chain decode params': ({ msig }) => `${msig} 3 ggBA --encoding base64`,
  'chain encode params': ({ msig }) => `${msig} 3 {"ID":0,"ProposalHash":null}`,
  'chain gas-price': () => '',
  'wallet new': () => 'bls',
  'wallet list': () => '--id --market',
  'wallet balance': ({ own }) => own,
  'wallet default': () => '',
  'wallet set-default': ({ own }) => own,
  'wallet export': ({ own }) => own,
  'wallet sign': ({ own }) => `${own} 00ff`,
  'wallet delete': ({ spare }) => spare,
  'wallet watch-only': () => 'f1abjxfbp274xpdqcpuaykwkfb43omjotacm2p3za',
  send: ({ other }) => `${other} 1 --wait --confidence 0`,
  'mpool pending': () => '',
  'mpool find': () => '',
  'mpool stat': () => '',
  'mpool gas-perf': () => '--all',
  'mpool why': ({ message }) => message,
  'mpool clear': () => '--really-do-it',
  'mpool config': () => '',
  'state get-actor': ({ own }) => own,
  'state lookup': ({ own }) => own,
  'state read-state': ({ msig }) => msig,
  'state search-msg': ({ message }) => message,
  'state wait-msg': ({ message }) => message,
  'state replay': ({ message }) => message,
  'state compute-state': () => '',
  'state network-version': () => '',
  'state list-actors': () => '',
  'state list-miners': () => '',
  'state list-messages': ({ own }) => `--from ${own}`,
  'state exec-trace': ({ message }) => message,
  'state call': ({ own, other }) => `${other} 0 --from ${own}`,
  'state power': ({ miner }) => miner,
  'state market balance': ({ own }) => own,
  'state circulating-supply': () => '',
  'state actor-cids': () => '',
  'state transfers': () => '',
  'net peers': () => '',
  'net listen': () => '',
  'net id': () => '',
  'net scores': () => '',
  'net reachability': () => '',
  'net bandwidth': () => '',
  'net block add peer': () => PEER,
  'net block add ip': () => '10.1.2.3',
  'net block add subnet': () => '10.1.0.0/16',
  'net block list': () => '',
  'net block remove peer': () => PEER,
  'net block remove ip': () => '10.1.2.3',
  'net block remove subnet': () => '10.1.0.0/16',
  'net stat': () => 'all',
  'net limit': () => 'system',
  'net protect': () => PEER,
  'net list-protected': () => '',
  'net unprotect': () => PEER,
  'auth create-token': () => '--perm read',
  'auth api-info': () => '--perm read',
  'actors list': () => '',
  'proofs list': () => '',
  transfers: () => '--confidence 1',
  version: () => '',
  'msig create': ({ own, other }) => `${own} ${other} --required 1`,
  'msig inspect': ({ msig }) => msig,
  'msig propose': ({ msig, other }) => `${msig} ${other} 0`,
  'msig add-propose': ({ msig, spare }) => `${msig} ${spare}`,
  'msig vested': ({ msig }) => msig,
  'paych list': () => '',
  'paych status-by-from-to': ({ own, other }) => `${own} ${other}`,
  'evm stat': ({ own }) => own,
  info: () => '',
  status: () => '--chain',
  'log list': () => '',
  'log set-level': () => 'info',
  'log alerts': () => '',
  'wait-api': () => '',
}

/** Those that this chain has nothing for, each with the reason. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'sync wait': 'the clock of an instant chain runs ahead',
  'sync mark-bad': 'marks the chain itself',
  'sync unmark-bad': 'needs a marked block',
  'sync checkpoint': 'refused without peers',
  'chain sethead': 'moves the head',
  'chain export': 'writes a file: test/pack',
  'wallet market add': 'the market needs the Wasm actors',
  'wallet market withdraw': 'the market needs the Wasm actors',
  'wallet import': 'commands.test.ts',
  'wallet verify': 'commands.test.ts',
  'mpool replace': 'commands.test.ts; needs a message that waits',
  'mpool sub': 'a stream: commands.test.ts',
  'mpool push': 'files: by hand, with a keystore of its own',
  'wallet watch': 'a stream, until it is interrupted',
  'state sector': 'a local chain has no sectors',
  'net ping': 'net.test.ts',
  'net connect': 'net.test.ts',
  'net disconnect': 'net.test.ts',
  'net find-peer': 'net.test.ts',
  'auth revoke': 'takes the token away',
  'actors import': 'files',
  'actors find': 'a chain of native actors has no bundle',
  'actors fetch': 'the internet',
  'checkpoint make': 'F3',
  'proofs import': 'files',
  'proofs fetch': 'the internet',
  'index backfill': 'a database',
  'snapshot export': 'files',
  'snapshot import': 'files',
  'snapshot info': 'files',
  'snapshot fetch': 'the internet',
  'snapshot list': 'the internet',
  'msig approve': 'one signer is enough here',
  'msig cancel': 'one signer is enough here',
  'msig add-approve': 'one signer is enough here',
  'msig add-cancel': 'one signer is enough here',
  'msig swap-propose': 'as add-propose',
  'msig swap-approve': 'one signer is enough here',
  'msig swap-cancel': 'one signer is enough here',
  'msig propose-remove': 'as add-propose',
  'msig propose-threshold': 'as add-propose',
  'msig lock-propose': 'as add-propose',
  'paych add-funds': 'channels need the Wasm actors',
  'paych voucher create': 'channels need the Wasm actors',
  'paych voucher check': 'channels need the Wasm actors',
  'paych voucher add': 'channels need the Wasm actors',
  'paych voucher list': 'channels need the Wasm actors',
  'paych voucher best-spendable': 'channels need the Wasm actors',
  'paych voucher submit': 'channels need the Wasm actors',
  'paych settle': 'channels need the Wasm actors',
  'paych status': 'channels need the Wasm actors',
  'paych collect': 'channels need the Wasm actors',
  'evm deploy': 'contracts need the Wasm actors',
  'evm invoke': 'contracts need the Wasm actors',
  'evm call': 'contracts need the Wasm actors',
  'evm bytecode': 'contracts need the Wasm actors',
  completion: 'prints a script',
  doctor: 'files of a home',
  backup: 'files of a home: backup.slow.test.ts',
  restore: 'makes a home: backup.slow.test.ts',
}

function leaves(command: Command, path: string[] = []): string[] {
  if (command.commands.length === 0) return [path.join(' ')]
  return command.commands.flatMap((one) => leaves(one, [...path, one.name()]))
}

describe('every command', { timeout: TIMEOUT_MS }, () => {
  let devnet: DevnetProcess
  let chain: Chain
  beforeAll(async () => {
    devnet = await startDevnetProcess()
    const node = new RpcClient(devnet.url, devnet.token)
    const own: string = await node.call('WalletDefaultAddress')
    const other: string = await node.call('WalletNew', 'secp256k1')
    const gas = { Nonce: 0, GasLimit: 0, GasFeeCap: '0', GasPremium: '0' }
    const sent = { Version: 0, To: other, From: own, Value: '1000000000000000000', Method: 0, Params: null, ...gas }
    const { CID: message }: Answer = await node.call('MpoolPushMessage', sent, null)
    await node.call('StateWaitMsg', message, 0, -1, true)
    const drafted: Answer = await node.call('MsigCreate', 1, [own, other], 0, '0', own, '0')
    const { CID: created }: Answer = await node.call('MpoolPushMessage', drafted.Message, null)
    const msig = ((await node.call('StateWaitMsg', created, 0, -1, true)) as Answer).ReturnDec.IDAddress as string
    const head: Answer = await node.call('DevnetMine', 6, null)
    const [miner] = (await node.call('StateListMiners', [])) as [string]
    const spare: string = await node.call('WalletNew', 'bls')
    chain = { own, other, spare, message: message['/'], block: head.Cids[0]['/'], miner, msig }
  }, TIMEOUT_MS)
  afterAll(() => devnet?.close())

  it('is here', () => {
    const io = { out: () => undefined, err: () => undefined } as unknown as Parameters<typeof createProgram>[0]['io']
    const known = [...Object.keys(COMMANDS), ...Object.keys(ELSEWHERE)]
    // `config`, `store` and their like are about files of the home.
    const tree = leaves(createProgram({ io, version: 'test' }).program).filter((one) => !/^(config|store)\b/.test(one))
    expect(tree.filter((one) => !known.includes(one))).toEqual([])
    expect(known.filter((one) => !tree.includes(one))).toEqual([])
  })

  it.each(Object.keys(COMMANDS))('%s', async (name) => {
    const text = (COMMANDS[name] as (typeof COMMANDS)[string])(chain)
    const confidence = name.startsWith('msig') ? ['--confidence', '0'] : []
    const [group = '', ...rest] = name.split(' ')
    const args = [group, ...confidence, ...rest, ...text.split(' ').filter((one) => one !== '')]
    const ran = await petrel(['--json', ...args], {
      env: { FULLNODE_API_INFO: `${devnet.token}:${devnet.url}` },
      now: Date.now(),
    })
    expect(ran).toMatchObject({ code: 0, err: '' })
    if (ran.out !== '') JSON.parse(ran.out)
    else expect(['net', 'sync']).toContain(group)
  })
})
