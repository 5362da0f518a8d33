/** What `msig` asks the node for (cli/multisig.go). */
import { describe, expect, it } from 'vitest'
import { cid, commandLine, FIRST, SECOND } from './commandLine.ts'
import type { Answers } from './fakeNode.ts'

const { run, answer, methods, lastOf } = commandLine()

const drafted = (method: number) => ({
  Message: { To: 't01000', From: FIRST, Value: '0', Method: method, Params: '' },
  ValidNonce: false,
})

const node: Answers = {
  WalletDefaultAddress: FIRST,
  MsigAddApprove: drafted(3),
  MsigAddCancel: drafted(4),
  MpoolPushMessage: (message) => ({
    Message: message ?? null,
    Signature: { Type: 1, Data: '' },
    CID: cid('bafysent'),
  }),
  StateWaitMsg: {
    Message: cid('bafysent'),
    Receipt: { ExitCode: 0, Return: null, GasUsed: 1, EventsRoot: null },
    ReturnDec: null,
    TipSet: [cid('bafytipset')],
    Height: 100,
  },
}

describe('msig', () => {
  const approve = (increase: string) => run(['msig', 'add-approve', 't01000', FIRST, '7', SECOND, increase])
  const cancel = (increase: string) => run(['msig', 'add-cancel', 't01000', '7', SECOND, increase])

  it.each([
    ['true', ['1', 't', 'T', 'TRUE', 'true', 'True'], true],
    ['false', ['0', 'f', 'F', 'FALSE', 'false', 'False'], false],
  ] as const)('reads every word of Go for %s in a proposal to add a signer', async (_, words, increase) => {
    answer(node)
    for (const word of words) {
      expect(await approve(word)).toMatchObject({ code: 0, err: '' })
      expect(lastOf('MsigAddApprove')?.params).toEqual(['t01000', FIRST, 7, FIRST, SECOND, increase])
      expect(await cancel(word)).toMatchObject({ code: 0, err: '' })
      expect(lastOf('MsigAddCancel')?.params).toEqual(['t01000', FIRST, 7, SECOND, increase])
    }
  })

  it('sends nothing for a word that is neither', async () => {
    answer(node)
    for (const word of ['yes', 'tRUE', '']) {
      for (const ran of [await approve(word), await cancel(word)]) {
        expect(ran).toEqual({
          code: 2,
          out: '',
          err: expect.stringContaining(`increaseThreshold: "${word}" is neither true nor false`),
        })
      }
    }
    expect(methods()).not.toContain('MpoolPushMessage')
  })
})
