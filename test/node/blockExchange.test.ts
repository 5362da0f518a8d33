/** The node's side of bitswap: what it has gathered goes to whoever asked too early. */
import { expect, it } from 'vitest'
import { storeBlockMessages } from '../../src/chain/blockMessages.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { startBlockExchange } from '../../src/node/networking.ts'
import type { P2pHost } from '../../src/p2p/host/host.ts'
import { idAddress } from '../../src/types/address.ts'
import { type Message, messageCid } from '../../src/types/message.ts'
import { header } from '../chain/buildChain.ts'
import { Swaps, sendTo } from '../p2p/swaps.ts'
import { silentLog } from '../support/recordedView.ts'

const MESSAGE: Message = {
  ...{ version: 0, from: idAddress(1001), to: idAddress(1000), nonce: 0n, value: 0n },
  ...{ gasLimit: 1n, gasFeeCap: 0n, gasPremium: 0n, method: 0n, params: new Uint8Array(0) },
}

it('the messages of a block go to the peer that it was passed on to before they were here', async () => {
  const swaps = new Swaps()
  const { time, network } = swaps
  const blocks = new MemoryBlockstore()
  const random = { fill: () => undefined }
  const exchange = startBlockExchange(
    { links: network.addNode('node').links } as unknown as P2pHost,
    { blocks },
    { clock: time, timers: time, random, log: silentLog },
  )
  const heard: string[] = []
  const lotus = swaps.addScripted('lotus', (message) => {
    heard.push(...message.presences.map(({ has }) => `has it: ${has}`), ...message.blocks.map(({ cid }) => String(cid)))
  })
  network.connect('lotus', 'node')
  const cid = messageCid(MESSAGE)
  await sendTo(lotus, 'node', { wants: [{ cid, type: 'block', cancel: false, sendDontHave: true }] })
  await time.settle()
  const block = {
    ...header(undefined, 5, 1),
    messages: storeBlockMessages(new MemoryBlockstore(), { bls: [], signed: [] }),
  }
  // Another block is refused: nothing of it is here.
  exchange.arrived(block)
  await time.settle()
  expect(heard).toEqual(['has it: false'])
  exchange.arrived({ ...block, messages: storeBlockMessages(blocks, { bls: [MESSAGE], signed: [] }) })
  await time.settle()
  expect(heard).toEqual(['has it: false', String(cid)])
  exchange.stop()
})
