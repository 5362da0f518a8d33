/**
 * What can be read off the chain without executing anything: messages, weight, base fee, randomness, states.
 */
import { Lru } from '../base/lru.ts'
import type { Cid } from '../codec/cid.ts'
import { type Blockstore, getCbor } from '../ipld/blockstore.ts'
import { CheckedBlockstore } from '../ipld/checkedBlocks.ts'
import { type Network, networkVersionAt } from '../networks/network.ts'
import { initState } from '../state/init.ts'
import { type CodeLookup, codeLookup } from '../state/manifest.ts'
import { StateTree } from '../state/stateTree.ts'
import { type Address, addressToId, idAddress, isIdAddress } from '../types/address.ts'
import type { BlockHeader } from '../types/blockHeader.ts'
import type { ChainMessage } from '../types/chainMessage.ts'
import type { ActorId, ChainEpoch, TokenAmount } from '../types/scalars.ts'
import { INIT_ID } from '../types/singletons.ts'
import { firstBlock, type Tipset, tipsetKeyText } from '../types/tipset.ts'
import { type BaseFeeRules, baseFeeRules, computeBaseFee } from './baseFee.ts'
import { BlockMessageReader, type BlockMessages } from './blockMessages.ts'
import type { ChainStore } from './chainStore.ts'
import { ChainError } from './errors.ts'
import { STATE_TREE_CACHE } from './limits.ts'
import { networkPower } from './networkPower.ts'
import { ChainRandomness, type RandomnessRules } from './randomness.ts'
import { inExecutionOrder, type SelectedMessages, selectMessages } from './tipsetMessages.ts'
import { tipsetWeight } from './weight.ts'
import { MESSAGE_BYTES, MESSAGE_LIST_BYTES } from './weights.ts'

/** What a view is made of. */
export interface ChainViewDeps {
  readonly store: ChainStore
  readonly network: Network
  /** The beacon's round for an epoch. */
  readonly beaconRound: (epoch: ChainEpoch) => number
}

/** Messages are mostly those of the blocks' own lists, but may outlive them. */
function bytesOf(selected: readonly SelectedMessages[]): number {
  return selected.reduce(
    (sum, { bls, signed }) => sum + MESSAGE_BYTES * (bls.length + signed.length),
    MESSAGE_LIST_BYTES,
  )
}

/** Reads of one chain, with bounded caches. Throws `BlockMissing` for what is not at hand. */
export class ChainView {
  readonly store: ChainStore
  readonly network: Network
  /** Which built-in actor a code CID is. */
  readonly codes: CodeLookup
  readonly #rules: RandomnessRules
  readonly #baseFeeRules: BaseFeeRules
  readonly #blockMessages: BlockMessageReader
  readonly #ordered = new WeakMap<readonly SelectedMessages[], readonly ChainMessage[]>()
  readonly #trees = new Lru<string, StateTree>(STATE_TREE_CACHE)
  readonly #deps: ChainViewDeps
  #checked: ChainView | undefined

  constructor(deps: ChainViewDeps) {
    this.#deps = deps
    this.store = deps.store
    this.network = deps.network
    this.codes = codeLookup(deps.network)
    this.#rules = { networkVersion: (epoch) => networkVersionAt(deps.network, epoch), beaconRound: deps.beaconRound }
    this.#baseFeeRules = baseFeeRules(deps.network)
    this.#blockMessages = new BlockMessageReader(deps.store.blocks, deps.store.cache)
  }

  /**
   * The same chain with every block hashed that is read: asked before anybody is blamed for what was read here, since a disk can give
   * other bytes than were written.
   */
  get checked(): ChainView {
    this.#checked ??= this.over(new CheckedBlockstore(this.store.blocks))
    return this.#checked
  }

  /** The same chain, read from other blocks. */
  over(blocks: Blockstore): ChainView {
    return new ChainView({ ...this.#deps, store: this.store.over(blocks) })
  }

  /** The network version at an epoch: at an upgrade's own height still the old one. */
  networkVersion(epoch: ChainEpoch): number {
    return this.#rules.networkVersion(epoch)
  }

  /** The name of the network that the genesis state's init actor holds. */
  networkName(): string {
    const actor = this.stateBefore(this.store.head()).getActor(INIT_ID)
    if (actor === undefined) throw new ChainError('ACTOR_NOT_FOUND', 'load init actor: actor not found')
    return getCbor(this.store.blocks, initState, actor.head).networkName
  }

  /** An address with the network's prefix. */
  addressText(address: Address): string {
    return address.toString(this.network.addressPrefix)
  }

  /** A block's own messages. */
  blockMessages(header: BlockHeader): BlockMessages {
    return this.#blockMessages.messages(header)
  }

  /** The executed messages of each block of a tipset. */
  selectedMessages(tipset: Tipset): readonly SelectedMessages[] {
    const { cache } = this.store
    const key = `selected ${tipsetKeyText(tipset.key)}`
    let selected = cache.get(key) as readonly SelectedMessages[] | undefined
    if (selected === undefined) {
      const messages = tipset.blocks.map((block) => this.blockMessages(block))
      const hyperdrive = this.#baseFeeRules.upgradeHeight('Hyperdrive') ?? Number.POSITIVE_INFINITY
      const resolve = (address: Address): Address => this.#resolveSender(tipset, address)
      selected = selectMessages(tipset, messages, resolve, hyperdrive)
      cache.keep(key, selected, bytesOf(selected))
    }
    return selected
  }

  /** The executed messages of a tipset in order. */
  tipsetMessages(tipset: Tipset): readonly ChainMessage[] {
    const selected = this.selectedMessages(tipset)
    let ordered = this.#ordered.get(selected)
    if (ordered === undefined) {
      ordered = inExecutionOrder(selected)
      this.#ordered.set(selected, ordered)
    }
    return ordered
  }

  /** Base fee of a block on top of `tipset`, attoFIL per gas. */
  baseFee(tipset: Tipset): TokenAmount {
    const messages = tipset.blocks.map((block) => this.blockMessages(block))
    return computeBaseFee(this.#baseFeeRules, tipset, messages)
  }

  /** Weight of the chain up to and including `tipset`. */
  weight(tipset: Tipset): bigint {
    return tipsetWeight(tipset, networkPower(this.store.blocks, this.codes, this.stateBefore(tipset)).qualityAdjusted)
  }

  /** Randomness of the chain that `tipset` ends. */
  randomness(tipset: Tipset): ChainRandomness {
    return new ChainRandomness(this.store, this.#rules, tipset)
  }

  /** A state by its root; shared, so it must not be changed. */
  stateTree(root: Cid): StateTree {
    let tree = this.#trees.get(root.key)
    if (tree === undefined) {
      tree = StateTree.load(this.store.blocks, root)
      this.#trees.set(root.key, tree)
    }
    return tree
  }

  /** The state that a tipset's messages start from. */
  stateBefore(tipset: Tipset): StateTree {
    return this.stateTree(firstBlock(tipset).parentStateRoot)
  }

  #resolveSender(tipset: Tipset, address: Address): Address {
    const id = resolveId(this.stateBefore(tipset), address)
    if (id === undefined) {
      const name = this.addressText(address)
      throw new ChainError('ACTOR_NOT_FOUND', `failed to resolve sender: resolve address ${name}: actor not found`)
    }
    return idAddress(id)
  }
}

/** The ID behind an address; that of an ID address is not checked. undefined: unknown, or the undefined address. */
export function resolveId(tree: StateTree, address: Address): ActorId | undefined {
  if (isIdAddress(address)) return addressToId(address)
  return address.isUndefined ? undefined : tree.lookupId(address)
}
