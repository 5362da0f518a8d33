/** Output of the commands in Lotus' layout (reference/cli.md sections 3 to 7). */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Json } from '../../../src/codec/jsonText.ts'
import { type Answers, type FakeNode, leadingTo, petrel, Refusal, startFakeNode } from './fakeNode.ts'

const FIRST = 't15hcarwznrb4xdi5e7s73ml37jj6sdojuhqdl4lq'
const SECOND = 't3wcdz7wwbmh5eytaaizyygos7vxz3vhtb2qafzl5jvaiwhgpjliemadboipa5ilooc3cnvgbxw7pwsrxhvfnq'
const ETHEREUM = 't410ftsdqpv77mfpbhtulfwlx5ca6yfnokxv2vphjtoy'
/** The 20 bytes of ETHEREUM. @see data/golden/nv28/chain.jsonl.zst eth_getTransactionByHash, `from` */
const ETHEREUM_HEX = '0x9c8707d7ff615e13ce8b2d977e881ec15ae55eba'
const NOW = 1_700_000_000_000
const BLOCK = 'bafy2bzacecmda75ovposbdateg7eyhwij65zklgyijgcjwynlklmqazpwlhba'
const OTHER_BLOCK = 'bafy2bzacedswlcz5ddgqnyo3sak3jmhmkxashisnlpq6ujgyhe4mlobzpnhs6'

const cid = (text: string): Json => ({ '/': text })

function block(height: number, miner: string, timestamp: number): { [key: string]: Json } {
  return {
    Miner: miner,
    Height: height,
    Timestamp: timestamp,
    ParentBaseFee: '100',
    ParentWeight: '5120',
    Parents: height === 0 ? [] : [cid(`bafy${height - 1}`)],
  }
}

function tipset(height: number): { [key: string]: Json } {
  return {
    Cids: [cid(`bafy${height}`)],
    Blocks: [block(height, 't01000', 1_700_000_000 - 30 * (100 - height))],
    Height: height,
  }
}

let node: FakeNode
const run = (args: string[], options = {}) => petrel(args, { ...leadingTo(node), now: NOW, ...options })
const answer = (answers: Answers): void => {
  node.answers = answers
}
const methods = (): string[] => node.calls.map((call) => call.method)
const lastOf = (method: string) => node.calls.filter((call) => call.method === method).at(-1)

beforeAll(async () => {
  node = await startFakeNode()
})
beforeEach(() => {
  node.calls.length = 0
})
afterAll(() => node.close())

