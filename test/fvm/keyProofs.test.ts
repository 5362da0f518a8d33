/** The machine's proof syscalls on the vectors: descriptions in CBOR as actors pass them, outcomes as the library has them. */
import { beforeAll, describe, expect, it } from 'vitest'
import { fromHex } from '../../src/base/bytes.ts'
import {
  type Cid,
  CODEC_FIL_COMMITMENT_SEALED,
  CODEC_FIL_COMMITMENT_UNSEALED,
  createCid,
  HASH_POSEIDON_BLS12_381_A1_FC1,
  HASH_SHA2_256_TRUNC254_PADDED,
} from '../../src/codec/cid.ts'
import { bytes, type Codec, cid, encode, list, tuple, u64, uint } from '../../src/codec/description.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import type { Kernel } from '../../src/fvm/kernel/kernel.ts'
import { Errno, SyscallError } from '../../src/fvm/kernel/outcomes.ts'
import { KeyProofs } from '../../src/fvm/keyProofs.ts'
import type { ProofOutcome } from '../../src/fvm/proofVerifier.ts'
import { wasmCurve } from '../../src/proofs/curve/curveWasm.ts'
import { LoadedKeys } from '../../src/proofs/keys/loadedKeys.ts'
import { type PoStProof, poStProof } from '../../src/types/blockHeader.ts'
import type {
  AggregateVector,
  PoStVector,
  SealForm,
  SealVector,
  UpdateVector,
} from '../conformance/proofs/vectorForm.ts'
import { PROOF_VECTORS, vectorKeys } from '../proofs/proofKeys.ts'
import { missingShared, readSharedJson } from '../support/shared.ts'
import { testMessage, tinyMachine } from './support/tinyMachine.ts'

const missing = missingShared(PROOF_VECTORS)

/** The prover of the vectors: ID 1000. Another one cannot be told as an actor's number. */
const MINER = 1000n
const PROVER = `e807${'00'.repeat(30)}`

const sealed = (commR: string): Cid =>
  createCid(CODEC_FIL_COMMITMENT_SEALED, HASH_POSEIDON_BLS12_381_A1_FC1, fromHex(commR))
const unsealed = (commD: string): Cid =>
  createCid(CODEC_FIL_COMMITMENT_UNSEALED, HASH_SHA2_256_TRUNC254_PADDED, fromHex(commD))

interface SealInfo {
  readonly type: number
  readonly id: { readonly miner: bigint; readonly number: bigint }
  readonly deals: bigint[]
  readonly ticket: Uint8Array
  readonly seed: Uint8Array
  readonly proof: Uint8Array
  readonly sealed: Cid
  readonly unsealed: Cid
}

const sealInfo: Codec<SealInfo> = tuple<SealInfo>('SealVerifyInfo', [
  ['type', 'Type', uint],
  [
    'id',
    'Id',
    tuple<SealInfo['id']>('SectorID', [
      ['miner', 'Miner', u64],
      ['number', 'Number', u64],
    ]),
  ],
  ['deals', 'Deals', list(u64)],
  ['ticket', 'Ticket', bytes],
  ['seed', 'Seed', bytes],
  ['proof', 'Proof', bytes],
  ['sealed', 'Sealed', cid],
  ['unsealed', 'Unsealed', cid],
])

interface WindowInfo {
  readonly randomness: Uint8Array
  readonly proofs: PoStProof[]
  readonly sectors: { readonly type: number; readonly number: bigint; readonly sealed: Cid }[]
  readonly miner: bigint
}

const windowInfo: Codec<WindowInfo> = tuple<WindowInfo>('WindowPoStVerifyInfo', [
  ['randomness', 'Randomness', bytes],
  ['proofs', 'Proofs', list(poStProof)],
  [
    'sectors',
    'Sectors',
    list(
      tuple<WindowInfo['sectors'][0]>('SectorInfo', [
        ['type', 'Type', uint],
        ['number', 'Number', u64],
        ['sealed', 'Sealed', cid],
      ]),
    ),
  ],
  ['miner', 'Miner', u64],
])

interface AggregateInfo {
  readonly miner: bigint
  readonly type: number
  readonly aggregation: number
  readonly proof: Uint8Array
  readonly infos: Omit<SealInfo, 'type' | 'id' | 'deals' | 'proof'>[]
}

const aggregateInfo = tuple<AggregateInfo>('AggregateSealVerifyProofAndInfos', [
  ['miner', 'Miner', u64],
  ['type', 'Type', uint],
  ['aggregation', 'Aggregation', uint],
  ['proof', 'Proof', bytes],
  [
    'infos',
    'Infos',
    list(
      tuple<AggregateInfo['infos'][0] & { readonly number: bigint }>('AggregateSealVerifyInfo', [
        ['number', 'Number', u64],
        ['ticket', 'Ticket', bytes],
        ['seed', 'Seed', bytes],
        ['sealed', 'Sealed', cid],
        ['unsealed', 'Unsealed', cid],
      ]) as never,
    ),
  ],
])

