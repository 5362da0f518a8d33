/**
 * The state of a genesis: all singleton actors, funded accounts, miners with power.
 * @see lotus chain/gen/genesis/genesis.go MakeInitialStateTree, genesis_eth.go
 */
import { utf8 } from '../../base/bytes.ts'
import type { Cid } from '../../codec/cid.ts'
import { type Codec, cid, u64 } from '../../codec/description.ts'
import { EMPTY_ARRAY } from '../../fvm/emptyArray.ts'
import { Amt } from '../../ipld/amt.ts'
import { type Blockstore, putBlock, putCbor } from '../../ipld/blockstore.ts'
import { Hamt } from '../../ipld/hamt.ts'
import { accountState } from '../../state/account.ts'
import type { ActorKind } from '../../state/actorKind.ts'
import { datacapState } from '../../state/datacap.ts'
import { initState } from '../../state/init.ts'
import { dealProposal, dealState, marketState } from '../../state/market.ts'
import { multisigState, multisigTransaction } from '../../state/multisig.ts'
import { powerClaim, powerState } from '../../state/power.ts'
import { rewardState } from '../../state/reward.ts'
import { StateTree } from '../../state/stateTree.ts'
import { verifregState } from '../../state/verifreg.ts'
import {
  type Address,
  actorAddress,
  delegatedAddress,
  idAddress,
  NAMESPACE_EAM,
  PROTOCOL_DELEGATED,
} from '../../types/address.ts'
import { TOTAL_FILECOIN } from '../../types/protocol.ts'
import { type ActorId, ATTO_PER_FIL, type TokenAmount, tokenAmount } from '../../types/scalars.ts'
import {
  BURNT_FUNDS_ID,
  CRON_ID,
  DATACAP_ID,
  EAM_ID,
  FIRST_NON_SINGLETON_ID,
  INIT_ID,
  MARKET_ID,
  POWER_ID,
  RESERVE_ID,
  REWARD_ID,
  SYSTEM_ID,
  VERIFREG_ID,
} from '../../types/singletons.ts'
import { ActorsError } from '../errors.ts'
import { createFilterEstimate } from '../filterEstimate.ts'
import { CRON_QUEUE_HAMT_BIT_WIDTH } from '../power/cronEvents.ts'
import { createRewardState } from '../reward/state.ts'
import { createMinerState, SECTOR_SIZE, WINDOW_POST_PROOF } from './miner.ts'
import { putCronState, putSystemState } from './singletons.ts'
import type { GenesisTemplate } from './template.ts'

const STATE_TREE_VERSION = 5
const FIRST_MINER_ID = 1000n
const VERIFREG_ROOT_ID: ActorId = 80n
const VERIFIER_ID: ActorId = 81n
const ETH_ADDRESS_LENGTH = 20

/** Power that the estimate starts with, and its growth per epoch, bytes. @see builtin-actors v18 actors/power/src/state.rs */
const INITIAL_POWER_POSITION = 750_000n << 30n
const INITIAL_POWER_VELOCITY = 3_840n << 30n
const PROPOSALS_BITS = 5
const STATES_BITS = 6
const BALANCE_TABLE_BITS = 6
const TOKEN_BITS = 3

/** Builds the tree. One use. */
class GenesisBuilder {
  readonly #store: Blockstore
  readonly #template: GenesisTemplate
  readonly #tree: StateTree
  readonly #addresses: Hamt<ActorId>
  readonly #ids = new Map<string, ActorId>()
  readonly #noEntries: Cid
  #allotted = 0n
  #nextAccount = FIRST_NON_SINGLETON_ID

  constructor(store: Blockstore, template: GenesisTemplate) {
    this.#store = store
    this.#template = template
    this.#tree = StateTree.create(store, STATE_TREE_VERSION)
    this.#addresses = Hamt.empty(store, u64)
    this.#noEntries = Hamt.empty(store, u64).flush()
    putBlock(store, EMPTY_ARRAY)
  }

