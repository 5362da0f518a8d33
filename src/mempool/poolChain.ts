/** The pool's view of the node's chain. */
import { accountKey, tryActorOf } from '../chain/actorLookup.ts'
import type { ChainView } from '../chain/chainView.ts'
import type { VmHost } from '../chain/vm.ts'
import { putCbor } from '../ipld/blockstore.ts'
import { upgradeHeight } from '../networks/network.ts'
import type { StateTree } from '../state/stateTree.ts'
import type { Address } from '../types/address.ts'
import { message } from '../types/message.ts'
import { signedMessage } from '../types/signedMessage.ts'
import type { Tipset } from '../types/tipset.ts'
import { MempoolError } from './errors.ts'
import { MinimumGas } from './minimumGas.ts'
import type { ActorReader, MempoolChain } from './ports.ts'

/** Connects the pool to a chain and its machine. */
export function createPoolChain(view: ChainView, vm: Pick<VmHost, 'tipsetState'>): MempoolChain {
  const { store } = view
  return {
    head: () => store.head(),
    onHeadChange: (listener) => store.onHeadChange(listener),
    loadTipset: (key) => store.tipset(key),
    blockMessages: (header) => view.blockMessages(header),
    tipsetMessages: (tipset) => view.tipsetMessages(tipset),
    putMessage: (one) => void putCbor(store.blocks, message, one),
    putSignedMessage: (one) => void putCbor(store.blocks, signedMessage, one),
    stateBefore: (tipset) => readerOf(view.stateBefore(tipset)),
    stateAfter: async (tipset) => readerOf(view.stateTree((await vm.tipsetState(tipset)).stateRoot)),
    computeBaseFee: (tipset) => view.baseFee(tipset),
    keyAddressAtFinality: (address, tipset) => keyAddressAtFinality(view, address, tipset),
    finalTipset: (tipset) => finalTipset(view, tipset),
    networkVersion: (epoch) => view.networkVersion(epoch),
    actorKind: (code) => view.codes(code)?.kind,
  }
}

/** The pool's price list on a network. */
export function poolPrices(view: ChainView): MinimumGas {
  const height = (name: string): number => upgradeHeight(view.network, name) ?? 0
  return new MinimumGas({ calico: height('Calico'), hygge: height('Hygge') })
}

function readerOf(tree: StateTree): ActorReader {
  return { actor: (address) => tryActorOf(tree, address) }
}

function finalTipset({ network, store }: ChainView, tipset: Tipset): Tipset | undefined {
  const { chainFinality } = network.protocol
  if (tipset.height <= chainFinality) return undefined
  return store.tipsetByHeight(tipset.height - chainFinality, tipset, 'previous')
}

/**
 * @throws {@link MempoolError} `SENDER_UNKNOWN`
 * @see lotus chain/stmgr/stmgr.go ResolveToDeterministicAddressAtFinality
 */
function keyAddressAtFinality(view: ChainView, address: Address, tipset: Tipset): Address {
  const at = finalTipset(view, tipset) ?? tipset
  try {
    return accountKey(view, view.stateBefore(at), address)
  } catch (cause) {
    throw new MempoolError('SENDER_UNKNOWN', 'ID address not found in lookback state', {}, { cause })
  }
}