interface UpdateInfo {
  readonly type: number
  readonly old: Cid
  readonly sealed: Cid
  readonly unsealed: Cid
  readonly proof: Uint8Array
}

const updateInfo = tuple<UpdateInfo>('ReplicaUpdateInfo', [
  ['type', 'Type', uint],
  ['old', 'Old', cid],
  ['sealed', 'Sealed', cid],
  ['unsealed', 'Unsealed', cid],
  ['proof', 'Proof', bytes],
])

function sealFields(form: SealForm) {
  return {
    number: BigInt(form.sector),
    ticket: fromHex(form.ticket),
    seed: fromHex(form.seed),
    sealed: sealed(form.comm_r),
    unsealed: unsealed(form.comm_d),
  }
}

const outcomeOf = (result: string): ProofOutcome => (result === 'true' ? true : result === 'false' ? false : 'error')

describe.skipIf(missing !== undefined)('proofs verified with keys', () => {
  let proofs: KeyProofs

  beforeAll(async () => {
    await initCrypto()
    proofs = new KeyProofs(vectorKeys(wasmCurve()))
  })

  function vectorsOf<T>(name: string): T[] {
    return readSharedJson<{ vectors: T[] }>(`${PROOF_VECTORS}/${name}.json`).vectors
  }

  it('seals', () => {
    const all = vectorsOf<SealVector>('seal-2k').filter(({ prover_id }) => prover_id === PROVER)
    for (const vector of all) {
      const { number, ...fields } = sealFields(vector)
      const info = {
        ...fields,
        type: vector.proof_type,
        id: { miner: MINER, number },
        deals: [7n],
        proof: fromHex(vector.proof),
      }
      expect([vector.id, proofs.verifySeal(encode(sealInfo, info))]).toEqual([vector.id, outcomeOf(vector.result)])
    }
    expect(all.length).toBeGreaterThan(100)
  })

  const windowInfoOf = (vector: PoStVector): WindowInfo => ({
    randomness: fromHex(vector.randomness),
    proofs: [{ postProof: vector.proof_type, proofBytes: fromHex(vector.proof) }],
    sectors: vector.sectors.map(({ sector, comm_r }) => ({
      type: vector.proof_type % 5,
      number: BigInt(sector),
      sealed: sealed(comm_r),
    })),
    miner: MINER,
  })

  it('window PoSts', () => {
    // Randomness is masked here: what the library refuses or takes with its top bits set is another value.
    const masked = ({ randomness }: PoStVector): boolean => (fromHex(randomness)[31] as number) < 0x40
    const all = vectorsOf<PoStVector>('window-2k').filter((one) => one.prover_id === PROVER && masked(one))
    for (const vector of all.filter((_, i) => i % 2 === 0)) {
      const outcome = proofs.verifyWindowPoSt(encode(windowInfo, windowInfoOf(vector)))
      expect([vector.id, outcome]).toEqual([vector.id, outcomeOf(vector.result)])
    }
    expect(all.length).toBeGreaterThan(150)
  })

  const aggregateInfoOf = (vector: AggregateVector): AggregateInfo => ({
    miner: MINER,
    type: vector.seal_proof_type,
    aggregation: vector.aggregation_type,
    proof: fromHex(vector.proof),
    infos: vector.infos.map(sealFields),
  })
  const updateInfoOf = (vector: UpdateVector): UpdateInfo => ({
    type: vector.update_proof_type,
    old: sealed(vector.comm_r_old),
    sealed: sealed(vector.comm_r_new),
    unsealed: unsealed(vector.comm_d_new),
    proof: fromHex(vector.proof),
  })

  it('window PoSts: two proofs, randomness with its top bits set', () => {
    const valid = vectorsOf<PoStVector>('window-2k').find(({ kind }) => kind === 'valid') as PoStVector
    const info = windowInfoOf(valid)
    const verify = (change: Partial<WindowInfo>): ProofOutcome =>
      proofs.verifyWindowPoSt(encode(windowInfo, { ...info, ...change }))
    const topBits = info.randomness.slice()
    topBits[31] = (topBits[31] as number) | 0xc0
    expect(verify({})).toBe(true)
    expect(verify({ randomness: topBits })).toBe(true)
    expect(verify({ randomness: topBits.subarray(1) })).toBe('error')
    expect(verify({ proofs: [] })).toBe('error')
    expect(verify({ proofs: [...info.proofs, ...info.proofs] })).toBe('error')
    expect(verify({ sectors: info.sectors.map((one) => ({ ...one, sealed: unsealed('11'.repeat(32)) })) })).toBe(
      'error',
    )
    expect(proofs.verifyWindowPoSt(Uint8Array.of(0x84))).toBe('error')
  })

  it('aggregates', () => {
    const all = vectorsOf<AggregateVector>('aggregate').filter(({ infos }) =>
      infos.every(({ prover_id }) => prover_id === PROVER),
    )
    for (const vector of all.filter((_, i) => i % 5 === 0)) {
      const outcome = proofs.verifyAggregateSeals(encode(aggregateInfo, aggregateInfoOf(vector)))
      expect([vector.id, outcome]).toEqual([vector.id, outcomeOf(vector.result)])
    }
    expect(all.length).toBeGreaterThan(100)
  })

  it('updates', () => {
    const all = vectorsOf<UpdateVector>('update')
    for (const vector of all) {
      const outcome = proofs.verifyReplicaUpdate(encode(updateInfo, updateInfoOf(vector)))
      expect([vector.id, outcome]).toEqual([vector.id, outcomeOf(vector.result)])
    }
    expect(all.length).toBeGreaterThan(50)
  })

  describe('decide what an actor is told by', () => {
    type Told = boolean | boolean[] | Errno | undefined

    /** What a system call answers in a machine with these proofs. */
    function told(call: (kernel: Kernel) => boolean | boolean[]): Told {
      let answer: Told
      const run = (kernel: Kernel): number => {
        try {
          answer = call(kernel)
        } catch (error) {
          if (!(error instanceof SyscallError)) throw error
          answer = error.errno
        }
        return 0
      }
      tinyMachine({ networkVersion: 28, proofs, methods: { 2: run } }).applyMessage(testMessage(2), 'explicit', 100)
      return answer
    }
    /** The first vector of each result. */
    const ofEach = <T extends { readonly result: string }>(
      all: readonly T[],
    ): Record<'true' | 'false' | 'error', T> => {
      const first = (wanted: (result: string) => boolean): T => {
        const found = all.find(({ result }) => wanted(result))
        if (found === undefined) throw new Error('no such vector')
        return found
      }
      const isAnswer = (result: string): boolean => result === 'true' || result === 'false'
      return {
        true: first((result) => result === 'true'),
        false: first((result) => result === 'false'),
        error: first((result) => !isAnswer(result)),
      }
    }
    const answers = { true: true, false: false, error: Errno.IllegalArgument }
    /** One call with a vector of each result. */
    function expectAll<T extends { readonly result: string }>(
      vectors: readonly T[],
      call: (kernel: Kernel, vector: T) => boolean,
    ): void {
      for (const [result, vector] of Object.entries(ofEach(vectors))) {
        expect([result, told((kernel) => call(kernel, vector))]).toEqual([
          result,
          answers[result as keyof typeof answers],
        ])
      }
    }

    it('verify_post', () => {
      const all = vectorsOf<PoStVector>('window-2k').filter(
        // Types from 10 on; the kernel itself refuses others.
        ({ prover_id, proof_type }) => prover_id === PROVER && proof_type >= 10,
      )
      expectAll(all, (kernel, vector) => kernel.verifyPost(encode(windowInfo, windowInfoOf(vector))))
    })

    const sealVectors = (): SealVector[] =>
      vectorsOf<SealVector>('seal-2k').filter(({ prover_id }) => prover_id === PROVER)
    const sealInfoOf = (vector: SealVector): SealInfo => {
      const { number, ...fields } = sealFields(vector)
      return {
        ...fields,
        type: vector.proof_type,
        id: { miner: MINER, number },
        deals: [],
        proof: fromHex(vector.proof),
      }
    }

    it('verify_seal', () => {
      expectAll(sealVectors(), (kernel, vector) => kernel.verifySeal(encode(sealInfo, sealInfoOf(vector))))
    })

    it('batch_verify_seals', () => {
      const three = ofEach(sealVectors())
      const batch = encode(list(sealInfo), [three.true, three.false, three.error, three.true].map(sealInfoOf))
      expect(told((kernel) => kernel.batchVerifySeals(batch))).toEqual([true, false, false, true])
    })

    it('verify_aggregate_seals', () => {
      const all = vectorsOf<AggregateVector>('aggregate').filter(({ infos }) =>
        infos.every(({ prover_id }) => prover_id === PROVER),
      )
      expectAll(
        all.filter(({ infos }) => infos.length > 0),
        (kernel, vector) => kernel.verifyAggregateSeals(encode(aggregateInfo, aggregateInfoOf(vector))),
      )
    })

    it('verify_replica_update', () => {
      expectAll(vectorsOf<UpdateVector>('update'), (kernel, vector) =>
        kernel.verifyReplicaUpdate(encode(updateInfo, updateInfoOf(vector))),
      )
    })
  })

  it('presumes what it has no key for, and passes on that a key is unusable', async () => {
    const curve = wasmCurve()
    const valid = vectorsOf<PoStVector>('window-2k').find(({ kind }) => kind === 'valid') as PoStVector
    const wrong = { ...windowInfoOf(valid), miner: MINER, randomness: new Uint8Array(32) }
    const none = new KeyProofs(new LoadedKeys({ curve, read: () => undefined }))
    expect(none.verifyWindowPoSt(encode(windowInfo, wrong))).toBe(true)
    const unusable = new KeyProofs(new LoadedKeys({ curve, read: () => new Uint8Array(4708) }))
    expect(() => unusable.verifyWindowPoSt(encode(windowInfo, wrong))).toThrow('digest')
  })
})
