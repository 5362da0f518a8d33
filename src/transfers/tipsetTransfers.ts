/** The transfers of the chain's tipsets, executed on demand and remembered. */
import { finish, type Steps, type Waiter, type Walk } from '../base/steps.ts'
import { accountKey } from '../chain/actorLookup.ts'
import { type ChainView, resolveId } from '../chain/chainView.ts'
import { ChainError } from '../chain/errors.ts'
import { claimOf } from '../chain/recordedState.ts'
import type { InvocResult, VmHost } from '../chain/vm.ts'
import { BlockMissing } from '../ipld/errors.ts'
import type { StateTree } from '../state/stateTree.ts'
import { type Address, idAddress } from '../types/address.ts'
import type { ActorId } from '../types/scalars.ts'
import { type Tipset, tipsetKeyText } from '../types/tipset.ts'
import type { ExecutedMessage } from './callTrace.ts'
import { collectTransfers } from './collectTransfers.ts'
import type { TipsetTransfers } from './transfer.ts'

/** A transfer, a fee and an address, bytes (measured: 810, 470 and 330). */
const TRANSFER_BYTES = 800
const FEE_BYTES = 500
const ADDRESS_BYTES = 350

/** Transfers of one tipset, with the addresses behind the IDs in them. */
export interface AddressedTransfers extends TipsetTransfers {
  /**
   * The f1, f3 or f410 address of an actor after the tipset; its f0 address when it has none (a multisig, a miner, …).
   */
  readonly addressOf: ReadonlyMap<ActorId, Address>
}

function bytesOf({ transfers, fees, addressOf }: AddressedTransfers): number {
  return ADDRESS_BYTES * (1 + addressOf.size) + TRANSFER_BYTES * transfers.length + FEE_BYTES * fees.length
}

/** Reads transfers out of executions' traces; what was read is kept in the chain's cache. */
export class TransferReader {
  readonly #view: ChainView
  readonly #vm: Pick<VmHost, 'computeCalls' | 'executeTipset'>

  constructor(view: ChainView, vm: Pick<VmHost, 'computeCalls' | 'executeTipset'>) {
    this.#view = view
    this.#vm = vm
  }

  /** Everything that moved FIL when `tipset` was executed. @param call - of the one who waits for it; default: nobody gives it up */
  async read(tipset: Tipset, call?: Waiter): Promise<AddressedTransfers> {
    const { cache } = this.#view.store
    const key = `transfers ${tipsetKeyText(tipset.key)}`
    const known = cache.get(key) as AddressedTransfers | undefined
    // What was read before the chain told the receipts may have presumed of a proof what they deny.
    if (known !== undefined && claimOf(this.#view.store, tipset)?.stateRoot.equals(known.root) !== false) return known
    const { root, trace } = await this.#vm.computeCalls(tipset, call?.signal)
    const executed = trace.map(executedMessage)
    const before = this.#view.stateBefore(tipset)
    const head = { tipset: tipset.key, height: tipset.height, root }
    const collect = (): Steps<AddressedTransfers> => this.#collectIn(executed, before, this.#view.stateTree(root), head)
    const transfers = await this.#collect(tipset, collect, call?.walk ?? finish)
    cache.keep(key, transfers, bytesOf(transfers))
    return transfers
  }

  /** A tipset that nothing followed yet has its result in no store: then it is executed for keeps. */
  async #collect(tipset: Tipset, collect: () => Steps<AddressedTransfers>, walk: Walk): Promise<AddressedTransfers> {
    try {
      return await walk(collect())
    } catch (error) {
      if (!(error instanceof BlockMissing)) throw error
      await this.#vm.executeTipset(tipset)
      return await walk(collect())
    }
  }

  *#collectIn(
    executed: readonly ExecutedMessage[],
    before: StateTree,
    after: StateTree,
    head: Pick<TipsetTransfers, 'tipset' | 'height' | 'root'>,
  ): Steps<AddressedTransfers> {
    const { transfers, fees } = yield* collectTransfers(executed, (address) => resolveId(after, address))
    const addressOf = new Map<ActorId, Address>()
    for (const { from, to } of transfers) {
      yield
      for (const id of [from, to]) {
        if (!addressOf.has(id))
          addressOf.set(id, this.#address(id, after) ?? this.#address(id, before) ?? idAddress(id))
      }
    }
    return { ...head, transfers, fees, addressOf }
  }

  #address(id: ActorId, tree: StateTree): Address | undefined {
    try {
      return accountKey(this.#view, tree, idAddress(id))
    } catch (error) {
      if (error instanceof ChainError) return undefined
      throw error
    }
  }
}

/** What is read of an execution's result. Implicit messages have no gas cost, so no CID in it. */
export function executedMessage({ msgCid, msgRct, gasCost, executionTrace }: InvocResult): ExecutedMessage {
  const message = gasCost.message === null ? null : msgCid
  return { message, exitCode: msgRct.exitCode, gas: gasCost, trace: executionTrace }
}
