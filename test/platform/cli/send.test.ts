/** Output of `send` in Lotus' layout (cli/send.go). */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../src/codec/jsonText.ts'
import { cid, commandLine, ETHEREUM, FIRST, SECOND, tipset } from './commandLine.ts'
import { type Answers, Refusal } from './fakeNode.ts'

/** The 20 bytes of ETHEREUM. @see data/golden/nv28/chain.jsonl.zst eth_getTransactionByHash, `from` */
const ETHEREUM_HEX = '0x9c8707d7ff615e13ce8b2d977e881ec15ae55eba'

const { run, answer, methods, lastOf } = commandLine()

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

  it('waits, wherever the option stands', async () => {
    const lookup = { Height: 7, Receipt: { ExitCode: 0, GasUsed: 9 }, Message: cid('bafysigned') }
    for (const [args, confidence] of [
      [['--wait', SECOND, '1'], 5],
      [[SECOND, '--wait', '1'], 5],
      [[SECOND, '1', '--wait'], 5],
      [['--wait', '--confidence', '0', SECOND, '1'], 0],
    ] as const) {
      answer({ ...happy, StateWaitMsg: lookup as unknown as Json })
      const { code, out } = await run(['send', ...args])
      expect([code, out.split('\n').at(-2)]).toEqual([0, 'executed in epoch 7, gas used 9, exit code 0'])
      expect(lastOf('StateWaitMsg')?.params[1]).toBe(confidence)
    }
    for (const wrong of [
      ['--confidence', '3', SECOND, '1'],
      ['--wait', '--confidence', '-1', SECOND, '1'],
      [SECOND, '1', '--wait', '3'],
    ])
      expect((await run(['send', ...wrong])).code, wrong.join(' ')).toBe(2)
    expect(methods().filter((method) => method === 'MpoolPushMessage')).toHaveLength(4)
  })

  it('names in JSON what was sent when the rest fails', async () => {
    const refuse = (): never => {
      throw new Refusal('the node restarts')
    }
    answer({ ...happy, StateWaitMsg: refuse })
    const waited = await run(['--json', 'send', '--wait', SECOND, '1'])
    expect(waited).toMatchObject({ code: 1, err: 'ERROR: the node restarts\n' })
    expect(JSON.parse(waited.out)).toMatchObject({ Message: 'bafysigned' })
    let pushed = 0
    answer({
      ...happy,
      WalletBalance: '9000000000000000000',
      MpoolPushMessage: (message) => {
        if (pushed === 2) return refuse()
        pushed++
        return { Message: message as Json, Signature: { Type: 1, Data: '' }, CID: cid(`bafy${pushed}`) }
      },
    })
    const files = { '/pay.csv': `Recipient,FIL,Method,Params\n${`${SECOND},1,0,nil\n`.repeat(3)}` }
    const listed = await run(['--json', 'send', '--csv', '/pay.csv'], { files })
    expect(listed.code).toBe(1)
    expect(JSON.parse(listed.out)).toEqual({ message: expect.any(String), Messages: ['bafy1', 'bafy2'] })
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