  build(): Cid {
    const { protocol, accounts, verifregRoot, verifier, reserveSigner } = this.#template
    this.#system()
    this.#set(
      REWARD_ID,
      'reward',
      this.#put(rewardState, createRewardState(0n)),
      BigInt(protocol.initialRewardBalanceFil) * ATTO_PER_FIL,
    )
    this.#cron()
    this.#market()
    this.#registries()
    this.#set(EAM_ID, 'eam', this.#empty(), 0n)
    this.#account(BURNT_FUNDS_ID, idAddress(BURNT_FUNDS_ID), 0n)
    for (const { address, balance } of accounts) this.#account(this.#register(address), address, balance)
    this.#account(this.#register(verifregRoot, VERIFREG_ROOT_ID), verifregRoot, 0n)
    this.#account(VERIFIER_ID, verifier, 0n)
    const signer = this.#register(reserveSigner)
    this.#account(signer, reserveSigner, 0n)
    const nextId = this.#miners()
    this.#reserve(idAddress(signer))
    this.#ethereumNull(nextId)
    this.#init(nextId + 1n)
    return this.#tree.flush()
  }

  #put<T>(codec: Codec<T>, value: T): Cid {
    return putCbor(this.#store, codec, value)
  }

  #empty(): Cid {
    return putBlock(this.#store, EMPTY_ARRAY)
  }

  #set(id: ActorId, kind: ActorKind, head: Cid, balance: TokenAmount, delegated: Address | null = null): void {
    const code = this.#template.manifest.actors.get(kind)
    if (code === undefined)
      throw new ActorsError('MANIFEST_UNKNOWN', `Cannot make genesis: the manifest has no ${kind}`)
    this.#tree.setActor(id, { code, head, nonce: 0n, balance, delegatedAddress: delegated })
    this.#allotted += balance
  }

  /** Gives an address a number. @throws ActorsError `GENESIS_INVALID` when it has one */
  #register(address: Address, id?: ActorId): ActorId {
    if (this.#ids.has(address.key)) {
      throw new ActorsError('GENESIS_INVALID', `Cannot make genesis: ${address.toString()} occurs twice`)
    }
    const given = id ?? this.#nextAccount++
    this.#ids.set(address.key, given)
    this.#addresses.set(address.bytes, given)
    return given
  }

  #account(id: ActorId, address: Address, balance: TokenAmount): void {
    if (address.protocol === PROTOCOL_DELEGATED) this.#set(id, 'ethaccount', this.#empty(), balance, address)
    else this.#set(id, 'account', this.#put(accountState, { address }), balance)
  }

  #system(): void {
    this.#set(SYSTEM_ID, 'system', putSystemState(this.#store, this.#template.manifest), 0n)
  }

  #cron(): void {
    this.#set(CRON_ID, 'cron', putCronState(this.#store), 0n)
  }

  #market(): void {
    const balances = Hamt.empty(this.#store, tokenAmount, { bitWidth: BALANCE_TABLE_BITS }).flush()
    const head = this.#put(marketState, {
      proposals: Amt.empty(this.#store, dealProposal, { bitWidth: PROPOSALS_BITS }).flush(),
      states: Amt.empty(this.#store, dealState, { bitWidth: STATES_BITS }).flush(),
      pendingProposals: this.#noEntries,
      escrowTable: balances,
      lockedTable: balances,
      nextId: 0,
      dealOpsByEpoch: this.#noEntries,
      lastCron: -1,
      totalClientLockedCollateral: 0n,
      totalProviderLockedCollateral: 0n,
      totalClientStorageFee: 0n,
      pendingDealAllocationIds: this.#noEntries,
      providerSectors: this.#noEntries,
    })
    this.#set(MARKET_ID, 'storagemarket', head, 0n)
  }

  #registries(): void {
    const none = this.#noEntries
    const registry = this.#put(verifregState, {
      rootKey: idAddress(VERIFREG_ROOT_ID),
      verifiers: none,
      removeDataCapProposalIds: none,
      allocations: none,
      nextAllocationId: 1,
      claims: none,
    })
    this.#set(VERIFREG_ID, 'verifiedregistry', registry, 0n)
    const token = { supply: 0n, balances: none, allowances: none, hamtBitWidth: TOKEN_BITS }
    this.#set(DATACAP_ID, 'datacap', this.#put(datacapState, { governor: idAddress(VERIFREG_ID), token }), 0n)
  }

  /** @returns the first number behind the miners' */
  #miners(): ActorId {
    const claims = Hamt.empty(this.#store, powerClaim)
    let id = FIRST_MINER_ID
    for (const { worker } of this.#template.miners) {
      const workerId = this.#ids.get(worker.key)
      if (workerId === undefined) {
        throw new ActorsError('GENESIS_INVALID', `Cannot make genesis: worker ${worker.toString()} is no account`)
      }
      const address = idAddress(id)
      // Lotus' miners have an f2 address from their creation; these are not created by a message, so it is made up.
      this.#register(actorAddress(utf8(`genesis miner ${id}`)), id)
      this.#set(id, 'storageminer', createMinerState(this.#store, address, idAddress(workerId)), 0n)
      const power = BigInt(SECTOR_SIZE)
      claims.set(address.bytes, { windowPoStProofType: WINDOW_POST_PROOF, rawBytePower: power, qualityAdjPower: power })
      id++
    }
    const count = this.#template.miners.length
    const power = BigInt(SECTOR_SIZE * count)
    const head = this.#put(powerState, {
      totalRawBytePower: power,
      totalBytesCommitted: power,
      totalQualityAdjPower: power,
      totalQaBytesCommitted: power,
      totalPledgeCollateral: 0n,
      thisEpochRawBytePower: power,
      thisEpochQualityAdjPower: power,
      thisEpochPledgeCollateral: 0n,
      thisEpochQaPowerSmoothed: createFilterEstimate(INITIAL_POWER_POSITION, INITIAL_POWER_VELOCITY),
      minerCount: count,
      minerAboveMinPowerCount: count,
      rampStartEpoch: 0,
      rampDurationEpochs: 0,
      cronEventQueue: Hamt.empty(this.#store, cid, { bitWidth: CRON_QUEUE_HAMT_BIT_WIDTH }).flush(),
      firstCronEpoch: 0,
      claims: claims.flush(),
      proofValidationBatch: null,
    })
    this.#set(POWER_ID, 'storagepower', head, 0n)
    return id
  }

  /** What nobody else got, in a multisig of one. */
  #reserve(signer: Address): void {
    const balance = TOTAL_FILECOIN - this.#allotted
    if (balance < 0n) {
      throw new ActorsError('GENESIS_INVALID', `Cannot make genesis: ${-balance} attoFIL more allotted than there are`)
    }
    const head = this.#put(multisigState, {
      signers: [signer],
      numApprovalsThreshold: 1,
      nextTxnId: 0,
      initialBalance: balance,
      startEpoch: 0n,
      unlockDuration: 0n,
      pendingTxns: Hamt.empty(this.#store, multisigTransaction).flush(),
    })
    this.#set(RESERVE_ID, 'multisig', head, balance)
  }

  /** The Ethereum zero address is an account without a key. */
  #ethereumNull(id: ActorId): void {
    const address = delegatedAddress(NAMESPACE_EAM, new Uint8Array(ETH_ADDRESS_LENGTH))
    this.#account(this.#register(address, id), address, 0n)
  }

  #init(nextId: ActorId): void {
    const head = this.#put(initState, {
      addressMap: this.#addresses.flush(),
      nextId,
      networkName: this.#template.networkName,
    })
    this.#set(INIT_ID, 'init', head, 0n)
  }
}

/**
 * Writes a genesis' state.
 * @returns the state root
 * @throws ActorsError `MANIFEST_UNKNOWN`, `GENESIS_INVALID`
 */
export function createGenesisState(store: Blockstore, template: GenesisTemplate): Cid {
  return new GenesisBuilder(store, template).build()
}