describe('wallet', () => {
  it('list: a table without empty columns; an unknown actor has nothing', async () => {
    answer({
      WalletList: [FIRST, SECOND],
      WalletHas: (address) => address === SECOND,
      WalletDefaultAddress: SECOND,
      StateGetActor: (address) => {
        if (address === FIRST) throw new Refusal('resolution lookup failed (x): resolve address x: actor not found')
        return {
          Code: cid('bafycode'),
          Head: cid('bafyhead'),
          Nonce: 7,
          Balance: '1500000000000000000',
          DelegatedAddress: null,
        }
      },
      StateLookupID: (address) => {
        if (address === FIRST) throw new Refusal('actor not found', 11)
        return 't01005'
      },
    })
    expect((await run(['wallet', 'list'])).out).toBe(
      [
        `Address${' '.repeat(SECOND.length - 5)}Balance  Nonce  Default  Watch-only`,
        `${FIRST}${' '.repeat(SECOND.length - FIRST.length + 2)}0 FIL    0               X`,
        `${SECOND}  1.5 FIL  7      X`,
        '',
      ].join('\n'),
    )
    const withId = (await run(['wallet', 'list', '-i'])).out
    expect(withId.split('\n')[0]).toMatch(/^Address +ID +Balance +Nonce +Default +Watch-only$/)
    expect(withId).toContain('t01005')
    expect((await run(['wallet', 'list', '-a'])).out).toBe(`${FIRST}\n${SECOND}\n`)
  })

  it('list: a row that fails has its error on a line of its own', async () => {
    answer({
      WalletList: [FIRST],
      StateGetActor: () => {
        throw new Refusal('state is missing')
      },
    })
    expect((await run(['wallet', 'list'])).out).toBe(`Address\n${FIRST}\n  Error: state is missing\n`)
  })

  it('new, default, set-default, delete', async () => {
    answer({
      WalletNew: (type) => (type === 'bls' ? SECOND : FIRST),
      WalletDefaultAddress: FIRST,
      WalletSetDefault: null,
      WalletDelete: null,
    })
    expect((await run(['wallet', 'new'])).out).toBe(`${FIRST}\n`)
    expect(lastOf('WalletNew')?.params).toEqual(['secp256k1'])
    expect((await run(['wallet', 'new', 'bls'])).out).toBe(`${SECOND}\n`)
    expect((await run(['wallet', 'default'])).out).toBe(`${FIRST}\n`)
    expect((await run(['wallet', 'set-default', SECOND])).out).toBe(`Default address set to: ${SECOND}\n`)
    expect((await run(['--repo', '/home/p', 'wallet', 'delete', SECOND])).out).toBe(
      `Soft deleting address: ${SECOND}\n` +
        'Hard deletion of the address in `/home/p/keystore` is needed for permanent removal\n',
    )
    expect(lastOf('WalletDelete')?.params).toEqual([SECOND])
  })

  it('balance warns of zero while the head is old', async () => {
    answer({ WalletBalance: '0', WalletDefaultAddress: FIRST, ChainHead: tipset(50) })
    expect((await run(['wallet', 'balance'])).out).toBe('0 FIL (warning: may display 0 if chain sync in progress)\n')
    expect(lastOf('WalletBalance')?.params).toEqual([FIRST])
    answer({ WalletBalance: '0', ChainHead: tipset(100) })
    expect((await run(['wallet', 'balance', SECOND])).out).toBe('0 FIL\n')
    answer({ WalletBalance: '10000000000000000001', ChainHead: tipset(1) })
    expect((await run(['wallet', 'balance', SECOND])).out).toBe('10.000000000000000001 FIL\n')
  })

  it('export and import in each format', async () => {
    const key = { Type: 'secp256k1', PrivateKey: 'CX6161hdK+PnNpjwW59u+ZLnGfuWXrFkSKpjAZ0jJkg=' }
    answer({ WalletExport: key, WalletImport: FIRST, WalletSetDefault: null })
    const json = JSON.stringify(key)
    const raw = Buffer.from(key.PrivateKey, 'base64').toString('hex')
    const hex = Buffer.from(json).toString('hex')
    expect((await run(['wallet', 'export', FIRST])).out).toBe(`${hex}\n`)
    expect((await run(['wallet', 'export', FIRST, '--format', 'json-lotus'])).out).toBe(`${json}\n`)
    expect((await run(['wallet', 'export', FIRST, '--format', 'hex-eth'])).out).toBe(`0x${raw}\n`)
    const done = { code: 0, out: `imported key ${FIRST} successfully!\n`, err: '' }
    expect(await run(['wallet', 'import', '/key'], { files: { '/key': `${hex}\n` } })).toEqual(done)
    expect(lastOf('WalletImport')?.params).toEqual([key])
    expect(await run(['wallet', 'import', '--format', 'json-lotus'], { stdin: json })).toEqual(done)
    expect(lastOf('WalletImport')?.params).toEqual([key])
    const gfc = JSON.stringify({ KeyInfo: [{ PrivateKey: key.PrivateKey, SigType: 1 }] })
    expect(await run(['wallet', 'import', '-', '--format', 'gfc-json'], { stdin: gfc })).toEqual(done)
    expect(lastOf('WalletImport')?.params).toEqual([key])
    expect(await run(['wallet', 'import', '--format', 'hex-eth', '--as-default'], { stdin: `0x${raw}` })).toEqual(done)
    expect(lastOf('WalletImport')?.params).toEqual([{ ...key, Type: 'delegated' }])
    expect(lastOf('WalletSetDefault')?.params).toEqual([FIRST])
    const bad = await run(['wallet', 'import'], { stdin: 'zz' })
    expect(bad).toMatchObject({ code: 2, err: 'ERROR: key: "zz" is not hexadecimal\n' })
  })

  it('sign and verify wrap the bytes (FRC-0102) unless --raw', async () => {
    answer({ WalletSign: { Type: 1, Data: Buffer.alloc(65, 0xab).toString('base64') }, WalletVerify: true })
    const signature = `01${'ab'.repeat(65)}`
    expect((await run(['wallet', 'sign', FIRST, '68656c6c6f'])).out).toBe(`${signature}\n`)
    const wrapped = Buffer.from('\x19Filecoin Signed Message:\n5hello', 'latin1').toString('base64')
    expect(lastOf('WalletSign')?.params).toEqual([FIRST, wrapped])
    await run(['wallet', 'sign', '--raw', FIRST, '68656c6c6f'])
    expect(lastOf('WalletSign')?.params).toEqual([FIRST, 'aGVsbG8='])
    expect(await run(['wallet', 'verify', FIRST, '68656c6c6f', signature])).toEqual({
      code: 0,
      out: 'valid\n',
      err: '',
    })
    expect(lastOf('WalletVerify')?.params).toEqual([
      FIRST,
      wrapped,
      { Type: 1, Data: Buffer.alloc(65, 0xab).toString('base64') },
    ])
    answer({ WalletVerify: false })
    const invalid = await run(['wallet', 'verify', '--raw', FIRST, '68656c6c6f', signature])
    expect(invalid).toMatchObject({ code: 1, out: 'invalid\n' })
  })
})

