/** Any tree of blocks on a local chain, made as its producers would make them, for tests of the syncer. */
import { createNativeActors } from '../../src/actors/nativeActors.ts'
import { DEVNET_POLICY } from '../../src/actors/policy.ts'
import { mockBeaconEntries } from '../../src/consensus/beacon.ts'
import { electionPower } from '../../src/consensus/electionPower.ts'
import { lookbackFor } from '../../src/consensus/lookback.ts'
import { sign } from '../../src/crypto/bls.ts'
import { createBlock, type EpochInput, electWinners } from '../../src/devnet/blocks.ts'
import { manifestFor } from '../../src/networks/network.ts'
import { type BlockHeader, headerSigningBytes } from '../../src/types/blockHeader.ts'
import { SIGNATURE_BLS } from '../../src/types/signature.ts'
import type { SignedMessage } from '../../src/types/signedMessage.ts'
import { createTipset, firstBlock, type Tipset } from '../../src/types/tipset.ts'
import { type DevnetNode, type DevnetNodeOptions, devnetNode } from '../support/devnetNode.ts'
import type { Recorded } from './follower.ts'

export interface World extends Recorded {
  readonly node: DevnetNode
  readonly genesis: Tipset
  /** Blocks of the miners that win at an epoch; all of them where `miners` does not say which. */
  blocks(base: Tipset, epoch: number, options?: BlockOptions): Promise<BlockHeader[]>
  /** One tipset of all winners, at the first epoch from the base's on (after `nullRounds`) where somebody wins. */
  tipset(base: Tipset, options?: BlockOptions & { nullRounds?: number }): Promise<Tipset>
  /** A row of tipsets, oldest first. */
  chain(base: Tipset, length: number, options?: BlockOptions & { nullRounds?: number }): Promise<Tipset[]>
  /** A block with changes, signed again by its producer. */
  changed(header: BlockHeader, changes: Partial<BlockHeader>): BlockHeader
}

export interface BlockOptions {
  readonly miners?: readonly number[]
  readonly messages?: readonly SignedMessage[]
}

const MAX_EPOCHS = 30

/** @param finality - tipsets that a reorganisation may revert */
export function createWorld(
  miners: number,
  finality?: number,
  options: Pick<DevnetNodeOptions, 'proofs' | 'actors'> = {},
): World {
  const node = devnetNode({ miners, ...options })
  const { view, store, vm, plan } = node
  const protocol = { ...plan.network.protocol, ...(finality === undefined ? {} : { chainFinality: finality }) }
  const network = { ...plan.network, protocol }
  const manifest = manifestFor(network, 18)
  if (manifest === undefined) throw new Error('no manifest of actors 18')

  const blocks: World['blocks'] = async (base, epoch, { miners: chosen, messages = [] } = {}) => {
    const baseState = await vm.tipsetState(base)
    const lookback = lookbackFor(store, network, base, epoch)
    const tree = view.stateTree(lookback.stateRoot ?? baseState.stateRoot)
    const input: EpochInput = {
      base,
      epoch,
      beaconEntries: mockBeaconEntries(epoch, base.height),
      baseState,
      baseWeight: view.weight(base),
      baseFee: view.baseFee(base),
      timestamp: firstBlock(base).timestamp + (epoch - base.height) * network.blockDelaySecs,
    }
    const producers = plan.producers.filter((_, i) => chosen?.includes(i) ?? true)
    const winners = electWinners(producers, input, (miner) => electionPower(view, tree, miner))
    const made = winners.map((winner) => createBlock(store.blocks, input, winner, messages))
    for (const header of made) store.putHeader(header)
    return made
  }
  const tipset: World['tipset'] = async (base, { nullRounds = 0, ...options } = {}) => {
    for (let epoch = base.height + 1 + nullRounds; epoch < base.height + MAX_EPOCHS; epoch++) {
      const made = await blocks(base, epoch, options)
      if (made.length > 0) return createTipset(made)
    }
    throw new Error('nobody wins')
  }
  return {
    node,
    network,
    view,
    bundles: [],
    native: (options.actors ?? ((own) => own))(createNativeActors(manifest.actors, { policy: DEVNET_POLICY })),
    genesis: store.genesis(),
    blocks,
    tipset,
    chain: async (base, length, options) => {
      const out: Tipset[] = []
      for (let at = base; out.length < length; out.push(at)) {
        // Null rounds come first only: one branch differs from another by them.
        at = await tipset(at, out.length === 0 ? options : { ...options, nullRounds: 0 })
      }
      return out
    },
    changed: (header, changes) => {
      const producer = plan.producers.find(({ miner }) => miner.equals(changes.miner ?? header.miner))
      if (producer === undefined) throw new Error('not one of our miners')
      const unsigned = { ...header, ...changes, blockSig: null }
      const data = sign(headerSigningBytes(unsigned), producer.workerKey)
      const again: BlockHeader = { ...unsigned, blockSig: { type: SIGNATURE_BLS, data } }
      store.putHeader(again)
      return again
    },
  }
}
