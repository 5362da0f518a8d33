import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { Logger } from '../../src/base/ports.ts'
import type { BlockMessages } from '../../src/chain/blockMessages.ts'
import type { HeadListener } from '../../src/chain/headChange.ts'
import { branchesBetween } from '../../src/chain/headChange.ts'
import { type Cid, CODEC_DAG_CBOR, CODEC_RAW } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { type MessagePool, openMessagePool } from '../../src/mempool/messagePool.ts'
import { MinimumGas } from '../../src/mempool/minimumGas.ts'
import type { MessagePoolDeps } from '../../src/mempool/pool/poolState.ts'
import type { ActorReader, MempoolChain } from '../../src/mempool/ports.ts'
import type { ActorState } from '../../src/types/actor.ts'
import { type Address, idAddress, secp256k1Address } from '../../src/types/address.ts'
import { type BlockHeader, headerCid } from '../../src/types/blockHeader.ts'
import { blsChainMessage, type ChainMessage, signedChainMessage } from '../../src/types/chainMessage.ts'
import type { Message } from '../../src/types/message.ts'
import type { SignedMessage } from '../../src/types/signedMessage.ts'
import { createTipset, type Tipset, type TipsetKey, tipsetKeyText } from '../../src/types/tipset.ts'
import { FakeTime } from '../support/fakeTime.ts'

const EMPTY = blockCid(Uint8Array.of(0x80), CODEC_DAG_CBOR)
export const ACCOUNT_CODE: Cid = blockCid(Uint8Array.of(1), CODEC_RAW)
export const MINER_CODE: Cid = blockCid(Uint8Array.of(2), CODEC_RAW)

/** A secp256k1 address that stands for a key. */
export function keyAddress(n: number): Address {
  return secp256k1Address(Uint8Array.of(4, n >> 8, n & 255))
}

/** Gas limit of the messages in Lotus' own selection tests. */
export const GAS_LIMIT = 6_955_002n

/** A message as Lotus' selection tests make them: premium p, fee cap 100 + p, method 2. */
export function testMessage(
  from: Address,
  to: Address,
  nonce: number,
  premium: bigint,
  extra: Partial<Message> = {},
  type = 1,
): SignedMessage {
  return {
    message: {
      version: 0,
      to,
      from,
      nonce: BigInt(nonce),
      value: 0n,
      gasLimit: GAS_LIMIT,
      gasFeeCap: 100n + premium,
      gasPremium: premium,
      method: 2n,
      params: new Uint8Array(0),
      ...extra,
    },
    signature: { type, data: new Uint8Array(type === 2 ? 96 : 65) },
  }
}

/** For selection: at once. */
// biome-ignore lint/correctness/useYield: there is nothing to wait for
export function* sendersOf(actor: ActorReader['actor']): ReturnType<ActorReader['senders']> {
  return actor
}

function readerOf(actor: ActorReader['actor']): ActorReader {
  return { actor, checkedActor: actor, senders: () => sendersOf(actor) }
}

/** An in-memory chain for the pool: tipsets of one block, states that the test sets. */
export class FakeChain implements MempoolChain {
  baseFee = 100n
  nextBaseFee = 0n
  version = 28
  /** Nothing on this chain is taken back any more. */
  isFinal = false
  /** Actors after the head (and, for the pool, before it) by address key. */
  readonly actors = new Map<string, ActorState>()
  /** Addresses that exist only after the head. */
  readonly fresh = new Set<string>()
  readonly stored: (Message | SignedMessage)[] = []
  readonly #blocks = new Map<string, BlockMessages>()
  readonly #tipsets = new Map<string, Tipset>()
  readonly #listeners = new Set<HeadListener>()
  #head: Tipset
  #salt = 0

  constructor() {
    this.#head = this.block(undefined, [])
  }

