/** How long the chain exchange's lists may be, and how many tipsets it asks and answers for: each at the bound, and one more. */
import { beforeAll, expect, it } from 'vitest'
import { concatBytes } from '../../src/base/bytes.ts'
import { finish } from '../../src/base/steps.ts'
import { CborWriter } from '../../src/codec/cborWriter.ts'
import { type Codec, decode, encode } from '../../src/codec/description.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { answerRequest } from '../../src/p2p/chainExchange/answerRequest.ts'
import { MAX_BLOCKS, MAX_INDICES, MAX_LENGTH, MAX_MESSAGES } from '../../src/p2p/chainExchange/limits.ts'
import {
  CHAIN_EXCHANGE_PROTOCOL,
  type CompactedMessages,
  type ExchangeTipset,
  exchangeRequest,
  exchangeResponse,
  exchangeTipset,
  OPTION_HEADERS,
  STATUS_BAD_REQUEST,
  STATUS_OK,
} from '../../src/p2p/chainExchange/messages.ts'
import { createTipset, firstBlock, type Tipset } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import { MemoryNetwork } from '../support/memoryNetwork.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { addClient } from './exchangeNodes.ts'
import { readAll } from './streams.ts'

beforeAll(() => initCrypto())

function withMessages(messages: Partial<CompactedMessages>): ExchangeTipset {
  return { blocks: [], messages: { bls: [], blsIncludes: [], secpk: [], secpkIncludes: [], ...messages } }
}

function times<T>(count: number, item: T): T[] {
  return new Array<T>(count).fill(item)
}

/** A codec, and a value of it with a list of so many. */
type Case<T> = readonly [Codec<T>, (count: number) => T]

const ofTipset = (make: (count: number) => ExchangeTipset): Case<ExchangeTipset> => [exchangeTipset, make]

it.each([
  [
    'CIDs of a request',
    MAX_BLOCKS,
    [
      exchangeRequest,
      (count: number) => ({ head: times(count, blockCid(Uint8Array.of(1))), length: 1n, options: 1n }),
    ] satisfies Case<unknown>,
  ],
  [
    'blocks of a tipset',
    MAX_BLOCKS,
    ofTipset((count) => ({ blocks: times(count, header(undefined, 0, 1)), messages: null })),
  ],
  ['lists of indices', MAX_BLOCKS, ofTipset((count) => withMessages({ blsIncludes: times(count, []) }))],
  [
    'lists of indices of the others',
    MAX_BLOCKS,
    ofTipset((count) => withMessages({ secpkIncludes: times(count, []) })),
  ],
  ['indices', MAX_INDICES, ofTipset((count) => withMessages({ blsIncludes: [times(count, 0)] }))],
  ['indices of the others', MAX_INDICES, ofTipset((count) => withMessages({ secpkIncludes: [times(count, 0)] }))],
  [
    'tipsets of an answer',
    MAX_LENGTH,
    [
      exchangeResponse,
      (count: number) => ({ status: STATUS_OK, errorMessage: '', chain: times(count, { blocks: [], messages: null }) }),
    ] satisfies Case<unknown>,
  ],
])('%s: %i are read, one more is not', (_, most, [codec, make]) => {
  const any = codec as Codec<unknown>
  const whole = encode(any, make(most))
  expect(encode(any, decode(any, whole))).toEqual(whole)
  expect(() => decode(any, encode(any, make(most + 1)))).toThrow(`: ${most + 1} items, at most ${most}`)
})

it.each([
  ['BLS', 0],
  ['secp256k1', 2],
])('of %s messages as many as a tipset can hold, and no more: by what the list says of itself', (_, before) => {
  const begun = (count: number): Uint8Array => {
    const writer = new CborWriter()
    writer.array(2)
    writer.array(0)
    writer.array(4)
    for (let i = 0; i < before; i++) writer.array(0)
    writer.array(count)
    // What follows are none.
    return concatBytes(writer.finish(), new Uint8Array(count))
  }
  expect(() => decode(exchangeTipset, begun(MAX_MESSAGES))).toThrowError(
    expect.objectContaining({ code: 'WRONG_TYPE' }) as Error,
  )
  expect(() => decode(exchangeTipset, begun(MAX_MESSAGES + 1))).toThrow(
    `: ${MAX_MESSAGES + 1} items, at most ${MAX_MESSAGES}`,
  )
})

it('a request for so many tipsets is answered, for one more it is refused', () => {
  // Its own parent: it never ends.
  const tipset = createTipset([header(undefined, 1000, 1)])
  const chain = { blocks: new MemoryBlockstore(), header: () => firstBlock(tipset), tipset: () => tipset }
  const answerTo = (length: number) => {
    const request = { head: [...tipset.key], length: BigInt(length), options: OPTION_HEADERS }
    return finish(answerRequest(chain, request, () => Number.POSITIVE_INFINITY))
  }
  const most = answerTo(MAX_LENGTH)
  expect([most.tipsets.length, most.head[1]]).toEqual([MAX_LENGTH, STATUS_OK])
  const refused = decode(exchangeResponse, answerTo(MAX_LENGTH + 1).head)
  expect([refused.status, refused.errorMessage]).toEqual([
    STATUS_BAD_REQUEST,
    `request length over maximum allowed (${MAX_LENGTH})`,
  ])
})

it('for no more is asked at a time, of headers and of messages', async () => {
  const chain: Tipset[] = [createTipset([header(undefined, 0, 1)])]
  while (chain.length <= MAX_LENGTH) chain.unshift(createTipset([header(chain[0], chain.length, 1)]))
  const lengthsOf = async (ask: (client: ReturnType<typeof addClient>['client']) => Promise<unknown>) => {
    const time = new VirtualTime()
    const network = new MemoryNetwork(time)
    const { client } = addClient(network, time, 'petrel')
    const lengths: bigint[] = []
    network.addNode('peer').links.handle(CHAIN_EXCHANGE_PROTOCOL, async (_, stream) => {
      lengths.push(decode(exchangeRequest, await readAll(stream)).length)
      throw new Error('no answer')
    })
    network.connect('petrel', 'peer')
    await expect(time.until(ask(client))).rejects.toMatchObject({ code: 'ALL_PEERS_FAILED' })
    return lengths
  }
  const { key } = chain[0] as Tipset
  expect(chain).toHaveLength(MAX_LENGTH + 1)
  expect(await lengthsOf((client) => client.fetch({ head: key, length: MAX_LENGTH + 1, messages: false }, {}))).toEqual(
    [BigInt(MAX_LENGTH)],
  )
  expect(await lengthsOf((client) => client.fetchMessages(chain, {}))).toEqual([BigInt(MAX_LENGTH)])
  expect(await lengthsOf((client) => client.fetchMessages(chain.slice(1), {}))).toEqual([BigInt(MAX_LENGTH)])
})
