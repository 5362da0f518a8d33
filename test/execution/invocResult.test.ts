/** Results of messages as Lotus tells them. */
import { expect, test } from 'vitest'
import type { AppliedMessage } from '../../src/execution/executeTipset.ts'
import { invocResult } from '../../src/execution/invocResult.ts'
import { idAddress } from '../../src/types/address.ts'
import { messageCid } from '../../src/types/message.ts'
import { testMessage } from '../mempool/fakes.ts'

test.each([
  // A plain send of a gas limit of 1,000,000 to a Lotus debug build: StateCompute of its tipset.
  { exitCode: 7, error: '', told: 'unknown error (RetCode=7)' },
  // lotus chain/actors/aerrors/error.go actorError.FormatError.
  { exitCode: 33, error: 'message failed with backtrace:\n', told: 'message failed with backtrace:\n (RetCode=33)' },
  { exitCode: 0, error: '', told: '' },
])('a message that ended with $exitCode', ({ exitCode, error, told }) => {
  const { message } = testMessage(idAddress(100), idAddress(101), 0, 1n)
  const receipt = { exitCode, return: new Uint8Array(0), gasUsed: 1n, eventsRoot: null }
  const result = { receipt, error }
  const applied = { cid: messageCid(message), message, isImplicit: true, result } as unknown as AppliedMessage
  expect(invocResult(applied).error).toBe(told)
})