describe('send', () => {
  const estimated = (message: Json): Json => ({
    ...(message as object),
    GasLimit: 1000,
    GasFeeCap: '200',
    GasPremium: '100',
  })
  const happy: Answers = {
    ChainHead: tipset(100),
    WalletDefaultAddress: FIRST,
    GasEstimateMessageGas: estimated,
    MpoolCheckMessages: [[{ Cid: cid('bafymsg'), Code: 10, OK: true, Err: '', Hint: {} }]],
    MpoolCheckPendingMessages: null,
    MpoolPushMessage: (message) => ({
      Message: message as Json,
      Signature: { Type: 1, Data: '' },
      CID: cid('bafysigned'),
    }),
    WalletSignMessage: (_address, message) => ({
      Message: message as Json,
      Signature: { Type: 1, Data: '' },
      CID: cid('bafyown'),
    }),
    MpoolPush: cid('bafyown'),
  }

  it('estimates, checks, pushes', async () => {
    answer(happy)
    expect((await run(['send', SECOND, '1.5'])).out).toBe(
      `Sending message from: ${FIRST}\nSending message to: ${SECOND}\nUsing Method: 0\nbafysigned\n`,
    )
    expect(methods()).toEqual([
      'WalletDefaultAddress',
      'GasEstimateMessageGas',
      'MpoolCheckMessages',
      'MpoolCheckPendingMessages',
      'MpoolPushMessage',
    ])
    const call = lastOf('MpoolPushMessage')
    expect(call?.path).toBe('/rpc/v1')
    expect(call?.params).toEqual([
      {
        Version: 0,
        To: SECOND,
        From: FIRST,
        Nonce: 0,
        Value: '1500000000000000000',
        GasLimit: 1000,
        GasFeeCap: '200',
        GasPremium: '100',
        Method: 0,
        Params: null,
      },
      null,
    ])
  })

  it('a 0x recipient gets InvokeEVM at its f410 address', async () => {
    answer(happy)
    expect((await run(['send', ETHEREUM_HEX, '10 attoFIL'])).out).toBe(
      `Sending message from: ${FIRST}\nSending message to: ${ETHEREUM}\nUsing Method: 3844450837\nbafysigned\n`,
    )
    expect(lastOf('MpoolPushMessage')?.params[0]).toMatchObject({
      To: ETHEREUM,
      Method: 3844450837,
      Value: '10',
      Params: null,
    })
    // The same address written as f410 keeps method 0 for an f1 sender.
    await run(['send', ETHEREUM, '1'])
    expect(lastOf('MpoolPushMessage')?.params[0]).toMatchObject({ To: ETHEREUM, Method: 0 })
    // A masked ID is that actor.
    await run(['send', `0xff${'00'.repeat(11)}00000000000003e8`, '1'])
    expect(lastOf('MpoolPushMessage')?.params[0]).toMatchObject({ To: 't01000', Method: 3844450837 })
    await run(['send', '--params-hex', '0102', ETHEREUM_HEX, '0'])
    expect(lastOf('MpoolPushMessage')?.params[0]).toMatchObject({
      Params: Buffer.from([0x42, 1, 2]).toString('base64'),
    })
    expect(await run(['send', '--method', '2', ETHEREUM_HEX, '0'])).toMatchObject({
      code: 2,
      err: 'ERROR: messages from f410f addresses may not specify a method number\n',
    })
  })

  it('a delegated sender gets InvokeEVM, too, and other recipients by ID', async () => {
    answer({ ...happy, StateLookupID: 't01005' })
    await run(['send', '--from', ETHEREUM, SECOND, '1'])
    expect(lastOf('MpoolPushMessage')?.params[0]).toMatchObject({ From: ETHEREUM, To: 't01005', Method: 3844450837 })
    await run(['send', '--from-eth-addr', ETHEREUM_HEX, 't010', '0', '--params-hex', '00'])
    expect(lastOf('MpoolPushMessage')?.params[0]).toMatchObject({ From: ETHEREUM, To: 't010', Method: 4 })
  })

  it('own numbers: gas, method, nonce', async () => {
    answer({ ...happy, GasEstimateMessageGas: (message: Json) => message })
    const ran = await run([
      'send',
      '--gas-premium',
      '5',
      '--gas-feecap',
      '6',
      '--gas-limit',
      '7',
      '--method',
      '2',
      '--nonce',
      '9',
      SECOND,
      '1',
    ])
    expect(ran.out).toContain('Using Method: 2\nbafyown\n')
    expect(lastOf('MpoolPush')?.params[0]).toMatchObject({
      Message: { Nonce: 9, GasLimit: 7, GasFeeCap: '6', GasPremium: '5', Method: 2 },
    })
    expect(lastOf('MpoolCheckMessages')?.params).toMatchObject([[{ ValidNonce: true }]])
  })

  it('stops at a failed check unless forced', async () => {
    answer({
      ...happy,
      MpoolCheckMessages: [[{ Cid: cid('bafymsg'), Code: 12, OK: false, Err: 'insufficient balance', Hint: {} }]],
    })
    const ran = await run(['send', SECOND, '1'])
    expect(ran.code).toBe(1)
    expect(ran.out).toContain(
      'Following checks have failed:\ncurrent message failed a check MessageBalance: insufficient balance\n',
    )
    expect(methods()).not.toContain('MpoolPushMessage')
    expect((await run(['--force-send', 'send', SECOND, '1'])).code).toBe(0)
    expect((await run(['send', '--force', SECOND, '1'])).code).toBe(0)
  })

  it('a CSV of transfers', async () => {
    answer({ ...happy, WalletBalance: '2000000000000000000' })
    const files = { '/pay.csv': `Recipient,FIL,Method,Params\n${SECOND},1,0,nil\n${ETHEREUM},0.5,0,00ff\n` }
    expect((await run(['send', '--csv', '/pay.csv'], { files })).out).toBe(
      'Sent message 0: bafysigned\nSent message 1: bafysigned\n',
    )
    expect(lastOf('MpoolPushMessage')?.params[0]).toMatchObject({ To: ETHEREUM, Params: 'AP8=' })
    answer({ ...happy, WalletBalance: '1000000000000000000' })
    expect((await run(['send', '--csv', '/pay.csv'], { files })).err).toMatch(/^ERROR: insufficient funds at sender/)
    const bad = await run(['send', '--csv', '/bad.csv'], { files: { '/bad.csv': 'a,b\n' } })
    expect(bad.err).toBe('ERROR: csv: expected the header Recipient,FIL,Method,Params\n')
  })
})

