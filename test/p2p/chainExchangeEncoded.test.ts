/** Tipsets as they were sent last: of so many bytes none is encoded anew. */
import { beforeAll, expect, it } from 'vitest'
import { storeBlockMessages } from '../../src/chain/blockMessages.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { encode } from '../../src/codec/description.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { ENCODED_BYTES } from '../../src/p2p/chainExchange/limits.ts'
import {
  CHAIN_EXCHANGE_PROTOCOL,
  exchangeRequest,
  OPTION_HEADERS,
  OPTION_MESSAGES,
} from '../../src/p2p/chainExchange/messages.ts'
import { serveChainExchange } from '../../src/p2p/chainExchange/server.ts'
import { blockHeader } from '../../src/types/blockHeader.ts'
import { createTipset, firstBlock, type Tipset, type TipsetKey } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import { MemoryNetwork } from '../support/memoryNetwork.ts'
import { silentLog } from '../support/recordedView.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { ServedStream } from './streams.ts'

beforeAll(async () => void (await initCrypto()))

/** Before a tipset in an answer: 83 00 60 81. */
const HEAD_BYTES = 4
/** Around the header of a tipset without messages: 82 81, and 84 80 81 80 80 81 80. */
const AROUND_BYTES = 9

/** A store that counts what is read of it. */
class CountedBlocks extends MemoryBlockstore {
  reads = 0

  override get(cid: Cid): Uint8Array | undefined {
    this.reads++
    return super.get(cid)
  }
}

it('a tipset is kept until others fill the bound', async () => {
  const count = 16
  const time = new VirtualTime()
  const blocks = new CountedBlocks()
  const messages = storeBlockMessages(blocks, { bls: [], signed: [] })
  const withProof = (i: number, proofBytes: number): Tipset =>
    createTipset([{ ...header(undefined, 1, i), ticket: { vrfProof: new Uint8Array(proofBytes) }, messages }])
  const otherBytes = AROUND_BYTES + encode(blockHeader, firstBlock(withProof(0, 70_000))).length - 70_000

  for (const [bytes, isEncodedAnew] of [
    [ENCODED_BYTES / count, false],
    [ENCODED_BYTES / count + 1, true],
  ] as const) {
    const tipsets = Array.from({ length: count }, (_, i) => withProof(i, bytes - otherBytes))
    const tipset = (key: TipsetKey): Tipset => tipsets.find((one) => one.key[0]?.equals(key[0] as Cid)) as Tipset
    const chain = { blocks, tipset, header: (cid: Cid) => firstBlock(tipset([cid])) }
    const network = new MemoryNetwork(time)
    const { links } = network.addNode('server')
    serveChainExchange({ links, chain, clock: time, timers: time, log: silentLog })
    const serve = network.get('server').handlers.get(CHAIN_EXCHANGE_PROTOCOL)
    /** Whether it was encoded for the answer: then its messages were looked at. */
    const isEncodedFor = async ({ key }: Tipset): Promise<boolean> => {
      const request = { head: [...key], length: 1n, options: OPTION_HEADERS | OPTION_MESSAGES }
      const stream = new ServedStream(CHAIN_EXCHANGE_PROTOCOL, encode(exchangeRequest, request))
      const before = blocks.reads
      await serve?.('peer', stream)
      expect(stream.written.reduce((sum, { length }) => sum + length, 0)).toBe(HEAD_BYTES + bytes)
      return blocks.reads > before
    }
    for (const one of tipsets) expect(await isEncodedFor(one)).toBe(true)
    expect(await isEncodedFor(tipsets[0] as Tipset)).toBe(isEncodedAnew)
  }
})
