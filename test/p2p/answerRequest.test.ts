/** How much of a chain an answer has, and that what was sent before is not encoded again. */
import { expect, it } from 'vitest'
import { finish } from '../../src/base/steps.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { NodeCache } from '../../src/ipld/nodeCache.ts'
import { answerRequest, type EncodedAnswer } from '../../src/p2p/chainExchange/answerRequest.ts'
import { ENCODED_BYTES } from '../../src/p2p/chainExchange/limits.ts'
import { OPTION_HEADERS, OPTION_MESSAGES, STATUS_PARTIAL } from '../../src/p2p/chainExchange/messages.ts'
import { createTipset, firstBlock } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'

it('a tipset is encoded once, for each kind of what is asked of it', () => {
  const genesis = createTipset([header(undefined, 0, 1)])
  const chain = { blocks: new MemoryBlockstore(), header: () => firstBlock(genesis), tipset: () => genesis }
  const known = new NodeCache(ENCODED_BYTES)
  const ask = (options: bigint): Uint8Array | undefined =>
    finish(answerRequest(chain, { head: [...genesis.key], length: 1n, options }, () => ENCODED_BYTES, known)).tipsets[0]
  const first = ask(OPTION_HEADERS)
  expect(first).toBeDefined()
  expect(ask(OPTION_HEADERS)).toBe(first)
  // Its messages are not here: what was sent of it without them is no answer to that.
  expect(ask(OPTION_HEADERS | OPTION_MESSAGES)).toBeUndefined()
  expect(ask(OPTION_MESSAGES)).toBeUndefined()
})

it('an answer that was begun ends where it may have no more', () => {
  const tipset = createTipset([header(undefined, 1000, 1)])
  const chain = { blocks: new MemoryBlockstore(), header: () => firstBlock(tipset), tipset: () => tipset }
  let limit = Number.POSITIVE_INFINITY
  const request = { head: [...tipset.key], length: 900n, options: OPTION_HEADERS }
  const steps = answerRequest(chain, request, () => limit)
  for (let i = 0; i < 5; i++) expect(steps.next().done).toBe(false)
  limit = 1
  const { value } = steps.next() as { value: EncodedAnswer }
  expect([value.tipsets.length, value.head[2]]).toEqual([5, STATUS_PARTIAL])
  // The first is given whatever it takes.
  const first = finish(answerRequest(chain, request, () => 0))
  expect([first.tipsets.length, first.head[2]]).toEqual([1, STATUS_PARTIAL])
})