describe('chain', () => {
  const byCid: Answers = {
    ChainHead: tipset(100),
    ChainGetTipSet: (key) => tipset(Number(((key as { '/': string }[])[0] as { '/': string })['/'].slice(4))),
    ChainGetTipSetByHeight: (height) => tipset(height as number),
  }

  it('list: oldest first, in the format asked for', async () => {
    answer(byCid)
    const lines = (await run(['chain', 'list', '--count', '3'])).out.split('\n')
    expect(lines).toHaveLength(4)
    expect(lines[0]).toMatch(/^98: \([A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d\) \[ bafy98: t01000, \]$/)
    expect(lines[2]).toMatch(/^100: /)
    expect((await run(['chain', 'list', '--epoch', '1', '--format', '<epoch> <weight> <tipset>'])).out).toBe(
      '0 5120 [bafy0]\n1 5120 [bafy1]\n',
    )
  })

  it('getblock adds messages and receipts', async () => {
    answer({
      ...byCid,
      ChainGetBlock: block(7, 't01000', 1),
      ChainGetBlockMessages: { BlsMessages: [], SecpkMessages: [], Cids: [] },
      ChainGetParentReceipts: [],
      ChainGetParentMessages: [{ Cid: cid('bafyparent'), Message: {} }],
    })
    const whole = JSON.parse((await run(['chain', 'getblock', 'bafy7'])).out) as Record<string, unknown>
    expect(whole).toMatchObject({
      Miner: 't01000',
      BlsMessages: [],
      ParentReceipts: [],
      ParentMessages: [{ '/': 'bafyparent' }],
    })
    expect(lastOf('ChainGetBlock')?.params).toEqual([cid('bafy7')])
    const raw = JSON.parse((await run(['chain', 'get-block', '--raw', 'bafy7'])).out) as Record<string, unknown>
    expect(raw).toEqual(block(7, 't01000', 1))
  })

  it('getmessage', async () => {
    answer({ ChainGetMessage: { Version: 0, Nonce: 9007199254740993n, CID: cid('bafymsg') } })
    expect((await run(['chain', 'getmessage', 'bafymsg'])).out).toContain('"Nonce": 9007199254740993')
  })
})

describe('sync', () => {
  const worker = (stage: number, extra: { [key: string]: Json } = {}): Json => ({
    WorkerID: 3,
    Base: tipset(90),
    Target: tipset(100),
    Stage: stage,
    Height: 95,
    Start: '2023-11-14T22:12:16.5Z',
    End: '0001-01-01T00:00:00Z',
    Message: '',
    ...extra,
  })

  it('status', async () => {
    answer({ SyncState: { ActiveSyncs: [worker(3)], VMApplied: 0 } })
    expect((await run(['sync', 'status'])).out).toBe(
      'sync status:\nworker 3:\n\tBase:\t[bafy90]\n\tTarget:\t[bafy100] (100)\n\tHeight diff:\t10\n' +
        '\tStage: message sync\n\tHeight: 95\n\tElapsed: 1m3.5s\n',
    )
    answer({
      SyncState: {
        ActiveSyncs: [worker(5, { Base: null, Target: null, Start: '0001-01-01T00:00:00Z', Message: 'no peers' })],
        VMApplied: 0,
      },
    })
    expect((await run(['sync', 'status'])).out).toBe(
      'sync status:\nworker 3:\n\tBase:\t[]\n\tTarget:\t[] (0)\n\tHeight diff:\t0\n\tStage: error\n\tHeight: 95\n\tError: no peers\n',
    )
    answer({ SyncState: { ActiveSyncs: null, VMApplied: 0 } })
    expect((await run(['sync', 'status'])).out).toBe('sync status:\n')
  })

  it('bad blocks: marked, asked for, unmarked', async () => {
    answer({
      SyncMarkBad: null,
      SyncUnmarkBad: null,
      SyncUnmarkAllBad: null,
      SyncCheckBad: (given) => ((given as { '/': string })['/'] === BLOCK ? 'manually marked bad' : ''),
    })
    expect(await run(['sync', 'mark-bad', BLOCK])).toMatchObject({ code: 0, out: '' })
    expect(lastOf('SyncMarkBad')?.params).toEqual([cid(BLOCK)])
    expect((await run(['sync', 'check-bad', BLOCK])).out).toBe('manually marked bad\n')
    expect((await run(['sync', 'check-bad', OTHER_BLOCK])).out).toBe('block was not marked as bad\n')
    expect(await run(['sync', 'unmark-bad', BLOCK])).toMatchObject({ code: 0, out: '' })
    expect(lastOf('SyncUnmarkBad')?.params).toEqual([cid(BLOCK)])
    expect(await run(['sync', 'unmark-bad', '--all'])).toMatchObject({ code: 0, out: '' })
    expect(lastOf('SyncUnmarkAllBad')?.params).toEqual([])
    expect(await run(['sync', 'check-bad'])).toMatchObject({
      code: 2,
      err: 'ERROR: must specify block cid to check\n',
    })
    expect((await run(['sync', 'mark-bad', 'nothing'])).err).toContain('ERROR: failed to decode input as a cid: ')
  })

  it('checkpoint: by CIDs or by epoch', async () => {
    answer({ SyncCheckpoint: null, ChainGetTipSetByHeight: (height) => tipset(Number(height)) })
    expect(await run(['sync', 'checkpoint', BLOCK, OTHER_BLOCK])).toMatchObject({ code: 0, out: '' })
    expect(lastOf('SyncCheckpoint')?.params).toEqual([[cid(BLOCK), cid(OTHER_BLOCK)]])
    expect(await run(['sync', 'checkpoint', '--epoch', '77'])).toMatchObject({ code: 0, out: '' })
    expect(lastOf('SyncCheckpoint')?.params).toEqual([[cid('bafy77')]])
    expect((await run(['sync', 'checkpoint'])).err).toBe(
      'ERROR: must pass cids for tipset to set as head, or specify epoch flag\n',
    )
  })

  it('wait redraws until the head is recent', async () => {
    let asked = 0
    answer({
      SyncState: () => ({ ActiveSyncs: [worker(asked < 2 ? 3 : 4)], VMApplied: 10 * asked }),
      ChainHead: () => tipset(asked++ < 2 ? 50 : 100),
    })
    const ran = await run(['sync', 'wait'], { isTty: true })
    expect(ran.code).toBe(0)
    expect(ran.out).toContain('Worker: 3; Base: 90; Target: 100 (diff: 10)\n')
    expect(ran.out).toContain('State: message sync; Current Epoch: 95; Todo: 5, ETA: \n')
    expect(ran.out).toContain('Validated 10 messages (40 per second)\n')
    expect(ran.out).toContain('\r\u001b[2K\u001b[A')
    expect(ran.out.endsWith('\nDone!\n')).toBe(true)
  })

  it('wait writes plain lines where nobody looks', async () => {
    let asked = 0
    answer({
      SyncState: () => ({ ActiveSyncs: [worker(asked < 2 ? 3 : 4)], VMApplied: 10 * asked }),
      ChainHead: () => tipset(asked++ < 2 ? 50 : 100),
    })
    const { out } = await run(['sync', 'wait'])
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/)
    expect(out).toContain('State: message sync; Current Epoch: 95; Todo: 5, ETA: \n')
    expect(out.endsWith('\nDone!\n')).toBe(true)
  })

  it('wait ends with Ctrl-C', async () => {
    answer({ SyncState: { ActiveSyncs: [worker(3)], VMApplied: 0 }, ChainHead: tipset(1) })
    const controller = new AbortController()
    const onSleep = (): void => controller.abort()
    const ran = await run(['sync', 'wait', '--watch'], { signal: controller.signal, onSleep })
    expect(ran).toMatchObject({ code: 0, err: '' })
    expect(ran.out.endsWith('\nExit by user\n')).toBe(true)
  })
})

