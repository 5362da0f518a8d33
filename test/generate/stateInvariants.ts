/**
 * What a whole state must fulfil, as builtin-actors names it.
 * @see builtin-actors v18 state/src/check.rs check_state_invariants and the `testing.rs` of each actor
 */
import { readSignedKey, readUnsignedKey } from '../../src/actors/mapKeys.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { cid, list, u64 } from '../../src/codec/description.ts'
import { Amt } from '../../src/ipld/amt.ts'
import { type Blockstore, getBlock, getCbor } from '../../src/ipld/blockstore.ts'
import { Hamt } from '../../src/ipld/hamt.ts'
import type { ActorsManifest } from '../../src/networks/network.ts'
import { accountState } from '../../src/state/account.ts'
import { datacapState } from '../../src/state/datacap.ts'
import { evmState } from '../../src/state/evm.ts'
import { initState } from '../../src/state/init.ts'
import { dealProposal, dealState, marketState } from '../../src/state/market.ts'
import { multisigState } from '../../src/state/multisig.ts'
import { cronEvent, powerClaim, powerState } from '../../src/state/power.ts'
import type { SectorNumber } from '../../src/state/scalars.ts'
import { dealId } from '../../src/state/scalars.ts'
import { StateTree } from '../../src/state/stateTree.ts'
import { allocation, verifregClaim, verifregState } from '../../src/state/verifreg.ts'
import type { ActorState } from '../../src/types/actor.ts'
import { addressFromBytes, addressToId, PROTOCOL_DELEGATED } from '../../src/types/address.ts'
import { TOTAL_FILECOIN } from '../../src/types/protocol.ts'
import { ATTO_PER_FIL, tokenAmount } from '../../src/types/scalars.ts'
import { DATACAP_ID, INIT_ID, MARKET_ID, POWER_ID, VERIFREG_ID } from '../../src/types/singletons.ts'
import { checkMiner, type MinerSummary } from './minerInvariants.ts'

/** What was found. */
export interface StateSummary {
  readonly problems: string[]
  /** Actors by kind. */
  readonly counts: ReadonlyMap<string, number>
  readonly sectors: number
  readonly deals: number
  readonly claims: number
}

/** Least raw power with which a miner counts, bytes. */
const MIN_POWER = 10n << 40n

class StateCheck {
  readonly problems: string[] = []
  readonly #store: Blockstore
  readonly #tree: StateTree
  readonly #epoch: number

  constructor(store: Blockstore, root: Cid, epoch: number) {
    this.#store = store
    this.#tree = StateTree.load(store, root)
    this.#epoch = epoch
  }

  require(holds: boolean, problem: string): void {
    if (!holds) this.problems.push(problem)
  }

  actor(id: bigint): ActorState {
    const found = this.#tree.getActor(id)
    if (found === undefined) throw new Error(`no actor ${id}`)
    return found
  }

