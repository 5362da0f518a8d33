/** Runs the vectors of one file: results, and of valid ones everything on the way to them. Works in every runtime. */
import { fromHex, toHex } from '../../../src/base/bytes.ts'
import { sha256 } from '../../../src/crypto/hashes.ts'
import { readAggregateProof } from '../../../src/proofs/aggregate/aggregateProof.ts'
import { aggregationVersion, padInputs, verifyAggregate } from '../../../src/proofs/aggregate/aggregateSeals.ts'
import { gipaChallenges } from '../../../src/proofs/aggregate/gipaChallenges.ts'
import { aggregateScalars, foldInputs } from '../../../src/proofs/aggregate/snarkPack.ts'
import { ProofError } from '../../../src/proofs/errors.ts'
import { scalarBytes } from '../../../src/proofs/field.ts'
import { combineInputs } from '../../../src/proofs/groth16.ts'
import type { Circuit, ProofKeys } from '../../../src/proofs/keys/keyName.ts'
import { KEY_FILES } from '../../../src/proofs/keys/parameters.ts'
import { LeafChallenges, winningSectorIndex } from '../../../src/proofs/post/leafChallenge.ts'
import { postProofType } from '../../../src/proofs/post/postProofType.ts'
import { type PoStStatement, sectorInputs } from '../../../src/proofs/post/sectors.ts'
import { verifyWindowPoSt, windowPublicInputs } from '../../../src/proofs/post/windowPoSt.ts'
import { verifyWinningPoSt, winningPublicInputs } from '../../../src/proofs/post/winningPoSt.ts'
import { DrgParents } from '../../../src/proofs/seal/drgParents.ts'
import { ExpanderParents } from '../../../src/proofs/seal/expanderParents.ts'
import { verifySeal, verifySeals } from '../../../src/proofs/seal/seal.ts'
import { sealChallenges } from '../../../src/proofs/seal/sealChallenges.ts'
import { replicaId, type SealStatement, sealPublicInputs } from '../../../src/proofs/seal/sealInputs.ts'
import { sealProofType } from '../../../src/proofs/seal/sealProofType.ts'
import type { SectorSize } from '../../../src/proofs/sectorSize.ts'
import { sizeOfType } from '../../../src/proofs/sectorSize.ts'
import { type UpdateStatement, updatePublicInputs, verifyReplicaUpdate } from '../../../src/proofs/update.ts'
import type {
  AggregateVector,
  BatchVector,
  Expected,
  GraphForm,
  KeyForm,
  LeafChallengesForm,
  PoStVector,
  ProofFile,
  ProofVector,
  SealForm,
  SealVector,
  SectorChallengeForm,
  UpdateVector,
} from './vectorForm.ts'

/** One vector; `reason` says what was wrong, undefined when it passed. */
export interface Outcome {
  readonly id: string
  readonly reason: string | undefined
}

class Mismatch extends Error {}

function same(what: string, actual: unknown, expected: unknown): void {
  const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (a !== b) throw new Mismatch(`${what}: got ${a?.slice(0, 200)}, expected ${b?.slice(0, 200)}`)
}

const hex = (value: bigint): string => `0x${value.toString(16)}`

/** The answer in the library's terms; anything but a coded refusal is a failure. */
function answer(verify: () => boolean): 'true' | 'false' | 'refused' {
  try {
    return verify() ? 'true' : 'false'
  } catch (error) {
    if (error instanceof ProofError && !['KEY_MISSING', 'BACKEND_FAILED'].includes(error.code)) return 'refused'
    throw error
  }
}

function checkAnswer(result: Expected, verify: () => boolean): void {
  same('result', answer(verify), result === 'error' || result === 'panic' ? 'refused' : result)
}

function inputsHash(inputs: readonly bigint[]): string {
  const bytes = new Uint8Array(32 * inputs.length)
  for (const [i, input] of inputs.entries()) bytes.set(scalarBytes(input), 32 * i)
  return toHex(sha256(bytes))
}

/** Public inputs of every partition, and their combination with the key. */
function checkInputs(
  keys: ProofKeys,
  circuit: Circuit,
  size: SectorSize,
  inputs: readonly (readonly bigint[])[],
  expected: NonNullable<PoStVector['intermediate']>,
): void {
  const { public_inputs, public_inputs_head, public_inputs_sha256, vk_x } = expected
  if (public_inputs) {
    same(
      'public inputs',
      inputs.map((one) => one.map(hex)),
      public_inputs,
    )
  }
  if (public_inputs_head) {
    same(
      'first public inputs',
      inputs.map((one) => hex(one[0] as bigint)),
      public_inputs_head.map((one) => (Array.isArray(one) ? one[0] : one)),
    )
  }
  if (public_inputs_sha256) same('hash of the public inputs', inputs.map(inputsHash), public_inputs_sha256)
  if (vk_x) {
    const key = keys.key(circuit, size.name)
    same(
      'vk_x',
      inputs.map((one) => toHex(key.curve.writeG1(combineInputs(key, 1n, one)))),
      vk_x,
    )
  }
}

