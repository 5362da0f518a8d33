/**
 * Messages of a generated chain. Which there are follows from the seed and the tipset they come on; nonces and what waits
 * for approval are read from its state, so that a chain can be gone on with anywhere. Every sender has one message a
 * tipset at most: the order of a tipset's blocks does not matter.
 */

import { readSignedKey } from '../../../src/actors/mapKeys.ts'
import { SECTORS_BITS } from '../../../src/actors/miner/newMiner.ts'
import { EMPTY_BYTES } from '../../../src/base/bytes.ts'
import { CborWriter } from '../../../src/codec/cborWriter.ts'
import { CODEC_FIL_COMMITMENT_SEALED, createCid, HASH_POSEIDON_BLS12_381_A1_FC1 } from '../../../src/codec/cid.ts'
import { encode } from '../../../src/codec/description.ts'
import type { DevnetKey } from '../../../src/devnet/keys.ts'
import { Amt } from '../../../src/ipld/amt.ts'
import { bitFieldOf } from '../../../src/ipld/bitfield.ts'
import { getCbor } from '../../../src/ipld/blockstore.ts'
import { Hamt } from '../../../src/ipld/hamt.ts'
import { DEADLINES_PER_PERIOD } from '../../../src/state/deadline.ts'
import { minerState } from '../../../src/state/miner.ts'
import { multisigState, multisigTransaction } from '../../../src/state/multisig.ts'
import { preCommitSectorBatchParams2 } from '../../../src/state/params/miner/commit.ts'
import { changePeerIDParams, withdrawBalanceParams } from '../../../src/state/params/miner/control.ts'
import { extendSectorExpiration2Params } from '../../../src/state/params/miner/lifetime.ts'
import { proposeParams, txnIDParams } from '../../../src/state/params/multisig.ts'
import { sectorOnChainInfo } from '../../../src/state/sector.ts'
import type { StateTree } from '../../../src/state/stateTree.ts'
import { type Address, address, idAddress } from '../../../src/types/address.ts'
import type { Message } from '../../../src/types/message.ts'
import { EvmMethod, MultisigMethod } from '../../../src/types/methodNumbers.ts'
import { EPOCHS_PER_DAY } from '../../../src/types/protocol.ts'
import { ATTO_PER_FIL } from '../../../src/types/scalars.ts'
import type { SignedMessage } from '../../../src/types/signedMessage.ts'
import { MARKET_ADDRESS } from '../../../src/types/singletons.ts'
import { signingBytes } from '../../../src/types/verifySignature.ts'
import { keyOf, signWith } from '../../../src/wallet/key.ts'
import { addressesOf, type KeyedAddresses, keyedAccount, workerKey } from './accounts.ts'
import { storageOf } from './contracts.ts'
import { partitionSize } from './miner.ts'
import { fillRandom, PURPOSE, random32 } from './random.ts'
import { hasDeal, isVerified, minerId, sectorCounts } from './sectors.ts'
import { firstIdOf, type StateSize } from './size.ts'

/** What a tipset's messages are, in parts of the whole; proofs of storage come when their deadlines do. */
export const MIX = {
  /** f1 and f3 senders, to accounts of every kind. */
  send: 38,
  /** Calls of contracts that write to their storage and log. */
  invokeContract: 28,
  /** Value from one Ethereum account to another. */
  ethTransfer: 12,
  /** Market: AddBalance. */
  addBalance: 5,
  /** Multisigs: Propose, Approve. */
  propose: 4,
  approve: 3,
  /** Miners: WithdrawBalance, ChangePeerID, PreCommitSectorBatch2, ExtendSectorExpiration2. */
  withdraw: 3,
  changePeer: 1,
  preCommit: 6,
  extend: 2,
} as const
type Sort = keyof typeof MIX
type MinerSort = 'withdraw' | 'changePeer' | 'preCommit' | 'extend'

