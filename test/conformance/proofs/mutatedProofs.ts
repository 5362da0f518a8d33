/** Valid vectors, each time changed somewhere; see `fuzz.ts`. Works in every runtime. */
import { fromHex, toHex } from '../../../src/base/bytes.ts'
import { aggregationVersion, verifyAggregate } from '../../../src/proofs/aggregate/aggregateSeals.ts'
import { ProofError } from '../../../src/proofs/errors.ts'
import type { ProofKeys } from '../../../src/proofs/keys/keyName.ts'
import { verifyWindowPoSt } from '../../../src/proofs/post/windowPoSt.ts'
import { verifyWinningPoSt } from '../../../src/proofs/post/winningPoSt.ts'
import { verifySeal } from '../../../src/proofs/seal/seal.ts'
import { sealPublicInputs } from '../../../src/proofs/seal/sealInputs.ts'
import { sealProofType } from '../../../src/proofs/seal/sealProofType.ts'
import { verifyReplicaUpdate } from '../../../src/proofs/update.ts'
import { PROOF_VECTORS } from '../../proofs/proofKeys.ts'
import type { Seeded } from '../../support/seeded.ts'
import { readSharedJson } from '../../support/shared.ts'
import { attacksOn } from './attacks.ts'
import type { AggregateVector, PoStVector, SealForm, SealVector, UpdateVector } from './vectorForm.ts'

/** Bytes that may be changed, by name, and the answer to them. */
interface Subject {
  readonly name: string
  readonly fields: Readonly<Record<string, Uint8Array>>
  verify(fields: Readonly<Record<string, Uint8Array>>): boolean
  /** Whether this asks for the same as the valid proof: it is true then. */
  isSame?(fields: Readonly<Record<string, Uint8Array>>): boolean
}

/** Larger sectors take ten times as long. */
const FILES = { post: ['winning-2k', 'winning-8m', 'window-2k', 'window-8m'], seal: ['seal-2k'] }
/** Aggregates take a tenth of a second each: one mutation in so many is of one. */
const AGGREGATE_SHARE = 100

function validOf<T extends { readonly kind: string }>(file: string): T[] {
  return readSharedJson<{ vectors: T[] }>(`${PROOF_VECTORS}/${file}.json`).vectors.filter(
    ({ kind }) => kind === 'valid',
  )
}

function postSubject(keys: ProofKeys, vector: PoStVector): Subject {
  const proverId = fromHex(vector.prover_id)
  const fields: Record<string, Uint8Array> = { proof: fromHex(vector.proof), randomness: fromHex(vector.randomness) }
  for (const { sector, comm_r } of vector.sectors) fields[sector] = fromHex(comm_r)
  const verify = vector.proof_type < 5 ? verifyWinningPoSt : verifyWindowPoSt
  return {
    name: vector.id,
    fields,
    verify: ({ proof, randomness, ...commRs }) => {
      const sectors = Object.entries(commRs).map(([number, commR]) => ({ number: BigInt(number), commR }))
      const statement = { proofType: vector.proof_type, randomness: randomness as Uint8Array, proverId, sectors }
      return verify(keys, statement, proof as Uint8Array)
    },
  }
}

const sealBytes = (form: SealForm): Record<string, Uint8Array> => ({
  proverId: fromHex(form.prover_id),
  ticket: fromHex(form.ticket),
  seed: fromHex(form.seed),
  commR: fromHex(form.comm_r),
  commD: fromHex(form.comm_d),
})

type SealFields = Readonly<Record<'proverId' | 'ticket' | 'seed' | 'commR' | 'commD', Uint8Array>>

function sealSubject(keys: ProofKeys, vector: SealVector): Subject {
  const sectorNumber = BigInt(vector.sector)
  const inputs = (fields: Readonly<Record<string, Uint8Array>>): string =>
    sealPublicInputs(sealProofType(vector.proof_type), { ...(fields as SealFields), sectorNumber }).join()
  const own = inputs(sealBytes(vector))
  return {
    name: vector.id,
    fields: { proof: fromHex(vector.proof), ...sealBytes(vector) },
    verify: ({ proof, ...rest }) =>
      verifySeal(keys, vector.proof_type, { ...(rest as SealFields), sectorNumber }, proof as Uint8Array),
    // Two challenges among 63 nodes: one other seed in 3,969 draws the same.
    isSame: ({ proof, ...rest }) => toHex(proof as Uint8Array) === vector.proof && inputs(rest) === own,
  }
}

function updateSubject(keys: ProofKeys, vector: UpdateVector): Subject {
  return {
    name: vector.id,
    fields: {
      proof: fromHex(vector.proof),
      oldCommR: fromHex(vector.comm_r_old),
      newCommR: fromHex(vector.comm_r_new),
      newCommD: fromHex(vector.comm_d_new),
    },
    verify: ({ proof, ...rest }) => {
      const commitments = rest as Readonly<Record<'oldCommR' | 'newCommR' | 'newCommD', Uint8Array>>
      return verifyReplicaUpdate(keys, { proofType: vector.update_proof_type, ...commitments }, proof as Uint8Array)
    },
  }
}

