/** Which verifier of storage proofs a network gets. */
import { acceptAllProofs, type ProofVerifier } from '../fvm/proofVerifier.ts'
import { ReceiptProofs } from '../fvm/receiptProofs.ts'
import type { Network } from '../networks/network.ts'

/** Mocked proofs are accepted, real ones judged by the chain's own receipts. */
export function proofsOf(network: Network): ProofVerifier {
  return network.proofs === 'accept' ? acceptAllProofs : new ReceiptProofs()
}
