/**
 * How often a miner wins in an epoch: inverse Poisson by the miner's share of power, in Q.256.
 * @see lotus chain/types/electionproof.go ComputeWinCount
 */
import { bytesToBigInt } from '../base/bytes.ts'
import { expNegAt } from '../base/expNeg.ts'
import { blake2b256 } from '../crypto/blake2b.ts'
import { BLOCKS_PER_EPOCH } from '../types/protocol.ts'
import { ConsensusError } from './errors.ts'

const PRECISION = 256n
const ONE = 1n << PRECISION
/** Most wins of one miner in one epoch. */
const MAX_WIN_COUNT = 15

/** e^-x, both Q.256; x not negative. */
export const expNeg: (x: bigint) => bigint = expNegAt(PRECISION)

/** Expected wins of a share of power, Q.256. */
function expectedWins(power: bigint, totalPower: bigint): bigint {
  return ((power * BLOCKS_PER_EPOCH) << PRECISION) / totalPower
}

/**
 * The values 1 - P(X <= k), Q.256, of the Poisson distribution, for k = 0, 1, 2, ...
 * @param lambda - expected wins, Q.256
 */
export function* poissonInverse(lambda: bigint): Generator<bigint, never> {
  let pmf = expNeg(lambda)
  let rest = ONE - pmf
  for (let k = 1n; ; k++) {
    yield rest
    pmf = ((pmf / k) * lambda) >> PRECISION
    rest -= pmf
  }
}

/**
 * Number of wins, 0 to {@link MAX_WIN_COUNT}.
 * @param vrfProof - the election proof's VRF output
 * @param power - the miner's quality-adjusted power, bytes
 * @param totalPower - the network's, bytes, above 0
 * @throws ConsensusError `NO_POWER` when the network has no power
 */
export function computeWinCount(vrfProof: Uint8Array, power: bigint, totalPower: bigint): number {
  if (totalPower <= 0n) throw new ConsensusError('NO_POWER', 'Cannot compute win count: the network has no power')
  const drawn = bytesToBigInt(blake2b256(vrfProof))
  let wins = 0
  for (const rest of poissonInverse(expectedWins(power, totalPower))) {
    if (drawn >= rest || wins >= MAX_WIN_COUNT) return wins
    wins++
  }
  return wins
}
