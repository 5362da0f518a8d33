/** Output of `mpool` in Lotus' layout (cli/mpool.go). */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../src/codec/jsonText.ts'
import { cid, commandLine, FIRST, SECOND, tipset } from './commandLine.ts'
import type { Answers } from './fakeNode.ts'

const { run, answer, lastOf } = commandLine()

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
