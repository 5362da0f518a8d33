/** Output of `state` in Lotus' layout (cli/state.go). */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../src/codec/jsonText.ts'
import { cid, commandLine, FIRST, tipset } from './commandLine.ts'

const { run, answer, lastOf } = commandLine()

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