  actors(): Map<bigint, ActorState> {
    const out = new Map<bigint, ActorState>()
    this.#tree.forEach((id, actor) => {
      out.set(id, actor)
    })
    return out
  }

  #map<T>(root: Cid, codec: Parameters<typeof Hamt.load<T>>[2], bitWidth = 5): [Uint8Array, T][] {
    const out: [Uint8Array, T][] = []
    Hamt.load(this.#store, root, codec, { bitWidth }).forEach((key, value) => {
      out.push([key, value])
    })
    return out
  }

  power(miners: ReadonlyMap<bigint, MinerSummary>): void {
    const state = getCbor(this.#store, powerState, this.actor(POWER_ID).head)
    let raw = 0n
    let qa = 0n
    let committed = 0n
    let above = 0
    const claims = this.#map(state.claims, powerClaim)
    this.require(claims.length === miners.size && state.minerCount === miners.size, 'miners without claim')
    for (const [key, claim] of claims) {
      const id = addressToId(addressFromBytes(key))
      const miner = miners.get(id)
      this.require(miner !== undefined && miner.active.raw === claim.rawBytePower, `claim of ${id}: raw power`)
      this.require(miner?.active.qa === claim.qualityAdjPower, `claim of ${id}: power`)
      this.require(miner?.postProof === claim.windowPoStProofType, `claim of ${id}: proof`)
      committed += claim.rawBytePower
      if (claim.rawBytePower < MIN_POWER) continue
      above++
      raw += claim.rawBytePower
      qa += claim.qualityAdjPower
    }
    this.require(state.totalBytesCommitted === committed, 'committed power')
    this.require(state.totalRawBytePower === raw && state.totalQualityAdjPower === qa, 'total power')
    this.require(state.minerAboveMinPowerCount === above, 'miners above the least power')
    // A miner's constructor locks its deposit and does not tell the power actor (builtin-actors v18 actors/miner/src/lib.rs).
    const counted = [...miners.values()].filter(({ sectors }) => sectors.size > 0)
    const pledge = counted.reduce((sum, one) => sum + one.pledge + one.locked, 0n)
    this.require(state.totalPledgeCollateral === pledge, 'total pledge')
    const called = new Set<bigint>()
    for (const [key, root] of this.#map(state.cronEventQueue, cid, 6)) {
      this.require(Number(readSignedKey(key)) >= state.firstCronEpoch, 'cron event before the first epoch')
      Amt.load(this.#store, root, cronEvent).forEach((_, { minerAddr }) => {
        const id = addressToId(minerAddr)
        this.require(!called.has(id), `miner ${id} has two cron events`)
        called.add(id)
      })
    }
    for (const [id, { cronActive }] of miners) this.require(called.has(id) === cronActive, `miner ${id}: cron event`)
  }

  market(miners: ReadonlyMap<bigint, MinerSummary>): number {
    const actor = this.actor(MARKET_ID)
    const state = getCbor(this.#store, marketState, actor.head)
    const states = new Map<number, SectorNumber>()
    Amt.load(this.#store, state.states, dealState).forEach((id, deal) => {
      states.set(id, deal.sectorNumber)
      this.require(deal.lastUpdatedEpoch <= this.#epoch && deal.sectorStartEpoch >= 0, `deal ${id}: epochs`)
    })
    const scheduled = new Set<number>()
    for (const [, root] of this.#map(state.dealOpsByEpoch, cid))
      for (const [key] of this.#map(root, nullValue)) scheduled.add(Number(readUnsignedKey(key)))
    const bySector = new Map<number, string>()
    for (const [provider, root] of this.#map(state.providerSectors, cid))
      for (const [sector, ids] of this.#map(root, list(dealId)))
        for (const id of ids) bySector.set(id, `${readUnsignedKey(provider)}/${readUnsignedKey(sector)}`)
    let deals = 0
    let collateral = 0n
    Amt.load(this.#store, state.proposals, dealProposal).forEach((id, deal) => {
      deals++
      collateral += deal.providerCollateral
      const provider = addressToId(deal.provider)
      const sector = states.get(id)
      this.require(deal.startEpoch <= this.#epoch || scheduled.has(id), `deal ${id} is not scheduled`)
      this.require((sector === undefined) === scheduled.has(id), `deal ${id} is scheduled and active`)
      if (sector === undefined) return
      this.require(bySector.get(id) === `${provider}/${sector}`, `deal ${id} is not in its sector`)
      const info = miners.get(provider)?.sectors.get(sector)
      this.require(info !== undefined && info.dealWeight > 0n && info.expiration >= deal.endEpoch, `deal ${id}: sector`)
    })
    this.require(state.nextId >= deals, 'next deal')
    this.require(this.#map(state.pendingProposals, nullValue).length === deals - states.size, 'pending proposals')
    const escrow = new Map(this.#map(state.escrowTable, tokenAmount, 6).map(([key, amount]) => [key.join(), amount]))
    let locked = 0n
    for (const [key, amount] of this.#map(state.lockedTable, tokenAmount, 6)) {
      locked += amount
      this.require((escrow.get(key.join()) ?? 0n) >= amount, `escrow of ${key.join()}`)
    }
    this.require(locked === state.totalProviderLockedCollateral && locked === collateral, 'locked collateral')
    this.require([...escrow.values()].reduce((sum, amount) => sum + amount, 0n) <= actor.balance, 'market balance')
    return deals
  }

  registry(miners: ReadonlyMap<bigint, MinerSummary>): number {
    const state = getCbor(this.#store, verifregState, this.actor(VERIFREG_ID).head)
    const weights = new Map<string, bigint>()
    let claims = 0
    for (const [provider, root] of this.#map(state.claims, cid)) {
      for (const [key, claim] of this.#map(root, verifregClaim)) {
        claims++
        const id = readUnsignedKey(key)
        const sector = miners.get(claim.provider)?.sectors.get(claim.sector)
        this.require(claim.provider === readUnsignedKey(provider), `claim ${id}: provider`)
        this.require(id < BigInt(state.nextAllocationId), `claim ${id}: next id`)
        if (sector === undefined) throw new Error(`claim ${id} names no sector`)
        this.require(sector.expiration >= claim.termStart + claim.termMin, `claim ${id}: least term`)
        this.require(sector.expiration <= claim.termStart + claim.termMax, `claim ${id}: longest term`)
        const name = `${claim.provider}/${claim.sector}`
        const weight = BigInt(claim.size) * BigInt(sector.expiration - claim.termStart)
        weights.set(name, (weights.get(name) ?? 0n) + weight)
      }
    }
    for (const [id, { sectors }] of miners)
      for (const [number, { verifiedDealWeight }] of sectors)
        this.require((weights.get(`${id}/${number}`) ?? 0n) === verifiedDealWeight, `sector ${id}/${number}: claims`)
    let allocated = 0n
    for (const [, root] of this.#map(state.allocations, cid))
      for (const [, one] of this.#map(root, allocation)) allocated += BigInt(one.size) * ATTO_PER_FIL
    const { token } = getCbor(this.#store, datacapState, this.actor(DATACAP_ID).head)
    const balances = new Map(
      this.#map(token.balances, tokenAmount, token.hamtBitWidth).map(([key, amount]) => [readUnsignedKey(key), amount]),
    )
    this.require(balances.get(VERIFREG_ID) === allocated, 'data cap of allocations')
    this.require([...balances.values()].reduce((sum, one) => sum + one, 0n) === token.supply, 'supply of data cap')
    return claims
  }

  /** Every address leads to an actor that agrees, and every actor is led to. */
  addresses(actors: ReadonlyMap<bigint, ActorState>, isAccount: (actor: ActorState) => boolean): void {
    const state = getCbor(this.#store, initState, this.actor(INIT_ID).head)
    const led = new Set<bigint>()
    for (const [key, id] of this.#map(state.addressMap, u64)) {
      led.add(id)
      const address = addressFromBytes(key)
      const actor = actors.get(id)
      if (actor === undefined) throw new Error(`${address.toString()} leads to no actor`)
      if (address.protocol === PROTOCOL_DELEGATED) {
        this.require(actor.delegatedAddress?.equals(address) === true, `${id}: delegated address`)
      } else if (isAccount(actor)) {
        this.require(getCbor(this.#store, accountState, actor.head).address.equals(address), `${id}: key address`)
      }
      this.require(id < state.nextId, `${id}: next id`)
    }
    for (const id of actors.keys()) if (id >= 1000n) this.require(led.has(id), `${id} has no address`)
  }
}

const nullValue = {
  name: 'null',
  write: () => undefined,
  read: (reader: { readNull(): null }) => reader.readNull(),
  toJson: () => null,
  fromJson: () => null,
  schema: {},
} as const

/** Checks a state. @param epoch - after which it is */
export function checkState(store: Blockstore, root: Cid, manifest: ActorsManifest, epoch: number): StateSummary {
  const check = new StateCheck(store, root, epoch)
  const kinds = new Map([...manifest.actors].map(([kind, code]) => [code.key, kind]))
  const actors = check.actors()
  const miners = new Map<bigint, MinerSummary>()
  const counts = new Map<string, number>()
  let total = 0n
  for (const [id, actor] of actors) {
    const kind = kinds.get(actor.code.key)
    if (kind === undefined) throw new Error(`actor ${id} has a code that is not in the manifest`)
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
    total += actor.balance
    if (kind === 'storageminer') {
      const miner = checkMiner(store, `miner ${id}`, actor)
      check.problems.push(...miner.problems)
      miners.set(id, miner)
    } else if (kind === 'evm') {
      const state = getCbor(store, evmState, actor.head)
      getBlock(store, state.bytecode)
      getBlock(store, state.contractState)
    } else if (kind === 'multisig') {
      check.require(getCbor(store, multisigState, actor.head).signers.length > 0, `multisig ${id} has no signer`)
    } else {
      getBlock(store, actor.head)
    }
  }
  check.require(total === TOTAL_FILECOIN, `all balances are ${total}`)
  check.power(miners)
  const deals = check.market(miners)
  const claims = check.registry(miners)
  check.addresses(actors, (actor) => kinds.get(actor.code.key) === 'account')
  const sectors = [...miners.values()].reduce((sum, miner) => sum + miner.sectors.size, 0)
  return { problems: check.problems, counts, sectors, deals, claims }
}