function postStatement(vector: PoStVector): PoStStatement {
  return {
    proofType: vector.proof_type,
    randomness: fromHex(vector.randomness),
    proverId: fromHex(vector.prover_id),
    sectors: vector.sectors.map(({ sector, comm_r }) => ({ number: BigInt(sector), commR: fromHex(comm_r) })),
  }
}

function runPoSt(keys: ProofKeys, vector: PoStVector, winningFile: boolean): void {
  const statement = postStatement(vector)
  const proof = fromHex(vector.proof)
  const winning = winningFile || vector.proof_type < 5
  checkAnswer(vector.result, () => (winning ? verifyWinningPoSt : verifyWindowPoSt)(keys, statement, proof))
  if (vector.sector_set !== undefined && vector.result === 'true' && vector.sector_challenge_index !== undefined) {
    const index = winningSectorIndex(statement.proverId, statement.randomness, BigInt(vector.sector_set.length))
    same('index of the sector', Number(index), vector.sector_challenge_index)
  }
  if (vector.intermediate === undefined) return
  const type = postProofType(vector.proof_type)
  const sectors = sectorInputs(statement)
  const inputs =
    type.circuit === 'winning'
      ? sectors.map((sector) => winningPublicInputs(type.size, statement.randomness, sector))
      : windowPublicInputs(type, statement.randomness, sectors)
  checkInputs(keys, type.circuit, type.size, inputs, vector.intermediate)
}

function sealStatement(form: SealForm): SealStatement {
  return {
    proverId: fromHex(form.prover_id),
    sectorNumber: BigInt(form.sector),
    ticket: fromHex(form.ticket),
    seed: fromHex(form.seed),
    commR: fromHex(form.comm_r),
    commD: fromHex(form.comm_d),
  }
}

function runSeal(keys: ProofKeys, vector: SealVector): void {
  const statement = sealStatement(vector)
  checkAnswer(vector.result, () => verifySeal(keys, vector.proof_type, statement, fromHex(vector.proof)))
  const { intermediate } = vector
  if (intermediate === undefined) return
  const type = sealProofType(vector.proof_type)
  const id = replicaId(type, statement)
  same('replica ID', toHex(id), intermediate.replica_id)
  const nodes = sealChallenges(type, { replicaId: id, commR: statement.commR, seed: statement.seed })
  same('challenges', nodes, intermediate.challenges?.flat())
  checkInputs(keys, 'seal', type.size, sealPublicInputs(type, statement), intermediate)
}

function runBatch(keys: ProofKeys, { items, proof_type, result }: BatchVector): void {
  const seals = items.map((item) => ({ statement: sealStatement(item), proof: fromHex(item.proof) }))
  checkAnswer(result, () => verifySeals(keys, proof_type, seals))
}

function runUpdate(keys: ProofKeys, vector: UpdateVector): void {
  const statement: UpdateStatement = {
    proofType: vector.update_proof_type,
    oldCommR: fromHex(vector.comm_r_old),
    newCommR: fromHex(vector.comm_r_new),
    newCommD: fromHex(vector.comm_d_new),
  }
  checkAnswer(vector.result, () => verifyReplicaUpdate(keys, statement, fromHex(vector.proof)))
  if (vector.intermediate === undefined) return
  const { size } = sizeOfType(vector.update_proof_type, 1, 'update')
  checkInputs(keys, 'update', size, updatePublicInputs(size, statement), vector.intermediate)
}

function runAggregate(keys: ProofKeys, vector: AggregateVector): void {
  const aggregation = aggregationVersion(vector.aggregation_type)
  const seals = vector.infos.map(sealStatement)
  const bytes = fromHex(vector.proof)
  checkAnswer(vector.result, () =>
    verifyAggregate(keys, { sealType: vector.seal_proof_type, aggregation, seals }, bytes),
  )
  const expected = vector.intermediate
  if (expected === undefined) return
  const type = sealProofType(vector.seal_proof_type)
  const key = keys.key('seal', type.size.name)
  const inputs = seals.flatMap((statement) => sealPublicInputs(type, statement))
  same('hashes of the public inputs', inputs.map(inputsHash), expected.public_inputs_sha256)
  const proof = readAggregateProof(bytes, key.curve)
  same('number of proofs', proof.count, expected.nproofs)
  const challenges = gipaChallenges(key.curve, proof, fromHex(expected.transcript_include_sha256), aggregation)
  same('hcom', hex(challenges.hcom), expected.hcom)
  same('r', hex(challenges.r), expected.r)
  same('extra challenge', hex(challenges.extra), expected.extra_challenge)
  same('KZG point', hex(challenges.kzg), expected.kzg_z)
  const scalars = aggregateScalars(challenges, proof.count)
  same('final r', hex(scalars.finalR), expected.final_r)
  same('sum of powers of r', hex(scalars.rSum), expected.r_sum)
  same('polynomial of v', hex(scalars.vPolynomial), expected.v_polynomial_at_z)
  same('polynomial of w', hex(scalars.wPolynomial), expected.w_polynomial_at_z)
  const folded = foldInputs(padInputs(inputs, proof.count), challenges.r)
  same('inputs', toHex(key.curve.writeG1(combineInputs(key, scalars.rSum, folded))), expected.inputs_point)
  same('challenges', [...challenges.rounds].map(hex).sort(), [...expected.challenges].sort())
  same('inverses', [...challenges.inverses].map(hex).sort(), [...expected.challenges_inv].sort())
}

