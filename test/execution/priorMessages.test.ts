/** Messages that a thread is told: whole once, by name afterwards. */
import { expect, it } from 'vitest'
import { TellMessages, ToldOf } from '../../src/execution/priorMessages.ts'
import { idAddress } from '../../src/types/address.ts'
import { blsChainMessage, type ChainMessage } from '../../src/types/chainMessage.ts'

const numbers = { version: 0, value: 1n, gasLimit: 1, gasFeeCap: 1n, gasPremium: 1n, method: 0n } as const

function message(nonce: number): ChainMessage {
  const ends = { from: idAddress(100), to: idAddress(101) }
  return blsChainMessage({ ...numbers, ...ends, nonce: BigInt(nonce), gasLimit: 1n, params: new Uint8Array() })
}

it('sends each message once, and both sides forget together', () => {
  const node = new TellMessages()
  const thread = new ToldOf()
  const first = [message(1), message(2)]
  const told = node.tell(first)
  expect(told.fresh).toEqual(first)
  expect(thread.messages(told)).toEqual(first)

  const longer = [...first, message(3)]
  const again = node.tell(longer)
  expect(again.fresh).toEqual([message(3)])
  expect(thread.messages(again)).toEqual(longer)

  const many = Array.from({ length: 20_001 }, (_, i) => message(i))
  thread.messages(node.tell(many))
  const forgotten = node.tell(first)
  expect(forgotten).toMatchObject({ forget: true, fresh: first })
  expect(thread.messages(forgotten)).toEqual(first)
  expect(() => new ToldOf().messages({ forget: false, fresh: [], names: again.names })).toThrow('not known')
})