function aggregateSubject(keys: ProofKeys, vector: AggregateVector): Subject {
  const [first, ...others] = vector.infos
  const aggregation = aggregationVersion(vector.aggregation_type)
  const statementOf = (form: SealForm) => ({ ...(sealBytes(form) as SealFields), sectorNumber: BigInt(form.sector) })
  return {
    name: vector.id,
    fields: { proof: fromHex(vector.proof), ...sealBytes(first as SealForm) },
    verify: ({ proof, ...rest }) => {
      const changed = { ...(rest as SealFields), sectorNumber: BigInt((first as SealForm).sector) }
      const seals = [changed, ...others.map(statementOf)]
      return verifyAggregate(keys, { sealType: vector.seal_proof_type, aggregation, seals }, proof as Uint8Array)
    },
  }
}

export class MutatedProofs {
  readonly #random: Seeded
  readonly #subjects: readonly Subject[]
  readonly #aggregates: readonly Subject[]
  /** How many answers of each kind there were. */
  readonly counts: { false: number; refused: number; same: number } = { false: 0, refused: 0, same: 0 }
  /** What was accepted, or threw something without a code. */
  readonly wrong: string[] = []

  constructor(keys: ProofKeys, random: Seeded) {
    this.#random = random
    this.#subjects = [
      ...FILES.post.flatMap((file) => validOf<PoStVector>(file).map((vector) => postSubject(keys, vector))),
      ...FILES.seal.flatMap((file) => validOf<SealVector>(file).map((vector) => sealSubject(keys, vector))),
      ...validOf<UpdateVector>('update').map((vector) => updateSubject(keys, vector)),
    ]
    this.#aggregates = validOf<AggregateVector>('aggregate')
      .filter(({ intermediate, seal_proof_type }) => (intermediate?.nproofs ?? 99) <= 4 && seal_proof_type < 15)
      .map((vector) => aggregateSubject(keys, vector))
  }

  /** One more mutation. */
  next(): void {
    const random = this.#random
    const isAggregate = random.int(AGGREGATE_SHARE) === 0 && this.#aggregates.length > 0
    const from = isAggregate ? this.#aggregates : this.#subjects
    const subject = from[random.int(from.length)] as Subject
    const names = Object.keys(subject.fields)
    // Half of the changes are in the proof.
    const name = random.int(2) === 0 ? 'proof' : (names[random.int(names.length)] as string)
    const before = subject.fields[name] as Uint8Array
    const isAttack = name === 'proof' && !isAggregate && random.int(6) === 0
    const { bytes, what } = isAttack ? this.#attack(before) : this.#mutate(before, isAggregate && name === 'proof')
    const label = `${subject.name}: ${name} ${what}`
    try {
      const fields = { ...subject.fields, [name]: bytes }
      if (!subject.verify(fields)) this.counts.false++
      else if (subject.isSame?.(fields) === true) this.counts.same++
      else this.wrong.push(`${label} was accepted`)
    } catch (error) {
      if (error instanceof ProofError) this.counts.refused++
      else this.wrong.push(`${label} threw ${String(error)}`)
    }
  }

  /** One of what an attacker would try. */
  #attack(before: Uint8Array): { readonly bytes: Uint8Array; readonly what: string } {
    const attacks = [...attacksOn(before)]
    const { what, bytes } = attacks[this.#random.int(attacks.length)] as (typeof attacks)[0]
    return { bytes: bytes(), what }
  }

  #mutate(before: Uint8Array, keepsEnd: boolean): { readonly bytes: Uint8Array; readonly what: string } {
    const random = this.#random
    const at = random.int(before.length)
    const bytes = before.slice()
    switch (random.int(6)) {
      case 0: {
        const bit = random.int(8)
        bytes[at] = (bytes[at] as number) ^ (1 << bit)
        return { bytes, what: `bit ${8 * at + bit} flipped` }
      }
      case 1: {
        const more = 1 + random.int(255)
        bytes[at] = ((bytes[at] as number) + more) & 0xff
        return { bytes, what: `byte ${at} plus ${more}` }
      }
      case 2:
        return { bytes: before.slice(0, at), what: `cut to ${at}` }
      case 3: {
        if (keepsEnd) return { bytes: before.slice(1), what: 'without its first byte' }
        const longer = new Uint8Array(before.length + 1 + random.int(200))
        longer.set(before)
        return { bytes: longer, what: `lengthened to ${longer.length}` }
      }
      case 4: {
        const length = 1 + random.int(Math.min(48, before.length - at))
        const drawn = random.bytes(length)
        // Not what was there.
        drawn[0] = (bytes[at] as number) ^ (1 + random.int(255))
        bytes.set(drawn, at)
        return { bytes, what: `${length} bytes at ${at} drawn` }
      }
      default: {
        const fill = random.int(2) === 0 ? 0 : 0xff
        const same = before.every((byte) => byte === fill)
        return { bytes: bytes.fill(same ? 1 : fill), what: `all ${fill}` }
      }
    }
  }
}
