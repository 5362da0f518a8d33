/**
 * Elections and tickets of a header: what the worker signs (a VRF), and the check of what it signed.
 * @see lotus chain/gen/gen.go IsRoundWinner; miner/miner.go computeTicket; chain/consensus/filcns/filecoin.go ValidateBlock
 */
import { concatBytes } from '../base/bytes.ts'
import { encode } from '../codec/description.ts'
import { drawRandomness, TAG_ELECTION, TAG_TICKET, TAG_WINNING_POST } from '../crypto/drawRandomness.ts'
import { type Address, address } from '../types/address.ts'
import type { ElectionProof } from '../types/blockHeader.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { ConsensusError } from './errors.ts'
import { computeWinCount } from './poisson.ts'

/** Signs with a worker's BLS key: 96 bytes, unique per key and message, hence the VRF output. */
export type VrfSign = (message: Uint8Array) => Uint8Array
/** Whether a VRF output is the worker's. */
export type VrfVerify = (message: Uint8Array, proof: Uint8Array) => boolean

/** Epochs between a ticket and the randomness in it. */
const TICKET_RANDOMNESS_LOOKBACK = 1

/**
 * What the worker signs to take part in an election.
 * @param beacon - data of the block's last beacon entry, or of the latest earlier one
 * @param epoch - of the block
 */
export function electionInput(beacon: Uint8Array, epoch: ChainEpoch, miner: Address): Uint8Array {
  return drawRandomness(beacon, TAG_ELECTION, epoch, encode(address, miner))
}

/**
 * What the worker signs for its ticket.
 * @param baseTicket - VRF proof of the parent tipset's smallest ticket; undefined up to the Smoke upgrade
 */
export function ticketInput(
  beacon: Uint8Array,
  epoch: ChainEpoch,
  miner: Address,
  baseTicket: Uint8Array | undefined,
): Uint8Array {
  const entropy = encode(address, miner)
  return drawRandomness(
    beacon,
    TAG_TICKET,
    epoch - TICKET_RANDOMNESS_LOOKBACK,
    baseTicket === undefined ? entropy : concatBytes(entropy, baseTicket),
  )
}

/** Randomness of the winning PoSt, as a field element: the top two bits are cleared. */
export function winningPoStRandomness(beacon: Uint8Array, epoch: ChainEpoch, miner: Address): Uint8Array {
  const out = drawRandomness(beacon, TAG_WINNING_POST, epoch, encode(address, miner))
  out[31] = (out[31] as number) & 0x3f
  return out
}

/** Power that an election is held with: both at the lookback tipset, in bytes. */
export interface ElectionPower {
  readonly miner: bigint
  readonly network: bigint
}

/** Holds the election: the proof when the miner won, undefined when it did not. */
export function runElection(
  beacon: Uint8Array,
  epoch: ChainEpoch,
  miner: Address,
  power: ElectionPower,
  sign: VrfSign,
): ElectionProof | undefined {
  const vrfProof = sign(electionInput(beacon, epoch, miner))
  const winCount = computeWinCount(vrfProof, power.miner, power.network)
  return winCount < 1 ? undefined : { winCount, vrfProof }
}

/**
 * Checks a header's election proof.
 * @throws ConsensusError `ELECTION_INVALID`
 */
export function verifyElection(
  proof: ElectionProof,
  beacon: Uint8Array,
  epoch: ChainEpoch,
  miner: Address,
  power: ElectionPower,
  verify: VrfVerify,
): void {
  if (proof.winCount < 1)
    throw new ConsensusError('ELECTION_INVALID', 'block is not claiming to be a winner', { epoch })
  if (!verify(electionInput(beacon, epoch, miner), proof.vrfProof)) {
    throw new ConsensusError('ELECTION_INVALID', 'validating block election proof failed: vrf was invalid', { epoch })
  }
  const expected = computeWinCount(proof.vrfProof, power.miner, power.network)
  if (expected !== proof.winCount) {
    throw new ConsensusError(
      'ELECTION_INVALID',
      `miner claims wrong number of wins: miner: ${proof.winCount}, computed: ${expected}`,
      { epoch },
    )
  }
}

/**
 * Checks a header's ticket.
 * @throws ConsensusError `TICKET_INVALID`
 */
export function verifyTicket(
  vrfProof: Uint8Array,
  beacon: Uint8Array,
  epoch: ChainEpoch,
  miner: Address,
  baseTicket: Uint8Array | undefined,
  verify: VrfVerify,
): void {
  if (!verify(ticketInput(beacon, epoch, miner, baseTicket), vrfProof)) {
    throw new ConsensusError('TICKET_INVALID', 'validating block tickets failed: vrf was invalid', { epoch })
  }
}
