/**
 * What each step costs. Each method gives the charge as it shows in traces; a step that a version does not charge for gives
 * undefined.
 * @see ref-fvm fvm/src/gas/price_list.rs PriceList, branches release/v2, release/v3, master
 */
import type { GasCharge } from './charge.ts'

/** Sizes are in bytes. */
export interface PriceList {
  onChainMessage(size: number): GasCharge
  /** FVM 2, after the top call. */
  onChainReturnValue(size: number): GasCharge | undefined
  /** FVM 3, 4: at the end of a call that returns a block. */
  onMethodReturn(depth: number, size: number, links: number): GasCharge | undefined
  /** FVM 2: the whole price of a send. FVM 3, 4: entering the code. */
  onMethodInvocation(hasValue: boolean, isSend: boolean, links: number): GasCharge
  onValueTransfer(): GasCharge
  onCreateActor(newAddress: boolean): GasCharge
  onDeleteActor(): GasCharge
  onActorLookup(): GasCharge
  onActorUpdate(): GasCharge
  /** @param type - 1 secp256k1, 2 BLS */
  onVerifySignature(type: number, size: number): GasCharge
  onVerifyBlsAggregate(signers: number, size: number): GasCharge
  onRecoverSecp(): GasCharge
  /** @param code - multihash code out of hashCodes.ts, or any in FVM 2 */
  onHashing(code: number, size: number): GasCharge
  onComputeUnsealedSectorCid(): GasCharge
  onVerifySeal(): GasCharge
  onVerifyAggregateSeals(sealProof: number, count: number): GasCharge
  onVerifyReplicaUpdate(): GasCharge
  onVerifyPost(sectors: number): GasCharge
  onVerifyConsensusFault(): GasCharge
  /** @param entropy - FVM 2, 3: bytes of entropy. @param lookback - FVM 4: epochs back */
  onRandomness(entropy: number, lookback: number): GasCharge
  onTipsetCid(lookback: number): GasCharge
  onBlockOpenBase(): GasCharge
  onBlockOpen(size: number, links: number): GasCharge
  onBlockRead(size: number): GasCharge
  onBlockCreate(size: number, links: number): GasCharge
  onBlockLink(size: number): GasCharge
  /** FVM 4. */
  onGetRoot(): GasCharge | undefined
  onSetRoot(): GasCharge | undefined
  onEvent(entries: number, keyBytes: number, valueBytes: number): GasCharge
  /** FVM 3. */
  onEventValidate(size: number): GasCharge
  onEventAccept(size: number): GasCharge
  /** Milligas for one CBOR item header and one link of a scanned block; 0 before FVM 4. */
  readonly scanPerField: number
  readonly scanPerCid: number
}
