/** Answers in memory: how large they may be, and whose ends. */
import { expect, it } from 'vitest'
import { MAX_SERVED_BYTES, SHORT_ANSWER_BYTES, UNSENT } from '../../src/p2p/chainExchange/limits.ts'
import { UnsentAnswers } from '../../src/p2p/unsentAnswers.ts'

const never = (): void => {
  throw new Error('gives way')
}

it('may be large while there is room, short when most of it is taken', () => {
  const unsent = new UnsentAnswers(UNSENT)
  const first = unsent.begin('a', never)
  expect(first.most).toBe(MAX_SERVED_BYTES)
  first.is(UNSENT.all - SHORT_ANSWER_BYTES)
  expect(unsent.begin('a', never).most).toBe(SHORT_ANSWER_BYTES)
  first.end()
  expect(unsent.begin('a', never).most).toBe(MAX_SERVED_BYTES)
})

it('above the bound the oldest of the peer that has most ends, not that of the one who comes', () => {
  const unsent = new UnsentAnswers(UNSENT)
  const gone: string[] = []
  const hold = (peer: string, name: string, bytes: number): void => unsent.begin(peer, () => gone.push(name)).is(bytes)
  const half = UNSENT.all / 2
  hold('b', 'b1', half - SHORT_ANSWER_BYTES)
  hold('a', 'a1', half / 2)
  hold('a', 'a2', half / 2)
  expect(gone).toEqual([])
  // At the bound, and one byte above.
  hold('c', 'c1', SHORT_ANSWER_BYTES)
  expect(gone).toEqual([])
  hold('c', 'c2', 1)
  expect(gone).toEqual(['a1'])
  // It has most: none of the others gives way.
  hold('d', 'd1', 2 * UNSENT.all)
  hold('d', 'd2', 1)
  expect(gone).toEqual(['a1'])
  hold('c', 'c3', 1)
  expect(gone).toEqual(['a1', 'd1'])
})
