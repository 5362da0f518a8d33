/**
 * Messages of a generated chain. Which there are follows from the seed and the tipset they come on; nonces and what waits
 * for approval are read from its state, so that a chain can be gone on with anywhere. Every sender has one message a
 * tipset at most: the order of a tipset's blocks does not matter.
 */

import { readSignedKey } from '../../../src/actors/mapKeys.ts'
import { EMPTY_BYTES } from '../../../src/base/bytes.ts'
import { CborWriter } from '../../../src/codec/cborWriter.ts'
import { encode } from '../../../src/codec/description.ts'
import type { DevnetKey } from '../../../src/devnet/keys.ts'
import { getCbor } from '../../../src/ipld/blockstore.ts'
import { Hamt } from '../../../src/ipld/hamt.ts'
import { multisigState, multisigTransaction } from '../../../src/state/multisig.ts'
import { proposeParams, txnIDParams } from '../../../src/state/params/multisig.ts'
import { createMinerParams } from '../../../src/state/params/power.ts'
import type { StateTree } from '../../../src/state/stateTree.ts'
import { type Address, address, idAddress } from '../../../src/types/address.ts'
import type { Message } from '../../../src/types/message.ts'
import { EvmMethod, MultisigMethod } from '../../../src/types/methodNumbers.ts'
import { ATTO_PER_FIL } from '../../../src/types/scalars.ts'
import type { SignedMessage } from '../../../src/types/signedMessage.ts'
import { MARKET_ADDRESS, POWER_ADDRESS } from '../../../src/types/singletons.ts'
import { signingBytes } from '../../../src/types/verifySignature.ts'
import { keyOf, signWith } from '../../../src/wallet/key.ts'
import { addressesOf, type KeyedAddresses, keyedAccount, workerKey } from './accounts.ts'
import { storageOf } from './contracts.ts'
import { publishedDeals } from './dealMessages.ts'
import { MINER_METHODS, MinerMessages, type MinerSort } from './minerMessages.ts'
import { fillRandom, PURPOSE, random32 } from './random.ts'
import { minerId, WINDOW_POST_PROOF } from './sectors.ts'
import { firstIdOf, type StateSize } from './size.ts'

/** What a tipset's messages are, in parts of the whole; proofs of storage come when their deadlines do. */
export const MIX = {
  /** f1 and f3 senders, to accounts of every kind. */
  send: 37,
  /** Calls of contracts that write to their storage and log. */
  invokeContract: 28,
  /** Value from one Ethereum account to another. */
  ethTransfer: 12,
  /** Market: AddBalance, for clients and for miners, and PublishStorageDeals. */
  addBalance: 5,
  publishDeals: 2,
  /** Multisigs: Propose, Approve. */
  propose: 4,
  approve: 3,
  /** Power: CreateMiner. */
  createMiner: 0.5,
  /**
   * Miners: WithdrawBalance, ChangePeerID, PreCommitSectorBatch2, ProveCommitSectors3 (one by one and aggregated), ProveCommitSectorsNI,
   * ProveReplicaUpdates3, ExtendSectorExpiration2.
   */
  withdraw: 3,
  changePeer: 1,
  preCommit: 6,
  proveCommit: 5,
  commitAtOnce: 1,
  update: 2,
  extend: 2,
  /** Miners: DeclareFaults, DeclareFaultsRecovered, TerminateSectors. */
  declareFaults: 2,
  recover: 2,
  terminate: 1,
} as const
type Sort = keyof typeof MIX

const ADD_BALANCE = 2n
const PUBLISH_DEALS = 4n
const CREATE_MINER = 2n
/** Gas that each sort may take: more than it does. */
const GAS: Readonly<Record<Sort, bigint>> = {
  send: 12_000_000n,
  invokeContract: 120_000_000n,
  ethTransfer: 25_000_000n,
  addBalance: 80_000_000n,
  publishDeals: 300_000_000n,
  propose: 60_000_000n,
  approve: 80_000_000n,
  withdraw: 80_000_000n,
  changePeer: 40_000_000n,
  preCommit: 200_000_000n,
  proveCommit: 600_000_000n,
  commitAtOnce: 600_000_000n,
  update: 300_000_000n,
  extend: 200_000_000n,
  declareFaults: 200_000_000n,
  recover: 200_000_000n,
  terminate: 300_000_000n,
  createMiner: 150_000_000n,
}
/** What a new miner's deposit is paid from: the less power a network has, the dearer it is. */
const MINER_DEPOSIT = 1_000n * ATTO_PER_FIL
const FEE_CAP = 5_000_000_000n
const PREMIUM = 100_000n
const VALUE = ATTO_PER_FIL / 1000n
const WORD = 32
/** Miners that are looked at for one whose state allows a message. */
const MINERS_TRIED = 8

