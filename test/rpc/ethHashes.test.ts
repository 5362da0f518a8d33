/** Transactions by Ethereum's hashes: none is lost because its block came late, and no hash is made twice. */
import { describe, expect, test } from 'vitest'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { finish } from '../../src/base/steps.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { ethBlockOf } from '../../src/eth/ethBlock.ts'
import { EthIndex, ethBlockHash } from '../../src/eth/ethIndex.ts'
import { ethHashOf } from '../../src/eth/ethTransactionOf.ts'
import type { BlockEdge } from '../../src/ipld/blockFetcher.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { BlockMissing } from '../../src/ipld/errors.ts'
import { fetchingRows } from '../../src/node/fetchingRows.ts'
import { EthReader, locateIn } from '../../src/rpc/ethReader.ts'
import type { CallContext } from '../../src/rpc/method.ts'
import { traceMethods } from '../../src/rpc/methods/ethTrace.ts'
import { ethTransactionMethods } from '../../src/rpc/methods/ethTransactions.ts'
import { blockJson, logsOf } from '../../src/rpc/types/eth.ts'
import { hexBytes } from '../../src/rpc/types/ethScalars.ts'
import { blsAddress, delegatedAddress, parseAddress } from '../../src/types/address.ts'
import type { BlockHeader } from '../../src/types/blockHeader.ts'
import { blsChainMessage, type ChainMessage, signedChainMessage } from '../../src/types/chainMessage.ts'
import { messageCid } from '../../src/types/message.ts'
import { SIGNATURE_DELEGATED } from '../../src/types/signature.ts'
import { type SignedMessage, signedMessageCid } from '../../src/types/signedMessage.ts'
import { createTipset, type Tipset } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import { testMessage } from '../mempool/fakes.ts'
import { plainCall } from './forkingChain.ts'
import { silentLog } from './stubTable.ts'

type Executed = Parameters<typeof ethBlockOf>[0]

const CHAIN_ID = 314
const EAM = 10n
/** Method of a call to a contract, FRC-0042 of `InvokeEVM`. */
const INVOKE = 3_844_450_837n

function delegated(nonce: number): SignedMessage {
  const [from, to] = [1, 2].map((byte) => delegatedAddress(EAM, new Uint8Array(20).fill(byte))) as [never, never]
  const signed = testMessage(from, to, nonce, 10n, { method: INVOKE }, SIGNATURE_DELEGATED)
  return { ...signed, signature: { type: SIGNATURE_DELEGATED, data: new Uint8Array(65).fill(1, 0, 64) } }
}

const hashOf = (signed: SignedMessage): Uint8Array =>
  ethHashOf({ kind: 'signed', message: signed.message, signed }, BigInt(CHAIN_ID))

/** A store with a chain of a height, on which only what `view` gives has messages. */
function chain(height: number): { readonly store: ChainStore; readonly on: (parent: Tipset) => Tipset } {
  const store = new ChainStore({ blocks: new MemoryBlockstore(), meta: new MemoryStore(), log: silentLog })
  store.setGenesis(header(undefined, 0, 0))
  const on = (parent: Tipset): Tipset => {
    const block = header(parent, parent.height + 1, 0)
    store.putHeader(block)
    return createTipset([block])
  }
  let head = store.genesis()
  for (let i = 0; i < height; i++) head = on(head)
  store.setHead(head)
  return { store, on }
}

function viewOf(store: ChainStore, signedIn: (block: BlockHeader) => SignedMessage[]): EthReader['view'] {
  const blockMessages = (block: BlockHeader) => ({ bls: [], signed: signedIn(block) })
  return {
    ...{ store, blockMessages, tipsetMessages: () => [], stateBefore: () => ({}) },
    network: { chainId: CHAIN_ID },
  } as unknown as EthReader['view']
}

