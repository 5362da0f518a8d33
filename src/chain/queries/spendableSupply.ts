/**
 * The exact circulating supply: what its owners could spend now, actor by actor. Walks the whole state.
 * @see lotus chain/stmgr/supply.go GetCirculatingSupply
 */
import { unlessThrown } from '../../base/errors.ts'
import { getCbor } from '../../ipld/blockstore.ts'
import { BlockMissing } from '../../ipld/errors.ts'
import { type FetchedSteps, reading } from '../../ipld/found.ts'
import { readTogether } from '../../ipld/readTogether.ts'
import { marketStateAt } from '../../state/market.ts'
import { type MultisigState, multisigState } from '../../state/multisig.ts'
import type { StateTree } from '../../state/stateTree.ts'
import type { ActorState } from '../../types/actor.ts'
import type { ActorId, ChainEpoch, TokenAmount } from '../../types/scalars.ts'
import { MARKET_ID } from '../../types/singletons.ts'
import type { ChainView } from '../chainView.ts'
import { ChainError } from '../errors.ts'
import { MinerActor } from './minerActor.ts'

/** System, init, reward, cron, power, registry, data cap, Ethereum address manager, SAFT, reserve, burnt funds. */
const NOT_CIRCULATING: ReadonlySet<ActorId> = new Set([0n, 1n, 2n, 3n, 4n, 6n, 7n, 10n, 122n, 90n, 99n])

/** Actors whose states are elsewhere that are waited for at once. */
const TOGETHER = 256
/** Deals no longer count as locked. FIP-0091. */
const UNLOCKED_DEALS_VERSION = 23

/** An actor by its ID. */
type Entry = readonly [ActorId, ActorState]

/**
 * @param epoch - at which locks are looked at
 * @returns attoFIL
 */
export function* spendableSupply(view: ChainView, tree: StateTree, epoch: ChainEpoch): FetchedSteps<TokenAmount> {
  let sum = 0n
  const of = ([id, actor]: Entry): TokenAmount => spendableOf(view, id, actor, epoch)
  const elsewhere: Entry[] = []
  for (const found of tree.found()) {
    if (found instanceof BlockMissing) yield found
    else if (found[1].balance !== 0n) {
      const spendable = unlessThrown(() => of(found), BlockMissing)
      if (spendable === undefined) elsewhere.push(found)
      else sum += spendable
    }
    if (elsewhere.length >= TOGETHER) sum += yield* together(elsewhere.splice(0), of)
    yield
  }
  return sum + (yield* together(elsewhere, of))
}

/** Their states are fetched together. */
function* together(actors: readonly Entry[], of: (actor: Entry) => TokenAmount): FetchedSteps<TokenAmount> {
  const amounts = yield* reading(() => readTogether(actors, of))
  return amounts.reduce((sum, amount) => sum + amount, 0n)
}

function spendableOf(view: ChainView, id: ActorId, actor: ActorState, epoch: ChainEpoch): TokenAmount {
  if (NOT_CIRCULATING.has(id)) return 0n
  const info = view.codes(actor.code)
  switch (info?.kind) {
    case 'storagemarket':
      return id === MARKET_ID ? actor.balance - lockedDeals(view, actor, info.actorsVersion, epoch) : 0n
    case 'account':
    case 'paymentchannel':
    case 'ethaccount':
    case 'evm':
    case 'placeholder':
      return actor.balance
    case 'storageminer':
      return minerSpendable(new MinerActor(view.store.blocks, actor, info.actorsVersion))
    case 'multisig': {
      const free = actor.balance - amountLocked(getCbor(view.store.blocks, multisigState, actor.head), epoch)
      return free > 0n ? free : 0n
    }
    default:
      throw new ChainError('NOT_SUPPORTED', `unexpected actor: f0${id}`)
  }
}

function lockedDeals(view: ChainView, actor: ActorState, version: number, epoch: ChainEpoch): TokenAmount {
  if (view.networkVersion(epoch) >= UNLOCKED_DEALS_VERSION) return 0n
  const state = getCbor(view.store.blocks, marketStateAt(version), actor.head)
  return state.totalClientLockedCollateral + state.totalProviderLockedCollateral + state.totalClientStorageFee
}

/** A miner whose state promises more than it has counts as locked altogether. */
function minerSpendable(miner: MinerActor): TokenAmount {
  try {
    return miner.availableBalance()
  } catch (error) {
    if (error instanceof ChainError && error.code === 'INVALID_STATE') return 0n
    throw error
  }
}

/** What of a multisig's initial balance is still locked at an epoch, rounded up. */
export function amountLocked(state: MultisigState, epoch: ChainEpoch): TokenAmount {
  const { initialBalance, startEpoch, unlockDuration: duration } = state
  // Go's int64 wraps around.
  const elapsed = BigInt.asIntN(64, BigInt(epoch) - startEpoch)
  if (elapsed >= duration) return 0n
  if (elapsed <= 0n) return initialBalance
  return (initialBalance * (duration - elapsed) + duration - 1n) / duration
}
