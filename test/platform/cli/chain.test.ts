/** Output of `chain` in Lotus' layout (cli/chain.go). */
import { describe, expect, it } from 'vitest'
import { block, cid, commandLine, tipset } from './commandLine.ts'
import type { Answers } from './fakeNode.ts'

const { run, answer, lastOf } = commandLine()

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
