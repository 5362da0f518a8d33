/**
 * The parts of proof descriptions that the machine itself needs: what prices depend on. The rest is for the verifier.
 * @see ref-fvm shared/src/sector/seal.rs SealVerifyInfo, AggregateSealVerifyProofAndInfos; post.rs WindowPoStVerifyInfo
 */
import { CborReader } from '../../codec/cborReader.ts'
import { Errno, SyscallError } from './outcomes.ts'

/** What does not decode is the actor's illegal argument. */
function reading<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new SyscallError(Errno.IllegalArgument, (error as Error).message)
  }
}

function expectFields(reader: CborReader, count: number): void {
  const length = reader.readArray()
  if (length !== count) {
    throw new SyscallError(Errno.IllegalArgument, `Cannot read proof description: ${length} fields, expected ${count}`)
  }
}

/** What a window PoSt is made of. */
export interface PoStTypes {
  /** RegisteredPoStProof of each proof. */
  readonly proofs: readonly number[]
  /** RegisteredSealProof of each challenged sector. */
  readonly seals: readonly number[]
}

/** Of a WindowPoStVerifyInfo: [randomness, [type, proof]…, [type, number, sealed]…, prover]. */
export function readPoStTypes(info: Uint8Array): PoStTypes {
  return reading(() => {
    const reader = new CborReader(info)
    const types = (fields: number): number[] =>
      Array.from({ length: reader.readArray() }, () => {
        expectFields(reader, fields)
        const type = Number(reader.readInt())
        for (let i = 1; i < fields; i++) reader.skip()
        return type
      })
    expectFields(reader, 4)
    reader.skip()
    const proofs = types(2)
    const seals = types(3)
    reader.skip()
    reader.end()
    return { proofs, seals }
  })
}

/** RegisteredSealProof of a SealVerifyInfo: [type, …]. */
export function readSealType(info: Uint8Array): number {
  return reading(() => {
    const reader = new CborReader(info)
    reader.readArray()
    return Number(reader.readInt())
  })
}

/** Of an AggregateSealVerifyProofAndInfos: [miner, seal proof, aggregate proof, proof, infos]. */
export function readAggregateInfo(info: Uint8Array): { sealProof: number; count: number } {
  return reading(() => {
    const reader = new CborReader(info)
    expectFields(reader, 5)
    reader.skip()
    const sealProof = Number(reader.readInt())
    reader.skip()
    reader.skip()
    const count = reader.readArray()
    for (let i = 0; i < count; i++) reader.skip()
    reader.end()
    return { sealProof, count }
  })
}

/** The SealVerifyInfo of a batch, each as its own CBOR (copies). */
export function readSealInfos(batch: Uint8Array): Uint8Array[] {
  return reading(() => {
    const reader = new CborReader(batch)
    const count = reader.readArray()
    const infos: Uint8Array[] = []
    for (let i = 0; i < count; i++) infos.push(reader.readRaw().slice())
    reader.end()
    return infos
  })
}
