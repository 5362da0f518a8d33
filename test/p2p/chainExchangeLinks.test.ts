/** Answers whose blocks name their parents as no honest producer would: whoever has such a chain is not to blame for it. */
import { expect, it } from 'vitest'
import { decode, encode } from '../../src/codec/description.ts'
import { exchangeRequest, exchangeResponse } from '../../src/p2p/chainExchange/messages.ts'
import type { BlockHeader } from '../../src/types/blockHeader.ts'
import { createTipset, type Tipset, type TipsetKey } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import { MemoryNetwork } from '../support/memoryNetwork.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { addClient, addLiar } from './exchangeNodes.ts'

const genesis = createTipset([header(undefined, 0, 1)])
const pair = createTipset([1, 2].map((salt) => header(genesis, 1, salt)))

/** A block on the pair that names it as `parents` says. */
function above(parents: TipsetKey): Tipset {
  return createTipset([{ ...header(pair, 2, 1), parents: [...parents] }])
}

/** A node that asks, and a peer that answers with these tipsets, as many as it is asked for. */
function asking(chain: readonly (readonly BlockHeader[])[]) {
  const time = new VirtualTime()
  const network = new MemoryNetwork(time)
  const asked: bigint[] = []
  addLiar(network, 'peer', (bytes) => {
    const { length } = decode(exchangeRequest, bytes)
    asked.push(length)
    const answer = chain.slice(0, Number(length)).map((blocks) => ({ blocks: [...blocks], messages: null }))
    const status = answer.length < Number(length) ? 101 : 0
    return encode(exchangeResponse, { status, errorMessage: '', chain: answer })
  })
  const asker = addClient(network, time, 'asker')
  network.connect('asker', 'peer')
  const fetch = (head: TipsetKey, length: number) =>
    time.until(asker.client.fetch({ head, length, messages: false }, {}))
  return { asker, asked, fetch, time }
}

it('in another order than the tipset’s: the chain goes on, and nobody is reported', async () => {
  const top = above(pair.key.toReversed())
  const { asker, fetch } = asking([top.blocks, pair.blocks, genesis.blocks])
  const { tipsets } = await fetch(top.key, 3)
  expect(tipsets.map(({ tipset }) => tipset)).toEqual([top, pair, genesis])
  expect(asker.reports).toEqual([])
})

it('the messages of such a chain are asked for together', async () => {
  const top = above(pair.key.toReversed())
  const { asker, asked, time } = asking([])
  const failed = time.until(asker.client.fetchMessages([top, pair, genesis], {}))
  await expect(failed).rejects.toMatchObject({ code: 'ALL_PEERS_FAILED' })
  expect(asked).toEqual([3n])
})

// Lotus makes a tipset of it, the block twice in it, and serves that.
it('one of them twice: what is above it is taken, and nobody is reported', async () => {
  const [block] = pair.blocks as [BlockHeader]
  const top = above([...createTipset([block]).key, ...createTipset([block]).key])
  for (const chain of [[top.blocks, [block, block], genesis.blocks], [top.blocks]]) {
    const { asker, asked, fetch } = asking(chain)
    const { tipsets } = await fetch(top.key, 3)
    expect(tipsets.map(({ tipset }) => tipset)).toEqual([top])
    expect(asker.reports).toEqual([])
    expect(asked).toEqual([3n])
  }
})

it('a key with a block twice is not asked for', async () => {
  const { asked, fetch } = asking([])
  await expect(fetch([...genesis.key, ...genesis.key], 1)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(asked).toEqual([])
})
