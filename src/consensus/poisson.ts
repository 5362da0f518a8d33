/**
 * How often a miner wins in an epoch: inverse Poisson by the miner's share of power, in Q.256.
 * @see lotus chain/types/electionproof.go ComputeWinCount
 */
import { bytesToBigInt } from '../base/bytes.ts'
import { blake2b256 } from '../crypto/blake2b.ts'
import { BLOCKS_PER_EPOCH } from '../types/protocol.ts'
import { ConsensusError } from './errors.ts'

const PRECISION = 256n
const ONE = 1n << PRECISION
/** Most wins of one miner in one epoch. */
const MAX_WIN_COUNT = 15

/** Q.128 coefficients of the rational approximation of e^-x, highest order first. */
const NUMERATOR: readonly bigint[] = [
  -648770010757830093818553637600n,
  67469480939593786226847644286976n,
  -3197587544499098424029388939001856n,
  89244641121992890118377641805348864n,
  -1579656163641440567800982336819953664n,
  17685496037279256458459817590917169152n,
  -115682590513835356866803355398940131328n,
  340282366920938463463374607431768211456n,
].map((c) => c << 128n)

const DENOMINATOR: readonly bigint[] = [
  1225524182432722209606361n,
  114095592300906098243859450n,
  5665570424063336070530214243n,
  194450132448609991765137938448n,
  5068267641632683791026134915072n,
  104716890604972796896895427629056n,
  1748338658439454459487681798864896n,
  23704654329841312470660182937960448n,
  259380097567996910282699886670381056n,
  2250336698853390384720606936038375424n,
  14978272436876548034486263159246028800n,
  72144088983913131323343765784380833792n,
  224599776407103106596571252037123047424n,
  340282366920938463463374607431768211456n,
].map((c) => c << 128n)

function polynomial(coefficients: readonly bigint[], x: bigint): bigint {
  let result = 0n
  for (const c of coefficients) result = ((result * x) >> PRECISION) + c
  return result
}

/** e^-x, both Q.256; x not negative. */
export function expneg(x: bigint): bigint {
  return (polynomial(NUMERATOR, x) << PRECISION) / polynomial(DENOMINATOR, x)
}

/** Expected wins of a share of power, Q.256. */
function expectedWins(power: bigint, totalPower: bigint): bigint {
  return ((power * BLOCKS_PER_EPOCH) << PRECISION) / totalPower
}

/**
 * The values 1 - P(X <= k), Q.256, of the Poisson distribution, for k = 0, 1, 2, ...
 * @param lambda - expected wins, Q.256
 */
export function* poissonInverse(lambda: bigint): Generator<bigint, never> {
  let pmf = expneg(lambda)
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
