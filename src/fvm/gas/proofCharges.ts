/** Charges of proof verification: the same rules in every price list. */
import { type GasCharge, gasCharge, MILLIGAS } from './charge.ts'
import { type AggregateSealPrice, type ProofPrices, SEAL_32GIB_V1_1 } from './prices.ts'

function stepCost(price: AggregateSealPrice, count: number): number {
  let cost = 0
  for (const [start, stepPrice] of price.steps) {
    if (start > count) break
    cost = stepPrice
  }
  return cost
}

/** What verifying each kind of proof costs, charged before it is verified. */
export interface ProofCharges {
  onComputeUnsealedSectorCid(): GasCharge
  onVerifySeal(): GasCharge
  onVerifyAggregateSeals(sealProof: number, count: number): GasCharge
  onVerifyReplicaUpdate(): GasCharge
  onVerifyPost(sectors: number): GasCharge
}

/** Charges by one table's prices. */
export function proofCharges(prices: ProofPrices): ProofCharges {
  const unsealed = gasCharge('OnComputeUnsealedSectorCid', prices.computeUnsealedSectorCid * MILLIGAS)
  const seal = gasCharge('OnVerifySeal', prices.verifySeal * MILLIGAS)
  const update = gasCharge('OnVerifyReplicaUpdate', prices.verifyReplicaUpdate * MILLIGAS)
  return {
    onComputeUnsealedSectorCid: () => unsealed,
    onVerifySeal: () => seal,
    onVerifyAggregateSeals: (sealProof, count) => {
      const table = prices.verifyAggregateSeals
      const price = table[sealProof] ?? (table[SEAL_32GIB_V1_1] as AggregateSealPrice)
      return gasCharge('OnVerifyAggregateSeals', (price.perProof * count + stepCost(price, count)) * MILLIGAS)
    },
    onVerifyReplicaUpdate: () => update,
    onVerifyPost: (sectors) =>
      gasCharge('OnVerifyPost', (prices.verifyPost.flat + prices.verifyPost.scale * sectors) * MILLIGAS),
  }
}