describe('mpool', () => {
  const pending = (from: string, nonce: number, feeCap = '200'): { [key: string]: Json } => ({
    Message: {
      Version: 0,
      To: SECOND,
      From: from,
      Nonce: nonce,
      Value: '1',
      GasLimit: 1000,
      GasFeeCap: feeCap,
      GasPremium: '100',
      Method: 0,
      Params: null,
      CID: cid(`bafyunsigned${nonce}`),
    },
    Signature: { Type: 1, Data: '' },
    CID: cid(`bafysigned${nonce}`),
  })

  it('pending and find filter', async () => {
    const all = [pending(FIRST, 1), pending(SECOND, 2)]
    answer({ MpoolPending: all, WalletList: [FIRST] })
    expect((await run(['mpool', 'pending', '--cids'])).out).toBe('bafysigned1\nbafysigned2\n')
    expect((await run(['mpool', 'pending', '--cids', '--local'])).out).toBe('bafysigned1\n')
    expect((await run(['mpool', 'pending', '--cids', '--from', `f${SECOND.slice(1)}`])).out).toBe('bafysigned2\n')
    expect(JSON.parse((await run(['mpool', 'pending', '--from', FIRST])).out)).toEqual(all[0])
    expect(JSON.parse((await run(['mpool', 'find', '--to', SECOND, '--method', '0'])).out)).toEqual(all)
    expect((await run(['mpool', 'find', '--method', '5'])).out).toBe('null\n')
  })

  it('stat', async () => {
    answer({
      MpoolPending: [pending(FIRST, 4), pending(FIRST, 5, '50'), pending(FIRST, 8), pending(FIRST, 3)],
      ChainHead: tipset(1),
      ChainGetTipSet: tipset(0),
      StateGetActor: { Code: cid('c'), Head: cid('h'), Nonce: 4, Balance: '0', DelegatedAddress: null },
    })
    const numbers = 'Nonce past: 1, cur: 2, future: 1; FeeCap cur: 1, min-60: 1, gasLimit: 4000'
    expect((await run(['mpool', 'stat'])).out).toBe(`${FIRST}: ${numbers}\n-----\ntotal: ${numbers}\n`)
  })

  const signing: Answers = {
    WalletSignMessage: (_address, message) => ({
      Message: message as Json,
      Signature: { Type: 1, Data: '' },
      CID: cid('bafynew'),
    }),
    MpoolPush: cid('bafynew'),
  }

  it('replace by hand, by sender or by CID', async () => {
    answer({ ...signing, MpoolPending: [pending(FIRST, 1)], ChainGetMessage: pending(FIRST, 1).Message as Json })
    const price = ['--gas-premium', '300', '--gas-feecap', '400']
    expect((await run(['mpool', 'replace', ...price, FIRST, '1'])).out).toBe('new message cid:  bafynew\n')
    expect(lastOf('MpoolPush')?.params[0]).toMatchObject({
      Message: { Nonce: 1, GasPremium: '300', GasFeeCap: '400', GasLimit: 1000, To: SECOND, Value: '1' },
    })
    expect((await run(['mpool', 'replace', ...price, '--gas-limit', '2000', 'bafysigned1'])).code).toBe(0)
    expect(lastOf('MpoolPush')?.params[0]).toMatchObject({ Message: { GasLimit: 2000 } })
    expect(await run(['mpool', 'replace', ...price, FIRST, '7'])).toEqual({
      code: 1,
      out: '',
      err: `ERROR: no pending message found from ${FIRST} with nonce 7\n`,
    })
    expect((await run(['mpool', 'replace', FIRST, '1'])).code).toBe(2)
  })

  it('replace --auto takes at least 1.25 times the premium, within the fee limit', async () => {
    answer({
      ...signing,
      MpoolPending: [pending(FIRST, 1)],
      MpoolGetConfig: { ReplaceByFeeRatio: 1.25 },
      GasEstimateMessageGas: (message: Json) => ({ ...(message as object), GasPremium: '110', GasFeeCap: '120' }),
    })
    await run(['mpool', 'replace', '--auto', FIRST, '1'])
    expect(lastOf('MpoolPush')?.params[0]).toMatchObject({
      Message: { GasPremium: '126', GasFeeCap: '126', GasLimit: 1000 },
    })
    await run(['mpool', 'replace', '--auto', '--fee-limit', '100000 attoFIL', FIRST, '1'])
    expect(lastOf('MpoolPush')?.params[0]).toMatchObject({ Message: { GasPremium: '100', GasFeeCap: '100' } })
  })
})