function runLeaves({ proof_type, randomness, sectors }: LeafChallengesForm): void {
  const { size, circuit, numberedBySector } = postProofType(proof_type)
  const challenges = new LeafChallenges(fromHex(randomness), size.nodes)
  for (const [index, { sector, leaves }] of sectors.entries()) {
    const from = circuit === 'window' && !numberedBySector ? index * leaves.length : 0
    same(
      `leaves of sector ${sector}`,
      leaves.map((_, i) => challenges.leaf(BigInt(sector), from + i)),
      leaves,
    )
  }
}

function runSectorChallenge({ prover_id, randomness, sector_set_len, indices }: SectorChallengeForm): void {
  const draw = (): bigint => winningSectorIndex(fromHex(prover_id), fromHex(randomness), BigInt(sector_set_len))
  if (indices === undefined) checkAnswer('error', () => draw() >= 0n)
  else same('index', [String(draw())], indices)
}

function runGraph({ registered_seal_proof, node_base_exp }: GraphForm): void {
  const type = sealProofType(registered_seal_proof)
  const [drg, expander] = [new DrgParents(type), new ExpanderParents(type)]
  for (const [node, base, expanded] of node_base_exp) {
    same(`parents of ${node}`, [drg.of(node), expander.of(node)], [base, expanded])
  }
}

function runKey(keys: ProofKeys, form: KeyForm): void {
  const name = form.file.slice(form.file.lastIndexOf('/') + 1)
  const file = KEY_FILES.find((one) => `${one.name}.vk` === name)
  if (file === undefined) throw new Mismatch(`no circuit of this name: ${name}`)
  const { curve, alphaG1, betaG2, gammaG2, deltaG2, alphaBeta, firstIc, ic } = keys.key(file.circuit, file.size)
  same('number of ic', ic.count + 1, form.ic_length)
  same('alpha', toHex(curve.writeG1(alphaG1)), form.alpha_g1)
  same('beta', toHex(curve.writeG2(betaG2)), form.beta_g2)
  same('gamma', toHex(curve.writeG2(gammaG2)), form.gamma_g2)
  same('delta', toHex(curve.writeG2(deltaG2)), form.delta_g2)
  same('first ic', toHex(curve.writeG1(firstIc)), form.ic_first)
  same('e(alpha, beta)', toHex(curve.writeGt(alphaBeta)), form.pairing_alpha_beta)
}

function runVector(keys: ProofKeys, vector: ProofVector, winningFile: boolean): void {
  if ('infos' in vector) runAggregate(keys, vector)
  else if ('update_proof_type' in vector) runUpdate(keys, vector)
  else if ('ticket' in vector) runSeal(keys, vector)
  else runPoSt(keys, vector, winningFile)
}

function outcome(id: string, run: () => void): Outcome {
  try {
    run()
    return { id, reason: undefined }
  } catch (error) {
    return { id, reason: error instanceof Mismatch ? error.message : ((error as Error).stack ?? String(error)) }
  }
}

/** Runs everything in a file. @returns nothing for one without vectors */
export function* runProofFile(file: ProofFile, keys: ProofKeys, name: string): Generator<Outcome> {
  for (const list of Object.keys(file).filter((one) => one.startsWith('vectors'))) {
    for (const vector of file[list] as ProofVector[]) {
      yield outcome(vector.id, () => runVector(keys, vector, name.startsWith('winning')))
    }
  }
  for (const batch of file.batches ?? []) yield outcome(batch.id, () => runBatch(keys, batch))
  for (const [i, one] of (file.leaf_challenges ?? []).entries()) yield outcome(`leaves ${i}`, () => runLeaves(one))
  const drawn = [...(file.winning_sector_challenge ?? []), ...(file.winning_sector_challenge_errors ?? [])]
  for (const [i, one] of drawn.entries()) yield outcome(`sector ${i}`, () => runSectorChallenge(one))
  for (const graph of file.graphs ?? []) yield outcome(`graph ${graph.registered_seal_proof}`, () => runGraph(graph))
  if (Array.isArray(file.keys)) {
    for (const key of file.keys as KeyForm[]) yield outcome(key.file, () => runKey(keys, key))
  }
}
