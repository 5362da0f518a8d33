import type { Cid } from '../../codec/cid.ts'
import { SECTOR_SIZES } from '../../proofs/sectorSize.ts'
import type { ProofOutcome } from '../proofVerifier.ts'
import { CryptoKernel } from './cryptoKernel.ts'
import type { ConsensusFault, ProofOps } from './kernel.ts'
import { Errno, SyscallError } from './outcomes.ts'
import { type PoStTypes, readAggregateInfo, readPoStTypes, readSealInfos, readSealType } from './proofInfos.ts'
import { computeUnsealedCid } from './unsealedCid.ts'

const invalidType = (): SyscallError => new SyscallError(Errno.IllegalArgument, 'invalid proof type')

/** Proofs of storage and of consensus faults. @see ref-fvm fvm/src/kernel/filecoin.rs */
export class ProofKernel extends CryptoKernel implements ProofOps {
  computeUnsealedSectorCid(proofType: bigint, pieces: Uint8Array): Cid {
    return computeUnsealedCid(proofType, pieces, () => this.apply(this.calls.prices.onComputeUnsealedSectorCid()))
  }

  #outcome(outcome: ProofOutcome): boolean {
    if (outcome === 'error') throw new SyscallError(Errno.IllegalArgument, 'malformed proof')
    return outcome
  }

  #isSealType(type: number): boolean {
    return type >= 0 && type <= this.calls.rules.proofTypes.lastSeal
  }

  /** Proofs are all of one type for windows, which is that of every sector. @see check_valid_proof_type */
  #checkPoStTypes({ proofs, seals }: PoStTypes): void {
    const [first, last] = this.calls.rules.proofTypes.windowPoSt
    const [type = -1] = proofs
    const isOfSize = (seal: number): boolean =>
      this.#isSealType(seal) && seal % SECTOR_SIZES.length === type % SECTOR_SIZES.length
    if (type < first || type > last || proofs.some((other) => other !== type) || !seals.every(isOfSize))
      throw invalidType()
  }

  verifyPost(info: Uint8Array): boolean {
    const types = readPoStTypes(info)
    this.calls.gas.apply(this.calls.prices.onVerifyPost(types.seals.length))
    this.#checkPoStTypes(types)
    return this.#outcome(this.calls.machine.proofs.verifyWindowPoSt(info.slice()))
  }

  verifySeal(info: Uint8Array): boolean {
    this.calls.gas.apply(this.calls.prices.onVerifySeal())
    if (!this.#isSealType(readSealType(info))) throw invalidType()
    return this.#outcome(this.calls.machine.proofs.verifySeal(info.slice()))
  }

  verifyAggregateSeals(info: Uint8Array): boolean {
    const { sealProof, count } = readAggregateInfo(info)
    this.calls.gas.apply(this.calls.prices.onVerifyAggregateSeals(sealProof, count))
    if (count === 0) throw new SyscallError(Errno.IllegalArgument, 'no seal verify infos')
    if (!this.#isSealType(sealProof)) throw invalidType()
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
    const { proofs } = this.calls.machine
    return infos.map((info) => this.#isSealType(readSealType(info)) && proofs.verifySeal(info) === true)
  }

  verifyConsensusFault(header1: Uint8Array, header2: Uint8Array, extra: Uint8Array): ConsensusFault {
    this.calls.gas.apply(this.calls.prices.onVerifyConsensusFault())
    const { externs } = this.calls.machine
    const fault = this.askNode(() => externs.verifyConsensusFault(header1.slice(), header2.slice(), extra.slice()))
    return fault ?? { faultType: 0, epoch: 0, target: 0n }
  }
}
