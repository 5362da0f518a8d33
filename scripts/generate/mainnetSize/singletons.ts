/**
 * The actors of which there is one: their states follow from what was made before them.
 * @see src/actors/genesis/state.ts, which makes those of a local chain
 */
import { createFilterEstimate } from '../../../src/actors/filterEstimate.ts'
import { putCronState, putSystemState } from '../../../src/actors/genesis/singletons.ts'
import { signedKey } from '../../../src/actors/mapKeys.ts'
import { CRON_QUEUE_AMT_BIT_WIDTH, CRON_QUEUE_HAMT_BIT_WIDTH } from '../../../src/actors/power/cronEvents.ts'
import { createRewardState } from '../../../src/actors/reward/state.ts'
import type { Cid } from '../../../src/codec/cid.ts'
import { cid, encode } from '../../../src/codec/description.ts'
import { EMPTY_ARRAY } from '../../../src/fvm/emptyArray.ts'
import { type Blockstore, putBlock, putCbor } from '../../../src/ipld/blockstore.ts'
import type { ActorsManifest } from '../../../src/networks/network.ts'
import { accountState } from '../../../src/state/account.ts'
import type { ActorKind } from '../../../src/state/actorKind.ts'
import { initState } from '../../../src/state/init.ts'
import { multisigState } from '../../../src/state/multisig.ts'
import { cronEvent, powerClaim, powerState } from '../../../src/state/power.ts'
import { rewardState } from '../../../src/state/reward.ts'
import { idAddress } from '../../../src/types/address.ts'
import { TOTAL_FILECOIN } from '../../../src/types/protocol.ts'
import type { ChainEpoch, TokenAmount } from '../../../src/types/scalars.ts'
import {
  BURNT_FUNDS_ID,
  CRON_ID,
  DATACAP_ID,
  EAM_ID,
  INIT_ID,
  MARKET_ID,
  POWER_ID,
  RESERVE_ID,
  REWARD_ID,
  SYSTEM_ID,
  VERIFREG_ID,
} from '../../../src/types/singletons.ts'
import { bulkAmt } from './bulkAmt.ts'
import { sortedHamt } from './bulkHamt.ts'
import { NETWORK_NAME } from './network.ts'
import { minerId, WINDOW_POST_PROOF } from './sectors.ts'
import { actorCount, FIRST_ID, firstIdOf, type StateSize } from './size.ts'

/** What is kept of a miner until its claim is written. */
export interface MinerRow {
  readonly raw: bigint
  readonly qa: bigint
  readonly pledge: TokenAmount
  readonly locked: TokenAmount
  readonly balance: TokenAmount
  readonly cronEpoch: ChainEpoch
}

/** An actor below the first ID. */
export interface Singleton {
  readonly id: bigint
  readonly kind: ActorKind
  readonly head: Cid
  readonly balance: TokenAmount
}

/** What the singletons' states are made from. */
export interface SingletonParts {
  readonly manifest: ActorsManifest
  readonly miners: readonly MinerRow[]
  readonly market: { readonly head: Cid; readonly balance: TokenAmount }
  readonly registry: Cid
  readonly datacap: Cid
  readonly addressMap: Cid
  /** AttoFIL of the reward actor. */
  readonly reward: TokenAmount
  /** AttoFIL of all accounts, contracts and multisigs. */
  readonly others: TokenAmount
  /** Bytes of raw power from which on a miner counts. */
  readonly minPower: bigint
}

/** f080, f081: root of the verified registry, and who gives data cap. Both are the first multisig's. */
export const VERIFREG_ROOT_ID = 80n
export const VERIFIER_ID = 81n
/** CRON_EVENT_PROVING_DEADLINE. @see builtin-actors v18 actors/miner/src/types.rs CronEventPayload */
const PROVING_DEADLINE = Uint8Array.of(0x81, 0x01)

function cronQueue(store: Blockstore, miners: readonly MinerRow[]): { readonly root: Cid; readonly first: ChainEpoch } {
  const byEpoch = new Map<ChainEpoch, number[]>()
  miners.forEach(({ cronEpoch }, i) => {
    byEpoch.set(cronEpoch, [...(byEpoch.get(cronEpoch) ?? []), minerId(i)])
  })
  const entries = [...byEpoch].map(([epoch, ids]): [Uint8Array, Uint8Array] => {
    const events = ids.map(
      (id, i) => [i, { minerAddr: idAddress(BigInt(id)), callbackPayload: PROVING_DEADLINE }] as const,
    )
    return [signedKey(epoch), encode(cid, bulkAmt(store, cronEvent, CRON_QUEUE_AMT_BIT_WIDTH, events))]
  })
  return { root: sortedHamt(store, entries, CRON_QUEUE_HAMT_BIT_WIDTH), first: 0 }
}

