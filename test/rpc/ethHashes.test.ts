/** Transactions by Ethereum's hashes: none is lost because its block came late, and no hash is made twice. */
import { expect, test } from 'vitest'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { finish } from '../../src/base/steps.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { EthIndex } from '../../src/eth/ethIndex.ts'
import { ethHashOf } from '../../src/eth/ethTransactionOf.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { BlockMissing } from '../../src/ipld/errors.ts'
import { EthReader } from '../../src/rpc/ethReader.ts'
import { delegatedAddress } from '../../src/types/address.ts'
import type { BlockHeader } from '../../src/types/blockHeader.ts'
import { SIGNATURE_DELEGATED } from '../../src/types/signature.ts'
import { type SignedMessage, signedMessageCid } from '../../src/types/signedMessage.ts'
import { createTipset, type Tipset } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import { testMessage } from '../mempool/fakes.ts'
import { silentLog } from './stubTable.ts'

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

test('a tipset whose messages come after the index met it has its transactions all the same', () => {
  const store = new ChainStore({ blocks: new MemoryBlockstore(), meta: new MemoryStore(), log: silentLog })
  store.setGenesis(header(undefined, 0, 0))
  const on = (parent: Tipset): Tipset => {
    const block = header(parent, parent.height + 1, 0)
    store.putHeader(block)
    return createTipset([block])
  }
  const signed = delegated(0)
  for (const above of [0, 1, 5]) {
    const holder = on(store.genesis())
    let head = holder
    for (let i = 0; i < above; i++) head = on(head)
    store.setHead(head)
    let isHere = false
    const blockMessages = (block: BlockHeader) => {
      if (block.height !== holder.height) return { bls: [], signed: [] }
      if (!isHere) throw new BlockMissing([block.messages])
      return { bls: [], signed: [signed] }
    }
    const view = { store, network: { chainId: CHAIN_ID }, blockMessages } as unknown as EthReader['view']
    const index = new EthIndex(view)
    expect(() => finish(index.messageCid(hashOf(signed)))).toThrow(BlockMissing)
    isHere = true
    expect(String(finish(index.messageCid(hashOf(signed))))).toBe(String(signedMessageCid(signed)))
  }
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
