/**
 * The market actor, as far as cron touches it: deals of an epoch that were activated leave the pending set. Everything
 * else is in the actors bundle only.
 * @see builtin-actors v18 actors/market/src/lib.rs cron_tick, state.rs
 */
import { type Cid, CODEC_DAG_CBOR, createCid, HASH_BLAKE2B_256 } from '../../codec/cid.ts'
import { type Codec, cid, encode } from '../../codec/description.ts'
import { Amt } from '../../ipld/amt.ts'
import { type DealState, dealProposal, dealState, type MarketState, marketState } from '../../state/market.ts'
import { Exit } from '../../types/exitCodes.ts'
import { MarketMethod } from '../../types/methodNumbers.ts'
import { CRON_ID } from '../../types/singletons.ts'
import { ActorMap, orIllegalState } from '../actorMap.ts'
import { action, type NativeActor, nativeActor, nativeUnsupported } from '../dispatch.ts'
import { ActorError } from '../errors.ts'
import { readUnsignedKey, signedKey } from '../mapKeys.ts'
import type { Runtime } from '../runtime.ts'

const EPOCH_UNDEFINED = -1
const PROPOSALS_BIT_WIDTH = 5
const STATES_BIT_WIDTH = 6
const HASH_LENGTH_BYTES = 32

/** A set in a HAMT: values are null. */
const unit: Codec<null> = {
  name: 'EmptyValue',
  write: (writer) => {
    writer.null()
  },
  read: (reader) => reader.readNull(),
  toJson: () => null,
  fromJson: () => null,
  schema: { type: 'null' },
}

function loadDealOps(runtime: Runtime, state: MarketState): ActorMap<Cid> {
  return ActorMap.load(runtime, state.dealOpsByEpoch, cid)
}

function dealsAt(runtime: Runtime, state: MarketState, epoch: number): number[] {
  const root = loadDealOps(runtime, state).get(signedKey(epoch))
  if (root === undefined) return []
  const out: number[] = []
  ActorMap.load(runtime, root, unit).forEach((key) => {
    out.push(Number(readUnsignedKey(key)))
  })
  return out
}

/**
 * One deal that is due. Native actors make no deals, so all there can be is one from genesis, activated and not yet
 * updated: it is pending no longer.
 * @throws VmError NATIVE_UNSUPPORTED for any other
 */
function processDeal(runtime: Runtime, state: MarketState, deal: number): MarketState {
  const proposal = orIllegalState(() =>
    Amt.load(runtime.store, state.proposals, dealProposal, { bitWidth: PROPOSALS_BIT_WIDTH }).get(deal),
  )
  if (proposal === undefined) return state
  const digest = runtime.hashBlake2b(encode(dealProposal, proposal))
  if (digest.length !== HASH_LENGTH_BYTES)
    throw new ActorError(Exit.USR_ILLEGAL_ARGUMENT, 'failed to take cid of proposal')
  const proposalCid = createCid(CODEC_DAG_CBOR, HASH_BLAKE2B_256, digest)
  const active: DealState | undefined = orIllegalState(() =>
    Amt.load(runtime.store, state.states, dealState, { bitWidth: STATES_BIT_WIDTH }).get(deal),
  )
  if (active === undefined || active.lastUpdatedEpoch !== EPOCH_UNDEFINED) {
    throw nativeUnsupported(
      'storagemarket',
      MarketMethod.CronTick,
      'CronTick of a deal that timed out or is paid by cron',
    )
  }
  const pending = ActorMap.load(runtime, state.pendingProposals, unit)
  if (pending.delete(proposalCid.bytes) === undefined) {
    throw new ActorError(Exit.USR_ILLEGAL_STATE, 'failed to delete pending proposal: does not exist')
  }
  return { ...state, pendingProposals: pending.flush() }
}

function cronTick(runtime: Runtime): void {
  runtime.validateCallerIs(CRON_ID)
  const { epoch } = runtime
  runtime.transaction(marketState, (before) => {
    let state = before
    for (let at = before.lastCron + 1; at <= epoch; at++) {
      for (const deal of dealsAt(runtime, state, at)) state = processDeal(runtime, state, deal)
    }
    // The steps below are those of the Wasm actor, of which each loads its tree even when there is nothing to do.
    ActorMap.load(runtime, state.providerSectors, cid).flush()
    const done = loadDealOps(runtime, state)
    for (let at = before.lastCron + 1; at <= epoch; at++) done.delete(signedKey(at))
    state = { ...state, dealOpsByEpoch: done.flush() }
    loadDealOps(runtime, state).flush()
    return { state: { ...state, lastCron: epoch }, result: undefined }
  })
}

/** The market actor's native methods; the others are known by name. */
export function createMarketActor(): NativeActor {
  return nativeActor('storagemarket', { CronTick: action(cronTick) })
}
