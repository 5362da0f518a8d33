/**
 * e^-x in fixed point, by the rational approximation that the network's rules fix to the bit.
 * @see lotus chain/types/electionproof.go expneg (Q.256)
 * @see builtin-actors v18 actors/reward/src/expneg.rs (Q.128)
 */
import { floorDivide } from './floorDivision.ts'

/** Fractional bits of the coefficients below, highest order first. */
const COEFFICIENT_PRECISION = 128n

const NUMERATOR: readonly bigint[] = [
  -648770010757830093818553637600n,
  67469480939593786226847644286976n,
  -3197587544499098424029388939001856n,
  89244641121992890118377641805348864n,
  -1579656163641440567800982336819953664n,
  17685496037279256458459817590917169152n,
  -115682590513835356866803355398940131328n,
  340282366920938463463374607431768211456n,
]

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
]

/**
 * e^-x, both Q.precision; x not negative.
 * @param precision - fractional bits, at least 128
 */
export function expNegAt(precision: bigint): (x: bigint) => bigint {
  const shifted = (coefficients: readonly bigint[]): bigint[] =>
    coefficients.map((c) => c << (precision - COEFFICIENT_PRECISION))
  const polynomial = (coefficients: readonly bigint[], x: bigint): bigint => {
    let result = 0n
    for (const c of coefficients) result = ((result * x) >> precision) + c
    return result
  }
  const [numerator, denominator] = [shifted(NUMERATOR), shifted(DENOMINATOR)]
  return (x) => floorDivide(polynomial(numerator, x) << precision, polynomial(denominator, x))
}
