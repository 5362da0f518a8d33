/** The pool's view of the node's chain. */

import { unlessThrown } from '../base/errors.ts'
import { Pace } from '../base/pace.ts'
import type { Clock, Timers } from '../base/ports.ts'
import { accountKey, tryActorOf } from '../chain/actorLookup.ts'
import type { ChainView } from '../chain/chainView.ts'
import { ChainError } from '../chain/errors.ts'
import type { HeadListener } from '../chain/headChange.ts'
import type { VmHost } from '../chain/vm.ts'
import type { Cid } from '../codec/cid.ts'
import type { BlockEdge } from '../ipld/blockFetcher.ts'
import { putCbor } from '../ipld/blockstore.ts'
import { readTogetherPaced } from '../ipld/readTogether.ts'
import { upgradeHeight } from '../networks/network.ts'
import type { StateTree } from '../state/stateTree.ts'
import type { Address } from '../types/address.ts'
import { isIdAddress } from '../types/address.ts'
import { message } from '../types/message.ts'
import { signedMessage } from '../types/signedMessage.ts'
import { firstBlock, type Tipset } from '../types/tipset.ts'
import { MempoolError } from './errors.ts'
import { FETCH_STRETCH_MS, SENDERS_TOGETHER } from './limits.ts'
import { MinimumGas } from './minimumGas.ts'
import type { ActorReader, MempoolChain } from './ports.ts'
import { SenderStates } from './senderStates.ts'

/** Where a node that has only a part of the state gets the rest, and when it lets others work. */
export interface PoolFetching {
  readonly edge: BlockEdge
  readonly clock: Clock
  readonly timers: Timers
}

/**
 * Connects the pool to a chain and its machine.
 * @param fetching - of a node that has only a part of the state
 */
export function createPoolChain(
  view: ChainView,
  vm: Pick<VmHost, 'tipsetState'>,
  fetching?: PoolFetching,
): MempoolChain {
  const { store } = view
  const senders = new SenderStates()
  const readerOf = (tree: StateTree, root: Cid): ActorReader => ({
    actor: (address) => tryActorOf(tree, address),
    checkedActor: (address) => tryActorOf(view.checked.stateTree(root), address),
    senders: () => senders.of(tree),
  })
  return {
    ...(fetching === undefined ? {} : { fetching: fetching.edge }),
    head: () => store.head(),
    onHeadChange: (listener) =>
      store.onHeadChange(fetching === undefined ? listener : afterFetching(view, fetching, listener)),
    loadTipset: (key) => store.tipset(key),
    blockMessages: (header) => view.blockMessages(header),
    tipsetMessages: (tipset) => view.tipsetMessages(tipset),
    putMessage: (plain) => void putCbor(store.blocks, message, plain),
    putSignedMessage: (signed) => void putCbor(store.blocks, signedMessage, signed),
    stateBefore: (tipset) => readerOf(view.stateBefore(tipset), firstBlock(tipset).parentStateRoot),
    stateAfter: async (tipset) => {
      const { stateRoot } = await vm.tipsetState(tipset)
      return readerOf(view.stateTree(stateRoot), stateRoot)
    },
    computeBaseFee: (tipset) => view.baseFee(tipset),
    keyAddressAtFinality: (address, tipset) => keyAddressAtFinality(view, address, tipset),
    finalTipset: (tipset) => finalTipset(view, tipset),
    networkVersion: (epoch) => view.networkVersion(epoch),
    actorKind: (code) => view.codes(code)?.kind,
  }
}

/**
 * Hears of head changes once what the pool reads of them is here: messages of both branches, their senders in the new
 * head's state. In order; what cannot be fetched is heard of all the same.
 */
function afterFetching(view: ChainView, fetching: PoolFetching, listener: HeadListener): HeadListener {
  let last: Promise<unknown> = Promise.resolve()
  return (reverted, applied) => {
    const head = applied.at(-1) ?? view.store.head()
    const tell = (): void => listener(reverted, applied)
    last = last.then(() => fetchSenders(view, fetching, head, [...reverted, ...applied])).then(tell, tell)
  }
}

/** Whoever reads them all in one run begins anew with each node that is missing: of 25 full tipsets that is all there is to do. */
async function fetchSenders(
  view: ChainView,
  { edge, clock, timers }: PoolFetching,
  head: Tipset,
  tipsets: readonly Tipset[],
): Promise<void> {
  const pace = new Pace(clock, timers, FETCH_STRETCH_MS)
  const senders = new Map<string, Address>()
  for (const tipset of tipsets) {
    for (const { message } of await edge(() => view.tipsetMessages(tipset))) senders.set(message.from.key, message.from)
    if (pace.isDue) await pace.pause()
  }
  const tree = await edge(() => view.stateBefore(head))
  const read = (sender: Address): void => {
    tryActorOf(tree, sender)
    if (isIdAddress(sender)) unlessThrown(() => keyAddressAtFinality(view, sender, head), MempoolError)
  }
  const all = [...senders.values()]
  for (let at = 0; at < all.length; at += SENDERS_TOGETHER) {
    await edge(() => readTogetherPaced(all.slice(at, at + SENDERS_TOGETHER), read, pace))
  }
}

/** The pool's price list on a network. */
export function poolPrices(view: ChainView): MinimumGas {
  const height = (name: string): number => upgradeHeight(view.network, name) ?? 0
  return new MinimumGas({ calico: height('Calico'), hygge: height('Hygge') })
}

function finalTipset({ network, store }: ChainView, tipset: Tipset): Tipset | undefined {
  const { chainFinality } = network.protocol
  if (tipset.height <= chainFinality) return undefined
  return store.tipsetByHeight(tipset.height - chainFinality, tipset, 'previous')
}

/**
 * @throws {@link MempoolError} `SENDER_UNKNOWN`; BlockMissing
 * @see lotus chain/stmgr/stmgr.go ResolveToDeterministicAddressAtFinality
 */
function keyAddressAtFinality(view: ChainView, address: Address, tipset: Tipset): Address {
  const at = finalTipset(view, tipset) ?? tipset
  try {
    return accountKey(view, view.stateBefore(at), address)
  } catch (cause) {
    if (!(cause instanceof ChainError)) throw cause
    throw new MempoolError('SENDER_UNKNOWN', 'ID address not found in lookback state', {}, { cause })
  }
}