const METHODS = { addBalance: 2n, withdraw: 16n, changePeer: 4n, preCommit: 28n, extend: 32n } as const
/** Gas that each sort may take: more than it does. */
const GAS: Readonly<Record<Sort, bigint>> = {
  send: 12_000_000n,
  invokeContract: 120_000_000n,
  ethTransfer: 25_000_000n,
  addBalance: 80_000_000n,
  propose: 60_000_000n,
  approve: 80_000_000n,
  withdraw: 80_000_000n,
  changePeer: 40_000_000n,
  preCommit: 150_000_000n,
  extend: 200_000_000n,
}
const FEE_CAP = 5_000_000_000n
const PREMIUM = 100_000n
const VALUE = ATTO_PER_FIL / 1000n
const WORD = 32
const SEAL_PROOF = 8
const SECTORS_A_BATCH = 2
/** Sector numbers that no miner has from the start. */
const FREE_SECTORS = 200_000
const LIFETIME = 400 * 2880
/** Epochs between the randomness of a seal and its commitment. */
const SEAL_LOOKBACK = 5

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
  readonly #used = new Set<string>()
  #at = 0

  constructor(size: StateSize, chainId: bigint, keyed: KeyedAddresses, base: MessageBase) {
    this.#size = size
    this.#chainId = chainId
    this.#keyed = keyed
    this.#base = base
  }

  #random(below: number): number {
    return random32(this.#size.seed, PURPOSE.messages, this.#base.height, this.#at++) % below
  }

  #sort(): Sort {
    let left = this.#random(Object.values(MIX).reduce((sum, part) => sum + part, 0))
    for (const [sort, part] of Object.entries(MIX) as [Sort, number][]) {
      left -= part
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
        const key = this.#key('secp256k1')
        const params = encode(address, key.address)
        return this.sign(key, { to: MARKET_ADDRESS, value: VALUE, method: METHODS.addBalance, params, gasLimit })
      }
      case 'propose':
        return this.#propose(gasLimit)
      case 'approve':
        return this.#approve(gasLimit)
      default:
        return this.#toMiner(sort, gasLimit)
    }
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
    const miner = this.#random(this.#size.counts.miner)
    const params = sort === 'extend' ? this.#extension(miner) : this.#minerParams(sort, miner)
    if (params === undefined) return undefined
    const to = idAddress(BigInt(minerId(miner)))
    return this.sign(workerKey(this.#size, miner), { to, method: METHODS[sort], params, gasLimit })
  }

  #minerParams(sort: Exclude<MinerSort, 'extend'>, miner: number): Uint8Array {
    const { height } = this.#base
    if (sort === 'withdraw') return encode(withdrawBalanceParams, { amountRequested: VALUE })
    if (sort === 'changePeer') {
      const newId = new Uint8Array(WORD)
      fillRandom(newId, 0, this.#size.seed, PURPOSE.messages, height)
      return encode(changePeerIDParams, { newId })
    }
    const sectors = Array.from({ length: SECTORS_A_BATCH }, (_, i) => {
      const number = FREE_SECTORS + height * SECTORS_A_BATCH + i
      const digest = new Uint8Array(WORD)
      fillRandom(digest, 0, this.#size.seed ^ miner, PURPOSE.sealed, number)
      return {
        sealProof: SEAL_PROOF,
        sectorNumber: number,
        sealedCid: createCid(CODEC_FIL_COMMITMENT_SEALED, HASH_POSEIDON_BLS12_381_A1_FC1, digest),
        sealRandEpoch: Math.max(0, height - SEAL_LOOKBACK),
        dealIds: [],
        expiration: height + LIFETIME,
        unsealedCid: null,
      }
    })
    return encode(preCommitSectorBatchParams2, { sectors })
  }

  /** A sector without data lives on for a day more. */
  #extension(miner: number): Uint8Array | undefined {
    const { tree } = this.#base
    const actor = tree.getActor(BigInt(minerId(miner)))
    if (actor === undefined) return undefined
    const { sectors } = getCbor(tree.store, minerState, actor.head)
    const count = sectorCounts(this.#size)[miner] as number
    const number = this.#random(count)
    if (isVerified(number) || hasDeal(number)) return undefined
    const at = Math.floor(number / partitionSize(count))
    const sector = Amt.load(tree.store, sectors, sectorOnChainInfo, { bitWidth: SECTORS_BITS }).get(number)
    if (sector === undefined) return undefined
    const extension = {
      ...{
        deadline: at % DEADLINES_PER_PERIOD,
        partition: Math.floor(at / DEADLINES_PER_PERIOD),
        sectors: bitFieldOf([number]),
        sectorsWithClaims: [],
      },
      newExpiration: sector.expiration + EPOCHS_PER_DAY,
    }
    return encode(extendSectorExpiration2Params, { extensions: [extension] })
  }
}