describe('state', () => {
  it('get-actor, lookup, read-state', async () => {
    answer({
      StateGetActor: {
        Code: cid('bafycode'),
        Head: cid('bafyhead'),
        Nonce: 7,
        Balance: '1500000000000000000',
        DelegatedAddress: null,
      },
      StateNetworkVersion: 28,
      StateActorCodeCIDs: { account: cid('bafycode') },
      StateLookupID: 't01005',
      StateAccountKey: FIRST,
      ChainGetTipSetByHeight: (height) => tipset(height as number),
    })
    expect((await run(['state', 'get-actor', FIRST])).out).toBe(
      `Address:\t${FIRST}\nBalance:\t1.5 FIL\nNonce:\t\t7\nCode:\t\tbafycode (account)\nHead:\t\tbafyhead\n`,
    )
    expect((await run(['state', 'lookup', FIRST])).out).toBe('t01005\n')
    expect((await run(['state', 'lookup', '-r', 't01005'])).out).toBe(`${FIRST}\n`)
    await run(['state', '--tipset', '@12', 'lookup', FIRST])
    expect(lastOf('StateLookupID')?.params).toEqual([FIRST, [cid('bafy12')]])
    await run(['state', '--tipset', 'bafya,bafyb', 'lookup', FIRST])
    expect(lastOf('StateLookupID')?.params).toEqual([FIRST, [cid('bafya'), cid('bafyb')]])
  })

  const lookup = (message: string, extra: { [key: string]: Json } = {}): Json => ({
    Message: cid(message),
    Receipt: { ExitCode: 0, Return: 'AQI=', GasUsed: 1234, EventsRoot: null },
    ReturnDec: null,
    TipSet: [cid('bafya'), cid('bafyb')],
    Height: 9,
    ...extra,
  })

  it('search-msg and wait-msg', async () => {
    const text = 'Executed in tipset: [bafya bafyb]\nExit Code: 0\nGas Used: 1234\nReturn: 0102\n'
    answer({
      StateSearchMsg: lookup('bafymsg'),
      StateWaitMsg: lookup('bafyother', { ReturnDec: { IDAddress: 't01' } }),
    })
    expect((await run(['state', 'search-msg', 'bafymsg'])).out).toBe(text)
    expect((await run(['state', 'wait-msg', 'bafymsg'])).out).toBe(
      `Message was replaced: bafyother\n${text}Decoded return value:  {"IDAddress":"t01"}\n`,
    )
    expect(lastOf('StateWaitMsg')?.params).toEqual([cid('bafymsg'), 5])
    answer({ StateSearchMsg: null })
    expect(await run(['state', 'search-msg', 'bafymsg'])).toEqual({
      code: 1,
      out: '',
      err: 'ERROR: failed to find message: bafymsg\n',
    })
  })

  const call = (value: string, subcalls: Json = null): { [key: string]: Json } => ({
    Msg: { From: 't01', To: 't02', Value: value, Method: 0, Params: null },
    MsgRct: { ExitCode: 0, Return: null },
    Subcalls: subcalls,
  })
  const invocation: Json = {
    Msg: { ...(call('1').Msg as object) },
    MsgRct: { ExitCode: 0, Return: null, GasUsed: 100 },
    GasCost: {
      BaseFeeBurn: '1',
      OverEstimationBurn: '2',
      MinerPenalty: '3',
      MinerTip: '4',
      Refund: '5',
      TotalCost: '6',
    },
    ExecutionTrace: call('1', [call('2000000000000000000', [call('0')])]),
    Error: '',
  }

  it('replay with gas and trace', async () => {
    answer({ StateReplay: invocation })
    expect((await run(['state', 'replay', '--detailed-gas', '--show-trace', 'bafymsg'])).out).toBe(
      'Replay receipt:\nExit code: 0\nReturn: \nGas Used: 100\nBase Fee Burn: 1\nOverestimaton Burn: 2\nMiner Penalty: 3\n' +
        'Miner Tip: 4\nRefund: 5\nTotal Message Cost: 6\n' +
        't01\tt02\t0.000000000000000001 FIL\t0\t\t0\t\n\tt01\tt02\t2 FIL\t0\t\t0\t\n\t\tt01\tt02\t0 FIL\t0\t\t0\t\n',
    )
    expect(lastOf('StateReplay')?.params).toEqual([null, cid('bafymsg')])
  })

  it('compute-state', async () => {
    answer({ ChainHead: tipset(100), StateCompute: { Root: cid('bafyroot'), Trace: [invocation] } })
    expect((await run(['state', 'compute-state'])).out).toBe('computed state cid:  bafyroot\n')
    expect(lastOf('StateCompute')?.params).toEqual([100, null, [cid('bafy100')]])
    expect(JSON.parse((await run(['state', 'compute-state', '--json'])).out)).toMatchObject({
      Root: { '/': 'bafyroot' },
    })
    expect((await run(['state', 'compute-state', '--show-trace'])).out.split('\n')).toHaveLength(5)
  })
})