/** Who may have sent which message of a tipset, and on what. */
export interface MessageBase {
  readonly tree: StateTree
  /** Epoch of the tipset that they come on. */
  readonly height: number
}

/** Makes the messages on one tipset. */
export class MessageMaker {
  readonly #size: StateSize
  readonly #chainId: bigint
  readonly #keyed: KeyedAddresses
  readonly #base: MessageBase
  readonly #miners: MinerMessages
  readonly #used = new Set<string>()
  #at = 0

  constructor(size: StateSize, chainId: bigint, keyed: KeyedAddresses, base: MessageBase) {
    this.#size = size
    this.#chainId = chainId
    this.#keyed = keyed
    this.#base = base
    this.#miners = new MinerMessages(size, base.tree, base.height, (below) => this.#random(below))
  }

  /** The state that the messages come on. */
  get tree(): StateTree {
    return this.#base.tree
  }

  #random(below: number): number {
    return random32(this.#size.seed, PURPOSE.messages, this.#base.height, this.#at++) % below
  }

  #sort(): Sort {
    // In halves.
    let left = this.#random(2 * Object.values(MIX).reduce((sum, part) => sum + part, 0))
    for (const [sort, part] of Object.entries(MIX) as [Sort, number][]) {
      left -= 2 * part
      if (left < 0) return sort
    }
    return 'send'
  }

  /** At most so many; fewer when senders run out. */
  make(count: number): SignedMessage[] {
    const out: SignedMessage[] = []
    for (let tries = 0; out.length < count && tries < count * 4; tries++) {
      const message = this.#one(this.#sort())
      if (message !== undefined) out.push(message)
    }
    return out
  }

  /** @param key - of the sender, who must not have sent on this tipset */
  sign(key: DevnetKey, fields: Partial<Message> & Pick<Message, 'to' | 'gasLimit'>): SignedMessage | undefined {
    if (this.#used.has(key.address.key)) return undefined
    const id = this.#base.tree.lookupId(key.address)
    const actor = id === undefined ? undefined : this.#base.tree.getActor(id)
    if (actor === undefined) return undefined
    this.#used.add(key.address.key)
    const message: Message = {
      version: 0,
      from: key.address,
      nonce: actor.nonce,
      value: 0n,
      method: 0n,
      params: EMPTY_BYTES,
      gasFeeCap: FEE_CAP,
      gasPremium: PREMIUM + BigInt(this.#random(100_000)),
      ...fields,
    }
    const data = signingBytes(message, key.address, this.#chainId)
    return { message, signature: signWith(keyOf({ type: key.kind, privateKey: key.secretKey }), data) }
  }

  #key(kind: 'secp256k1' | 'bls' | 'ethAccount'): DevnetKey {
    return keyedAccount(this.#size, kind, this.#random(this.#size.keyed))
  }

  /** Some actor's address. */
  #someone(kind: 'secp256k1' | 'bls' | 'ethAccount' | 'placeholder'): Address {
    const id = firstIdOf(this.#size, kind) + this.#random(this.#size.counts[kind])
    const { robust, delegated } = addressesOf(this.#size, id, this.#keyed)
    return (robust ?? delegated) as Address
  }

  #one(sort: Sort): SignedMessage | undefined {
    const gasLimit = GAS[sort]
    switch (sort) {
      case 'send': {
        const key = this.#key(this.#random(4) === 0 ? 'bls' : 'secp256k1')
        const kinds = ['secp256k1', 'secp256k1', 'bls', 'ethAccount', 'placeholder'] as const
        const to = this.#someone(kinds[this.#random(kinds.length)] ?? 'secp256k1')
        return this.sign(key, { to, value: VALUE, gasLimit })
      }
      case 'ethTransfer': {
        const to = this.#someone(this.#random(3) === 0 ? 'placeholder' : 'ethAccount')
        return this.sign(this.#key('ethAccount'), { to, value: VALUE, method: EvmMethod.InvokeContract, gasLimit })
      }
      case 'invokeContract':
        return this.#invoke(gasLimit)
      case 'addBalance': {
        if (this.#random(2) === 0) return this.#addStake(gasLimit)
        const key = this.#key('secp256k1')
        const params = encode(address, key.address)
        return this.sign(key, { to: MARKET_ADDRESS, value: VALUE, method: ADD_BALANCE, params, gasLimit })
      }
      case 'publishDeals':
        return this.#publishDeals(gasLimit)
      case 'propose':
        return this.#propose(gasLimit)
      case 'approve':
        return this.#approve(gasLimit)
      case 'createMiner':
        return this.#createMiner(gasLimit)
      default:
        return this.#toMiner(sort, gasLimit)
    }
  }

  /** For the deals of a miner. */
  #addStake(gasLimit: bigint): SignedMessage | undefined {
    const miner = this.#random(this.#size.counts.miner)
    const params = encode(address, idAddress(BigInt(minerId(miner))))
    const key = workerKey(this.#size, miner)
    return this.sign(key, { to: MARKET_ADDRESS, value: VALUE, method: ADD_BALANCE, params, gasLimit })
  }

  #publishDeals(gasLimit: bigint): SignedMessage | undefined {
    const { tree, height } = this.#base
    for (let tries = 0; tries < MINERS_TRIED; tries++) {
      const index = this.#random(this.#size.counts.miner)
      const [miner, client] = [idAddress(BigInt(minerId(index))), this.#key('secp256k1')]
      const params = publishedDeals({ size: this.#size, tree, height }, { index, miner, client })
      if (params === undefined) continue
      return this.sign(workerKey(this.#size, index), { to: MARKET_ADDRESS, method: PUBLISH_DEALS, params, gasLimit })
    }
    return undefined
  }

  #invoke(gasLimit: bigint): SignedMessage | undefined {
    const index = this.#random(this.#size.counts.contract)
    const { delegated } = addressesOf(this.#size, firstIdOf(this.#size, 'contract') + index, this.#keyed)
    const input = new Uint8Array(2 * WORD)
    const slots = storageOf(this.#size, index)
    const slot = slots[this.#random(slots.length)]
    // Of three calls two write over a value that is there, one makes a new one.
    if (slot !== undefined && this.#random(3) > 0) input.set(slot[0])
    else
      fillRandom(input.subarray(0, WORD), 0, this.#size.seed, PURPOSE.messages, this.#base.height * 10_000 + this.#at)
    fillRandom(input, WORD, this.#size.seed, PURPOSE.storage, this.#base.height * 10_000 + this.#at)
    const writer = new CborWriter()
    writer.bytes(input)
    return this.sign(this.#key('ethAccount'), {
      to: delegated as Address,
      method: EvmMethod.InvokeContract,
      params: writer.finish(),
      gasLimit,
    })
  }

  /** A multisig of which the first signers have known keys: number and ID. */
  #multisig(): { readonly index: number; readonly id: bigint } {
    const index = this.#random(Math.min(this.#size.keyed - 2, this.#size.counts.multisig))
    return { index, id: BigInt(firstIdOf(this.#size, 'multisig') + index) }
  }

  #propose(gasLimit: bigint): SignedMessage | undefined {
    const { index, id } = this.#multisig()
    const value = { to: this.#someone('secp256k1'), value: VALUE, method: 0n, params: EMPTY_BYTES }
    return this.sign(keyedAccount(this.#size, 'secp256k1', index), {
      to: idAddress(id),
      method: MultisigMethod.Propose,
      params: encode(proposeParams, value),
      gasLimit,
    })
  }

  #approve(gasLimit: bigint): SignedMessage | undefined {
    const { tree } = this.#base
    // The next one that waits.
    for (let tries = 0; tries < 8; tries++) {
      const { index, id } = this.#multisig()
      const actor = tree.getActor(id)
      if (actor === undefined) continue
      const { pendingTxns } = getCbor(tree.store, multisigState, actor.head)
      for (const [key] of Hamt.load(tree.store, pendingTxns, multisigTransaction).entries()) {
        return this.sign(keyedAccount(this.#size, 'secp256k1', index + 1), {
          to: idAddress(id),
          method: MultisigMethod.Approve,
          params: encode(txnIDParams, { id: Number(readSignedKey(key)), proposalHash: EMPTY_BYTES }),
          gasLimit,
        })
      }
    }
    return undefined
  }

  #toMiner(sort: MinerSort, gasLimit: bigint): SignedMessage | undefined {
    for (let tries = 0; tries < MINERS_TRIED; tries++) {
      const miner = this.#random(this.#size.counts.miner)
      const params = this.#miners.params(sort, miner)
      if (params === undefined) continue
      const to = idAddress(BigInt(minerId(miner)))
      return this.sign(workerKey(this.#size, miner), { to, method: MINER_METHODS[sort], params, gasLimit })
    }
    return undefined
  }

  /** A miner whose worker is a BLS account. */
  #createMiner(gasLimit: bigint): SignedMessage | undefined {
    const key = this.#key('bls')
    const peer = new Uint8Array(WORD)
    fillRandom(peer, 0, this.#size.seed, PURPOSE.messages, this.#base.height * 10_000 + this.#at)
    const params = encode(createMinerParams, {
      ...{ owner: key.address, worker: key.address, windowPoStProofType: WINDOW_POST_PROOF, peer, multiaddrs: [] },
    })
    return this.sign(key, { to: POWER_ADDRESS, value: MINER_DEPOSIT, method: CREATE_MINER, params, gasLimit })
  }
}
