/** What a command says of what it has sent when the node goes: whoever is told nothing sends it again. */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../src/codec/jsonText.ts'
import { cid, commandLine, ETHEREUM, FIRST, SECOND, tipset } from './commandLine.ts'
import { type Answers, Gone } from './fakeNode.ts'

const { run, answer, methods } = commandLine()

const gone = (): never => {
  throw new Gone()
}
const draft = {
  Version: 0,
  To: SECOND,
  From: FIRST,
  Nonce: 0,
  Value: '0',
  GasLimit: 0,
  GasFeeCap: '0',
  GasPremium: '0',
}
const answers: Answers = {
  ChainHead: tipset(100),
  WalletDefaultAddress: FIRST,
  WalletBalance: '9000000000000000000',
  GasEstimateMessageGas: (message) => ({ ...(message as object), GasLimit: 1000, GasFeeCap: '200', GasPremium: '100' }),
  MpoolCheckMessages: [[]],
  MpoolCheckPendingMessages: null,
  MpoolPushMessage: (message) => ({
    Message: message as Json,
    Signature: { Type: 1, Data: '' },
    CID: cid('bafysent'),
  }),
  MsigPropose: { Message: { ...draft, Method: 2, Params: null }, ValidNonce: false },
  PaychSettle: cid('bafysent'),
  PaychFund: { Channel: SECOND, WaitSentinel: cid('bafysent') },
  StateWaitMsg: gone,
  PaychGetWaitReady: gone,
}

describe('a node that goes while a command waits', () => {
  it.each([
    ['evm', 'invoke', ETHEREUM, '0x01', '--value', '5'],
    ['evm', 'deploy', '/code.hex'],
    ['msig', 'propose', SECOND, FIRST, '5'],
    ['paych', 'settle', SECOND],
    ['paych', 'add-funds', FIRST, SECOND, '5'],
    ['send', SECOND, '1', '--wait'],
  ])('%s %s: what was sent is named', async (...command) => {
    answer(answers)
    const files = { '/code.hex': '6001' }
    const text = await run(command, { files })
    expect(text.code).toBe(1)
    expect(text.out).toContain('bafysent')
    const json = await run(['--json', ...command], { files })
    expect(JSON.parse(json.out)).toMatchObject({ Message: 'bafysent' })
  })

  it('before it has said whether it took the message: that is not known', async () => {
    answer({ ...answers, MpoolPushMessage: gone })
    const { code, err } = await run(['send', SECOND, '1'])
    expect(code).toBe(1)
    expect(err).toMatch(/broke before the answer came: whether MpoolPushMessage was carried out is not known/)
  })
})

describe('what was not understood', () => {
  it.each([
    ['msig', '--confidence', '1h', 'propose', SECOND, FIRST, '5'],
    ['msig', '--confidence', '-1', 'propose', SECOND, FIRST, '5'],
    ['send', '--csv', '/pay.csv', '--offline', '/draft.json'],
    ['send', '--csv', '/pay.csv', '--wait'],
    ['send', '--csv', '/pay.csv', '--nonce', '7'],
    ['send', '--csv', '/pay.csv', SECOND, '1'],
  ])('%s %s %s %s %s: nothing is sent', async (...command) => {
    answer(answers)
    const { code } = await run(command, { files: { '/pay.csv': `Recipient,FIL,Method,Params\n${SECOND},1,0,nil\n` } })
    expect(code).toBe(2)
    expect(methods()).not.toContain('MpoolPushMessage')
  })
})