describe('auth', () => {
  it('asks for a token of its own, with an expiry', async () => {
    answer({ AuthNewToken: 'h.p.s', AuthRevoke: null })
    expect((await run(['auth', 'create-token', '--perm', 'sign'])).out).toBe('h.p.s\n')
    expect(lastOf('AuthNewToken')?.params).toEqual([['read', 'write', 'sign'], { ExpiresIn: 0 }])
    await run(['auth', 'create-token', '--perm', 'read', '--expires', '24h'])
    expect(lastOf('AuthNewToken')?.params).toEqual([['read'], { ExpiresIn: 86400 }])
    expect((await run(['auth', 'api-info', '--perm', 'admin'])).out).toBe(
      `FULLNODE_API_INFO=h.p.s:/ip4/127.0.0.1/tcp/${node.port}/http\n`,
    )
    expect((await run(['auth', 'revoke', 'h.p.s'])).out).toBe('token revoked\n')
    expect(lastOf('AuthRevoke')?.params).toEqual(['h.p.s'])
  })

  it('takes a common one from a node that knows no other', async () => {
    answer({ AuthNew: Buffer.from('h.p.s').toString('base64') })
    expect((await run(['auth', 'create-token', '--perm', 'write'])).out).toBe('h.p.s\n')
    expect(lastOf('AuthNew')?.params).toEqual([['read', 'write']])
    expect((await run(['auth', 'create-token', '--perm', 'write', '--expires', '1h'])).code).toBe(1)
  })
})