function power(store: Blockstore, { miners, minPower }: SingletonParts): Cid {
  const total = (of: (row: MinerRow) => bigint): bigint => miners.reduce((sum, row) => sum + of(row), 0n)
  const counts = (row: MinerRow): boolean => row.raw >= minPower
  const raw = total((row) => (counts(row) ? row.raw : 0n))
  const qa = total((row) => (counts(row) ? row.qa : 0n))
  const pledge = total((row) => row.pledge + row.locked)
  const queue = cronQueue(store, miners)
  return putCbor(store, powerState, {
    totalRawBytePower: raw,
    totalBytesCommitted: total((row) => row.raw),
    totalQualityAdjPower: qa,
    totalQaBytesCommitted: total((row) => row.qa),
    totalPledgeCollateral: pledge,
    thisEpochRawBytePower: raw,
    thisEpochQualityAdjPower: qa,
    thisEpochPledgeCollateral: pledge,
    thisEpochQaPowerSmoothed: createFilterEstimate(qa, 0n),
    minerCount: miners.length,
    minerAboveMinPowerCount: miners.filter(counts).length,
    rampStartEpoch: 0,
    rampDurationEpochs: 0,
    cronEventQueue: queue.root,
    firstCronEpoch: queue.first,
    claims: sortedHamt(
      store,
      miners.map((row, i): [Uint8Array, Uint8Array] => [
        idAddress(BigInt(minerId(i))).bytes,
        encode(powerClaim, {
          windowPoStProofType: WINDOW_POST_PROOF,
          rawBytePower: row.raw,
          qualityAdjPower: row.qa,
        }),
      ]),
    ),
    proofValidationBatch: null,
  })
}

/** Writes them all; the reserve has what nobody else has. */
export function writeSingletons(store: Blockstore, size: StateSize, parts: SingletonParts): Singleton[] {
  const empty = putBlock(store, EMPTY_ARRAY)
  const signer = idAddress(BigInt(firstIdOf(size, 'secp256k1')))
  const multisig = putCbor(store, multisigState, {
    signers: [signer],
    numApprovalsThreshold: 1,
    nextTxnId: 0,
    initialBalance: 0n,
    startEpoch: 0n,
    unlockDuration: 0n,
    pendingTxns: sortedHamt(store, []),
  })
  const raw = parts.miners.reduce((sum, row) => sum + row.raw, 0n)
  const inMiners = parts.miners.reduce((sum, row) => sum + row.balance, 0n)
  const left = TOTAL_FILECOIN - parts.reward - parts.others - parts.market.balance - inMiners
  if (left < 0n) throw new RangeError('more is given out than there is')
  const init = putCbor(store, initState, {
    addressMap: parts.addressMap,
    nextId: BigInt(FIRST_ID + actorCount(size)),
    networkName: NETWORK_NAME,
  })
  const burnt = putCbor(store, accountState, { address: idAddress(BURNT_FUNDS_ID) })
  const rows: readonly [bigint, ActorKind, Cid, TokenAmount?][] = [
    [SYSTEM_ID, 'system', putSystemState(store, parts.manifest)],
    [INIT_ID, 'init', init],
    [REWARD_ID, 'reward', putCbor(store, rewardState, createRewardState(raw)), parts.reward],
    [CRON_ID, 'cron', putCronState(store)],
    [POWER_ID, 'storagepower', power(store, parts)],
    [MARKET_ID, 'storagemarket', parts.market.head, parts.market.balance],
    [VERIFREG_ID, 'verifiedregistry', parts.registry],
    [DATACAP_ID, 'datacap', parts.datacap],
    [EAM_ID, 'eam', empty],
    [VERIFREG_ROOT_ID, 'multisig', multisig],
    [VERIFIER_ID, 'multisig', multisig],
    [RESERVE_ID, 'multisig', multisig, left],
    [BURNT_FUNDS_ID, 'account', burnt],
  ]
  return rows.map(([id, kind, head, balance = 0n]) => ({ id, kind, head, balance }))
}
