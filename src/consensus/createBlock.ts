/**
 * A block out of what its producer brings: ticket, proofs, messages. The node adds what follows from the parents.
 * @see lotus chain/consensus/filcns/mine.go CreateBlock; chain/consensus/common.go CreateBlockHeader
 */
import { storeBlockMessages } from '../chain/blockMessages.ts'
import type { ChainView } from '../chain/chainView.ts'
import { ChainError } from '../chain/errors.ts'
import type { VmHost } from '../chain/vm.ts'
import type { Cid } from '../codec/cid.ts'
import { aggregate, BLS_EMPTY_AGGREGATE } from '../crypto/bls.ts'
import type { Blockstore } from '../ipld/blockstore.ts'
import { networkVersionAt } from '../networks/network.ts'
import type { Address } from '../types/address.ts'
import {
  type BeaconEntry,
  type BlockHeader,
  type ElectionProof,
  headerSigningBytes,
  type PoStProof,
  type Ticket,
} from '../types/blockHeader.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { SIGNATURE_BLS, SIGNATURE_DELEGATED, SIGNATURE_SECP256K1, type Signature } from '../types/signature.ts'
import type { SignedMessage } from '../types/signedMessage.ts'
import type { TipsetKey } from '../types/tipset.ts'
import { lookbackFor } from './lookback.ts'
import { workerAt } from './workerAt.ts'

/** From this version on delegated signatures are in blocks. FIP-0055. */
const FIRST_DELEGATED = 18

/** What a producer brings. */
export interface BlockTemplate {
  readonly miner: Address
  readonly parents: TipsetKey
  readonly ticket: Ticket | null
  readonly electionProof: ElectionProof | null
  readonly beaconValues: readonly BeaconEntry[]
  readonly messages: readonly SignedMessage[]
  readonly epoch: ChainEpoch
  /** Unix time, seconds. */
  readonly timestamp: number
  readonly winningPoStProof: readonly PoStProof[]
}

/** A new block; its messages are stored, its header is not. */
export interface CreatedBlock {
  readonly header: BlockHeader
  readonly messages: readonly SignedMessage[]
}

/** Stores a block's messages: their meta, and the aggregate of the BLS signatures. */
export function storeSignedMessages(
  store: Blockstore,
  messages: readonly SignedMessage[],
): { readonly meta: Cid; readonly blsAggregate: Signature } {
  const bls = messages.filter((signed) => signed.signature.type === SIGNATURE_BLS)
  const meta = storeBlockMessages(store, {
    bls: bls.map((signed) => signed.message),
    signed: messages.filter((signed) => signed.signature.type !== SIGNATURE_BLS),
  })
  const data = bls.length === 0 ? BLS_EMPTY_AGGREGATE : aggregate(bls.map((signed) => signed.signature.data))
  return { meta, blsAggregate: { type: SIGNATURE_BLS, data } }
}

/**
 * @param sign - with the worker's key
 * @throws ChainError `WRONG_MESSAGE` for a signature of no known kind; ValidationError `WORKER_UNKNOWN`; what `sign` throws
 */
export async function createBlock(
  template: BlockTemplate,
  view: ChainView,
  vm: Pick<VmHost, 'tipsetState'>,
  sign: (worker: Address, data: Uint8Array) => Promise<Signature>,
): Promise<CreatedBlock> {
  const { store, network } = view
  const base = store.tipset(template.parents)
  const lookback = lookbackFor(store, network, base, template.epoch)
  const lookbackRoot = lookback.stateRoot ?? (await vm.tipsetState(lookback.tipset)).stateRoot
  const worker = workerAt(view, view.stateTree(lookbackRoot), template.miner)
  const delegated = networkVersionAt(network, template.epoch) >= FIRST_DELEGATED
  for (const { signature } of template.messages) {
    const known = [SIGNATURE_BLS, SIGNATURE_SECP256K1, ...(delegated ? [SIGNATURE_DELEGATED] : [])]
    if (known.includes(signature.type)) continue
    const text = `failed to process messages from block template: unknown sig type: ${signature.type}`
    throw new ChainError('WRONG_MESSAGE', text)
  }
  const { stateRoot, receiptsRoot } = await vm.tipsetState(base)
  const { meta, blsAggregate } = storeSignedMessages(store.blocks, template.messages)
  const unsigned: BlockHeader = {
    miner: template.miner,
    ticket: template.ticket,
    electionProof: template.electionProof,
    beaconEntries: [...template.beaconValues],
    winPoStProof: [...template.winningPoStProof],
    parents: [...base.key],
    parentWeight: view.weight(base),
    height: template.epoch,
    parentStateRoot: stateRoot,
    parentMessageReceipts: receiptsRoot,
    messages: meta,
    blsAggregate,
    timestamp: template.timestamp,
    blockSig: null,
    forkSignaling: 0n,
    parentBaseFee: view.baseFee(base),
  }
  const blockSig = await sign(worker, headerSigningBytes(unsigned))
  return { header: { ...unsigned, blockSig }, messages: template.messages }
}