test('a tipset whose messages come after the index met it has its transactions all the same', () => {
  const { store, on } = chain(0)
  const signed = delegated(0)
  for (const above of [0, 1, 5]) {
    const holder = on(store.genesis())
    let head = holder
    for (let i = 0; i < above; i++) head = on(head)
    store.setHead(head)
    for (const fetched of [undefined, 10]) {
      let isHere = false
      const view = viewOf(store, (block) => {
        if (block.height !== holder.height) return []
        if (!isHere) throw new BlockMissing([block.messages])
        return [signed]
      })
      const index = new EthIndex(view, { fetched })
      const early = (): unknown => finish(index.messageCid(hashOf(signed)))
      if (fetched === undefined) expect(early()).toBeUndefined()
      else expect(early).toThrow(BlockMissing)
      isHere = true
      expect(String(finish(index.messageCid(hashOf(signed))))).toBe(String(signedMessageCid(signed)))
    }
  }
})

test('messages that will never come hide none above and below them', () => {
  const { store, on } = chain(20)
  const [below, above] = [delegated(1), delegated(2)]
  const looked = new Set<number>()
  const view = viewOf(store, (block) => {
    looked.add(block.height)
    if (block.height > 20 && block.height <= 25) throw new BlockMissing([block.messages])
    return block.height === 15 ? [below] : block.height === 28 ? [above] : []
  })
  const index = new EthIndex(view)
  expect(finish(index.messageCid(hashOf(above)))).toBeUndefined()
  let head = store.head()
  while (head.height < 30) head = on(head)
  store.setHead(head)
  for (const signed of [above, below]) {
    expect(String(finish(index.messageCid(hashOf(signed))))).toBe(String(signedMessageCid(signed)))
  }
  // A tipset by its hash is found without a look at any message.
  looked.clear()
  const names = new EthIndex(view)
  for (const height of [30, 22, 1]) {
    const tipset = store.tipsetByHeight(height, head, 'next')
    expect(finish(names.tipset(ethBlockHash(tipset)))?.height).toBe(height)
  }
  expect([...looked]).toEqual([])
})

describe('where the messages end before the headers do, as a snapshot leaves them', () => {
  const LOWEST = 1_000
  const { store } = chain(2_000)
  const unknown = new Uint8Array(32).fill(7)
  const waiting = delegated(5)

  /** Answers, and fetches of messages; `peers`: whether they have any. */
  function asked({ fetches, peers, lowest = LOWEST }: { fetches: boolean; peers: boolean; lowest?: number }) {
    const here = new Set<number>()
    let fetched = 0
    let scans = 0
    const view = viewOf(store, ({ height, messages }) => {
      if (height < lowest && !here.has(height)) throw new BlockMissing([messages])
      return []
    })
    // Messages of these headers have all the same CID: what is fetched is of the highest tipset that lacks them.
    const edge: BlockEdge = async (run) => {
      for (let height = lowest - 1; ; height--) {
        try {
          return await run()
        } catch (error) {
          if (!(error instanceof BlockMissing) || !peers) throw error
          fetched++
          here.add(height)
        }
      }
    }
    const reader = new EthReader({
      ...{ view, vm: {}, fetches },
      pool: { pending: () => ({ messages: [waiting], tipset: store.head() }) },
    } as unknown as ConstructorParameters<typeof EthReader>[0])
    const locate = locateIn(reader, { findMessage: async () => undefined } as unknown as Parameters<typeof locateIn>[1])
    const rows = [...ethTransactionMethods(reader, locate, undefined), ...traceMethods(reader, locate)]
    const all = fetches ? fetchingRows(rows, edge) : rows
    const scan: CallContext['scan'] = async (task) => {
      scans++
      return task(new AbortController().signal)
    }
    const ask = async (name: string, param: unknown): Promise<unknown> => {
      const row = all.find((wanted) => wanted.name === name)
      if (row?.kind !== 'call') throw new Error(name)
      return row.handle([param], plainCall({ scan }))
    }
    return { ask, fetched: () => fetched, scans: () => scans }
  }

  test.each([
    ['a node by itself', { fetches: false, peers: false }],
    ['a node whose peers have them no more', { fetches: true, peers: false }],
    ['a node whose peers have them all', { fetches: true, peers: true }],
  ])('%s says of a transaction that nobody knows that there is none', async (_, how) => {
    const { ask, fetched, scans } = asked(how)
    expect(await ask('EthGetTransactionByHash', unknown)).toBeNull()
    expect(await ask('EthGetTransactionReceipt', unknown)).toBeNull()
    expect(await ask('EthGetMessageCidByTransactionHash', unknown)).toBeNull()
    await expect(ask('EthTraceTransaction', hexBytes(unknown))).rejects.toThrow('transaction not found')
    expect(fetched()).toBe(0)
    expect(scans()).toBe(4)
  })

  test('a transaction that waits in the pool is told from one that is nowhere, and nothing is searched for it', async () => {
    for (const fetches of [false, true]) {
      const { ask, scans } = asked({ fetches, peers: false, lowest: 1_990 })
      const hash = hashOf(waiting)
      expect(await ask('EthGetTransactionByHash', hash)).toMatchObject({ nonce: '0x5', blockNumber: null })
      expect(await ask('EthGetTransactionReceipt', hash)).toBeNull()
      expect(String(await ask('EthGetMessageCidByTransactionHash', hash))).toBe(String(signedMessageCid(waiting)))
      await expect(ask('EthTraceTransaction', hexBytes(hash))).rejects.toThrow('no trace for pending transactions')
      expect(scans()).toBe(0)
    }
  })

  test('a node of headers fetches the messages of one finality, and then knows', async () => {
    const { ask, fetched } = asked({ fetches: true, peers: true, lowest: 1_990 })
    expect(await ask('EthGetTransactionReceipt', unknown)).toBeNull()
    expect(fetched()).toBe(890)
    expect(await ask('EthGetTransactionReceipt', unknown)).toBeNull()
    expect(fetched()).toBe(890)
  })
})

