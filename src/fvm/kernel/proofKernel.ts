/**
 * Proofs of storage and of consensus faults.
 * @see ref-fvm fvm/src/kernel/filecoin.rs
 */
import type { Cid } from '../../codec/cid.ts'
import type { ProofOutcome } from '../proofVerifier.ts'
import { CryptoKernel } from './cryptoKernel.ts'
import type { ConsensusFault, ProofOps } from './kernel.ts'
import { Errno, SyscallError } from './outcomes.ts'
import { readAggregateInfo, readPoStSectorCount, readSealInfos } from './proofInfos.ts'
import { computeUnsealedCid } from './unsealedCid.ts'

export class ProofKernel extends CryptoKernel implements ProofOps {
  computeUnsealedSectorCid(proofType: bigint, pieces: Uint8Array): Cid {
    return computeUnsealedCid(proofType, pieces, () => this.apply(this.calls.prices.onComputeUnsealedSectorCid()))
  }

  #outcome(outcome: ProofOutcome): boolean {
    if (outcome === 'error') throw new SyscallError(Errno.IllegalArgument, 'malformed proof')
    return outcome
  }

  verifyPost(info: Uint8Array): boolean {
    this.calls.gas.apply(this.calls.prices.onVerifyPost(readPoStSectorCount(info)))
    return this.#outcome(this.calls.machine.proofs.verifyWindowPoSt(info.slice()))
  }

  verifySeal(info: Uint8Array): boolean {
    this.calls.gas.apply(this.calls.prices.onVerifySeal())
    return this.#outcome(this.calls.machine.proofs.verifySeal(info.slice()))
  }

  verifyAggregateSeals(info: Uint8Array): boolean {
    const { sealProof, count } = readAggregateInfo(info)
    this.calls.gas.apply(this.calls.prices.onVerifyAggregateSeals(sealProof, count))
    if (count === 0) throw new SyscallError(Errno.IllegalArgument, 'no seal verify infos')
    return this.#outcome(this.calls.machine.proofs.verifyAggregateSeals(info.slice()))
  }

  verifyReplicaUpdate(info: Uint8Array): boolean {
    this.calls.gas.apply(this.calls.prices.onVerifyReplicaUpdate())
    return this.#outcome(this.calls.machine.proofs.verifyReplicaUpdate(info.slice()))
  }

  batchVerifySeals(batch: Uint8Array, checkOutput?: (count: number) => void): boolean[] {
    const infos = readSealInfos(batch)
    checkOutput?.(infos.length)
    const { rules, gas, prices } = this.calls
    if (rules.chargesBatchedSeals) for (let i = 0; i < infos.length; i++) gas.apply(prices.onVerifySeal())
    return infos.map((info) => this.calls.machine.proofs.verifySeal(info) === true)
  }

  verifyConsensusFault(header1: Uint8Array, header2: Uint8Array, extra: Uint8Array): ConsensusFault {
    this.calls.gas.apply(this.calls.prices.onVerifyConsensusFault())
    const { externs } = this.calls.machine
    const fault = this.askNode(() => externs.verifyConsensusFault(header1.slice(), header2.slice(), extra.slice()))
    return fault ?? { faultType: 0, epoch: 0, target: 0n }
  }
}