  /** A tipset of one block on `parent` (default: a genesis), not yet the head. */
  block(parent: Tipset | undefined, messages: readonly SignedMessage[], height = (parent?.height ?? -1) + 1): Tipset {
    const header: BlockHeader = {
      miner: idAddress(1000),
      ticket: { vrfProof: Uint8Array.of(this.#salt++ & 255, this.#salt >> 8) },
      electionProof: { winCount: 1, vrfProof: new Uint8Array(0) },
      beaconEntries: [],
      winPoStProof: [],
      parents: [...(parent?.key ?? [EMPTY])],
      parentWeight: 0n,
      height,
      parentStateRoot: EMPTY,
      parentMessageReceipts: EMPTY,
      messages: EMPTY,
      blsAggregate: null,
      timestamp: height * 30,
      blockSig: null,
      forkSignaling: 0n,
      parentBaseFee: this.baseFee,
    }
    const tipset = createTipset([header])
    this.#tipsets.set(tipsetKeyText(tipset.key), tipset)
    this.#blocks.set(headerCid(header).key, {
      bls: messages.filter((one) => one.signature.type === 2).map((one) => one.message),
      signed: messages.filter((one) => one.signature.type !== 2),
    })
    return tipset
  }

  /** Moves the head and tells the listeners. */
  setHead(tipset: Tipset): void {
    const { reverted, applied } = branchesBetween((key) => this.loadTipset(key), this.#head, tipset)
    this.#head = tipset
    for (const listener of this.#listeners) listener(reverted, applied)
  }

  /** A block with these messages on the head becomes the head. */
  mine(messages: readonly SignedMessage[] = []): Tipset {
    const tipset = this.block(this.#head, messages)
    this.setHead(tipset)
    return tipset
  }

  setActor(address: Address, nonce: bigint, balance: bigint, code: Cid = ACCOUNT_CODE): void {
    this.actors.set(address.key, { code, head: EMPTY, nonce, balance, delegatedAddress: null })
  }

  head(): Tipset {
    return this.#head
  }

  onHeadChange(listener: HeadListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  loadTipset(key: TipsetKey): Tipset {
    const tipset = this.#tipsets.get(tipsetKeyText(key))
    if (tipset === undefined) throw new RangeError('no such tipset')
    return tipset
  }

  blockMessages(header: BlockHeader): BlockMessages {
    return this.#blocks.get(headerCid(header).key) ?? { bls: [], signed: [] }
  }

  tipsetMessages(tipset: Tipset): readonly ChainMessage[] {
    return tipset.blocks.flatMap((block) => {
      const { bls, signed } = this.blockMessages(block)
      return [...bls.map(blsChainMessage), ...signed.map(signedChainMessage)]
    })
  }

  putMessage(message: Message): void {
    this.stored.push(message)
  }

  putSignedMessage(message: SignedMessage): void {
    this.stored.push(message)
  }

  stateBefore(): ActorReader {
    return readerOf((address) => (this.fresh.has(address.key) ? undefined : this.actors.get(address.key)))
  }

  async stateAfter(): Promise<ActorReader> {
    return readerOf((address) => this.actors.get(address.key))
  }

  computeBaseFee(): bigint {
    return this.nextBaseFee
  }

  keyAddressAtFinality(): Address {
    throw new RangeError('ID address not found in lookback state')
  }

  finalTipset(): Tipset | undefined {
    return this.isFinal ? this.#head : undefined
  }

  networkVersion(): number {
    return this.version
  }

  actorKind(code: Cid): string | undefined {
    return code.equals(ACCOUNT_CODE) ? 'account' : 'storageminer'
  }
}

export const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** A pool on a fake chain, with what a test looks at. */
export interface TestPool {
  readonly chain: FakeChain
  readonly store: MemoryStore
  readonly time: FakeTime
  readonly published: Uint8Array[]
  readonly pool: MessagePool
}

/** Opens a pool whose prices are those of a network after Hygge, and whose signatures are all good. */
export async function openTestPool(parts: Partial<MessagePoolDeps> & { chain?: FakeChain } = {}): Promise<TestPool> {
  const chain = parts.chain ?? new FakeChain()
  const store = (parts.store as MemoryStore | undefined) ?? new MemoryStore()
  const time = new FakeTime()
  const published: Uint8Array[] = []
  const pool = await openMessagePool(
    {
      verifier: { messageSignatureError: () => undefined, areBlsMessagesValid: () => true },
      minimumGas: new MinimumGas({ calico: -1, hygge: -1 }),
      publish: async (bytes) => published.push(bytes) > 0,
      clock: time,
      timers: time,
      logger: silent,
      random: () => 0.5,
      ...parts,
      chain,
      store,
    },
    { addressPrefix: 't', republishIntervalMs: 310_000 },
  )
  return { chain, store, time, published, pool }
}
