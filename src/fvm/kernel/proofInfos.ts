/**
 * The parts of proof descriptions that the machine itself needs: what prices depend on. The rest is for the verifier.
 * @see ref-fvm shared/src/sector/mod.rs SealVerifyInfo, AggregateSealVerifyProofAndInfos, WindowPoStVerifyInfo
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

/** Number of challenged sectors of a WindowPoStVerifyInfo: [randomness, proofs, sectors, prover]. */
export function readPoStSectorCount(info: Uint8Array): number {
  return reading(() => {
    const reader = new CborReader(info)
    expectFields(reader, 4)
    reader.skip()
    reader.skip()
    const count = reader.readArray()
    for (let i = 0; i < count; i++) reader.skip()
    reader.skip()
    reader.end()
    return count
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
