/** Messages before a call, as a thread is told them: each once. */
import { expect, it } from 'vitest'
import { TellMessages, ToldOf } from '../../src/execution/priorMessages.ts'
import { idAddress } from '../../src/types/address.ts'
import { blsChainMessage, type ChainMessage } from '../../src/types/chainMessage.ts'
import { seeded } from '../support/seeded.ts'

const numbers = { version: 0, value: 1n, gasLimit: 1, gasFeeCap: 1n, gasPremium: 1n, method: 0n } as const

function message(nonce: number, sender = 100n): ChainMessage {
  const ends = { from: idAddress(sender), to: idAddress(101n) }
  return blsChainMessage({ ...numbers, ...ends, nonce: BigInt(nonce), gasLimit: 1n, params: new Uint8Array() })
}

/** Both sides, and how many messages went over. */
function pair(): { told(messages: readonly ChainMessage[]): { there: readonly ChainMessage[]; sent: number } } {
  const node = new TellMessages()
  const thread = new ToldOf()
  return {
    told: (messages) => {
      const question = node.tell(messages)
      return { there: thread.messages(question), sent: question.fresh.length }
    },
  }
}

it('sends each message of a growing list once, also where senders take turns', () => {
  const { told } = pair()
  const [a, b] = [[message(1), message(2)], [message(1, 200n)]]
  expect(told(a)).toEqual({ there: a, sent: 2 })
  expect(told(b)).toEqual({ there: b, sent: 1 })
  const longer = [...a, message(3)]
  expect(told(longer)).toEqual({ there: longer, sent: 1 })
  expect(told(longer)).toEqual({ there: longer, sent: 0 })
  expect(told([...b, message(2, 200n)]).sent).toBe(1)
})

it('sends none again above a new head, nor when a list ends earlier; a replaced one with those behind it', () => {
  const { told } = pair()
  const all = Array.from({ length: 6 }, (_, i) => message(i))
  told(all)
  const mined = all.slice(2)
  expect(told(mined)).toEqual({ there: mined, sent: 0 })
  expect(told(mined.slice(0, 2))).toEqual({ there: mined.slice(0, 2), sent: 0 })
  const replaced = [all[2] as ChainMessage, message(3), ...all.slice(4)]
  expect(told(replaced)).toEqual({ there: replaced, sent: 3 })
})

it('tells any lists as they are', () => {
  const { int } = seeded('lists of messages')
  const { told } = pair()
  const pool = Array.from({ length: 40 }, (_, i) => message(i, BigInt(100 + (i % 3))))
  for (let i = 0; i < 500; i++) {
    const start = int(pool.length)
    const list = pool.slice(start, start + 1 + int(10)).filter(() => int(10) > 0)
    if (list.length > 0) expect(told(list).there).toEqual(list)
  }
})

it('forgets on both sides together', () => {
  const node = new TellMessages()
  const thread = new ToldOf()
  thread.messages(node.tell(Array.from({ length: 20_001 }, (_, i) => message(i))))
  const first = [message(1)]
  const forgotten = node.tell(first)
  expect(forgotten).toMatchObject({ forget: true, fresh: first })
  expect(thread.messages(forgotten)).toEqual(first)
})

it('refuses a list that it was never told', () => {
  const question = { forget: false, list: 2, base: 1, from: 0, length: 1, fresh: [] }
  expect(() => new ToldOf().messages(question)).toThrow('not known')
})