test('messages of the pool are hashed once, however often a hash is asked for that none of them has', () => {
  let looks = 0
  const messages = Array.from({ length: 20 }, (_, nonce): SignedMessage => {
    const { message, signature } = delegated(nonce)
    return {
      signature,
      get message() {
        looks++
        return message
      },
    }
  })
  const view = { store: { head: () => undefined, onHeadChange: () => undefined }, network: { chainId: CHAIN_ID } }
  const reader = new EthReader({
    view: { ...view, tipsetMessages: () => [] },
    pool: { pending: () => ({ messages }) },
  } as unknown as ConstructorParameters<typeof EthReader>[0])
  const unknown = new Uint8Array(32).fill(7)
  expect(reader.pendingMessage(unknown)).toBeUndefined()
  expect(looks).toBeGreaterThanOrEqual(messages.length)
  looks = 0
  expect(reader.pendingMessage(unknown)).toBeUndefined()
  expect(reader.pendingMessage(hashOf(delegated(19)))).toBe(messages[19])
  expect(looks).toBe(0)
})

test('logs, and blocks without transactions, ask the state for who emitted, not for who sent', () => {
  const { store } = chain(1)
  const contract = new Uint8Array(20).fill(0xc0)
  const [bls, secp] = [3, 4].map((byte) =>
    testMessage(blsAddress(new Uint8Array(48).fill(byte)), parseAddress('t01000'), 0, 1n),
  )
  const messages = [blsChainMessage((bls as SignedMessage).message), signedChainMessage(secp as SignedMessage)]
  const tree = {
    getActor: () => ({ delegatedAddress: delegatedAddress(EAM, contract) }),
    lookupId: () => {
      throw new Error('asked for a sender')
    },
  }
  const entries = [{ flags: 3, key: 't1', codec: 0x55, value: new Uint8Array(32) }]
  const receipt = { exitCode: 0, return: new Uint8Array(0), gasUsed: 1n, eventsRoot: null }
  const executed = (message: ChainMessage) => ({ message, receipt, events: [{ emitter: 1001n, entries }] })
  const tipset = store.head()
  const block = ethBlockOf({ tipset, tree, messages: messages.map(executed) } as unknown as Executed, 314n)
  // lotus node/impl/eth/utils.go newEthTxFromMessageLookup: the hash of a message that is no transaction is its CID's digest.
  const hashes = [messageCid((bls as SignedMessage).message), signedMessageCid(secp as SignedMessage)].map(
    ({ digest }) => hexBytes(digest),
  )
  expect(
    logsOf(block)
      .flat()
      .map(({ json }) => json['transactionHash']),
  ).toEqual(hashes)
  expect(blockJson(block, false, false)).toMatchObject({ transactions: hashes })
})