describe('proofs', () => {
  it('fetch: a peer that cannot be reached is named, with what was wanted of it', async () => {
    const peer = '/ip4/127.0.0.1/tcp/9/p2p/12D3KooWGzxzKZYveHXtpG6AsrUJBcWxHBFS2HsEoGTxrMLvKXtf'
    const { code, err } = await run(['proofs', 'fetch', 'calibnet', '--from', peer])
    expect(code).toBe(1)
    expect(err).toContain(`${peer}: failed to dial`)
    expect(err).toContain('could not fetch v28-')
  })

  it.each([
    ['notaplace', 'expected an address of http(s), or a multiaddr'],
    ['ftp://example.org/', 'expected an address of http(s), or a multiaddr'],
    ['/ip4/127.0.0.1/tcp/9', 'ends with /p2p/ and a peer ID'],
    ['/ip4/127.0.0.1/tcp/banana', 'failed to parse multiaddr'],
    ['/ip4/127.0.0.1/tcp/9/p2p/12D3KooWbad', 'Incorrect length'],
  ])('fetch: %s is refused as usage before any place is asked', async (place, why) => {
    const { code, err } = await run(['proofs', 'fetch', 'calibnet', '--from', 'http://127.0.0.1:9', '--from', place])
    expect(err).toContain(`--from ${place}: `)
    expect(err).toContain(why)
    expect(err).not.toContain('could not fetch')
    expect(code).toBe(2)
  })
})
