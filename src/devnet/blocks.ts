/**
 * Blocks of one epoch: every producer holds its election, the winners sign a block.
 * @see lotus chain/gen/gen.go nextBlockProof; chain/consensus/filcns/mine.go CreateBlock
 */

import { utf8 } from '../base/bytes.ts'
import type { TipsetState } from '../chain/vm.ts'
import { storeSignedMessages } from '../consensus/createBlock.ts'
import { type ElectionPower, runElection, ticketInput } from '../consensus/election.ts'
import { sign } from '../crypto/bls.ts'
import { computeVrf } from '../crypto/vrf.ts'
import type { Blockstore } from '../ipld/blockstore.ts'
import type { Address } from '../types/address.ts'
import { type BeaconEntry, type BlockHeader, type ElectionProof, headerSigningBytes } from '../types/blockHeader.ts'
import type { ChainEpoch, TokenAmount } from '../types/scalars.ts'
import { SIGNATURE_BLS } from '../types/signature.ts'
import type { SignedMessage } from '../types/signedMessage.ts'
import { firstBlock, type Tipset } from '../types/tipset.ts'

/** Stands for a winning PoSt, as in Lotus' own tests: no storage was proven. */
const INSECURE_PROOF = utf8('valid proof')
/** RegisteredPoStProof_StackedDrgWinning2KiBV1. */
const WINNING_2KIB = 0

/** A block producer. */
export interface Producer {
  /** The miner actor. */
  readonly miner: Address
  /** Its worker's BLS key, 32 bytes little-endian. */
  readonly workerKey: Uint8Array
}

/** What all blocks of an epoch share. */
export interface EpochInput {
  readonly base: Tipset
  readonly epoch: ChainEpoch
  readonly beaconEntries: readonly BeaconEntry[]
  /** What executing the base left. */
  readonly baseState: TipsetState
  readonly baseWeight: bigint
  readonly baseFee: TokenAmount
  /** Unix time, seconds. */
  readonly timestamp: number
}

/** A producer that won. */
export interface Winner {
  readonly producer: Producer
  readonly electionProof: ElectionProof
  readonly ticket: Uint8Array
}

/**
 * Who may make a block.
 * @param power - of a producer at the lookback, undefined without a claim
 */
export function electWinners(
  producers: readonly Producer[],
  input: EpochInput,
  power: (miner: Address) => ElectionPower | undefined,
): Winner[] {
  const { epoch } = input
  const beacon = (input.beaconEntries[input.beaconEntries.length - 1] as BeaconEntry).data
  const baseTicket = firstBlock(input.base).ticket?.vrfProof
  const out: Winner[] = []
  for (const producer of producers) {
    const { miner, workerKey } = producer
    const share = power(miner)
    if (share === undefined || share.miner <= 0n) continue
    const electionProof = runElection(beacon, epoch, miner, share, (draw) => computeVrf(draw, workerKey))
    if (electionProof === undefined) continue
    out.push({ producer, electionProof, ticket: computeVrf(ticketInput(beacon, epoch, miner, baseTicket), workerKey) })
  }
  return out
}

/** Builds and signs a winner's block and stores its messages; the header itself is the caller's to store. */
export function createBlock(
  store: Blockstore,
  input: EpochInput,
  winner: Winner,
  messages: readonly SignedMessage[],
): BlockHeader {
  const { meta, blsAggregate } = storeSignedMessages(store, messages)
  const header: BlockHeader = {
    miner: winner.producer.miner,
    ticket: { vrfProof: winner.ticket },
    electionProof: winner.electionProof,
    beaconEntries: [...input.beaconEntries],
    winPoStProof: [{ postProof: WINNING_2KIB, proofBytes: INSECURE_PROOF }],
    parents: [...input.base.key],
    parentWeight: input.baseWeight,
    height: input.epoch,
    parentStateRoot: input.baseState.stateRoot,
    parentMessageReceipts: input.baseState.receiptsRoot,
    messages: meta,
    blsAggregate,
    timestamp: input.timestamp,
    blockSig: null,
    forkSignaling: 0n,
    parentBaseFee: input.baseFee,
  }
  const blockSig = { type: SIGNATURE_BLS, data: sign(headerSigningBytes(header), winner.producer.workerKey) } as const
  return { ...header, blockSig }
}
