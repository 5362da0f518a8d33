/** Tipsets near the head are asked for by many peers: what was sent before is not encoded again. */
import { expect, it, vi } from 'vitest'
import { finish } from '../../src/base/steps.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { NodeCache } from '../../src/ipld/nodeCache.ts'
import { answerRequest } from '../../src/p2p/chainExchange/answerRequest.ts'
import { ENCODED_BYTES } from '../../src/p2p/chainExchange/limits.ts'
import { OPTION_HEADERS, OPTION_MESSAGES } from '../../src/p2p/chainExchange/messages.ts'
import { createTipset, firstBlock } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'

it('once for headers, and once for what is asked of it besides', () => {
  const genesis = createTipset([header(undefined, 0, 1)])
  const chain = { blocks: new MemoryBlockstore(), header: () => firstBlock(genesis), tipset: () => genesis }
  const known = new NodeCache(ENCODED_BYTES)
  const keep = vi.spyOn(known, 'keep')
  const ask = (options: bigint) =>
    finish(answerRequest(chain, { head: [...genesis.key], length: 1n, options }, ENCODED_BYTES, known))
  const first = ask(OPTION_HEADERS)
  expect(first.tipsets).toHaveLength(1)
  expect(ask(OPTION_HEADERS)).toEqual(first)
  expect(keep).toHaveBeenCalledOnce()
  expect(keep.mock.calls[0]?.[2]).toBe(first.tipsets[0]?.length)
  // Its messages are not here: nothing of that is kept.
  ask(OPTION_HEADERS | OPTION_MESSAGES)
  expect(keep).toHaveBeenCalledOnce()
  ask(OPTION_MESSAGES)
  expect(keep).toHaveBeenCalledOnce()
})
