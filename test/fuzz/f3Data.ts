/** The finality certificates of a snapshot, in pieces; or the block that leads to them. The first byte says which, and how long a piece is. */
import { concatBytes } from '../../src/base/bytes.ts'
import { PetrelError } from '../../src/base/errors.ts'
import { CborWriter } from '../../src/codec/cborWriter.ts'
import { decode, encode } from '../../src/codec/description.ts'
import { finalityCertificate } from '../../src/consensus/f3/certificate.ts'
import { powerTable } from '../../src/consensus/f3/powerTable.ts'
import { F3DataReader, f3Block } from '../../src/sync/snapshot/f3Data.ts'
import { decodeMetadata, encodeMetadata } from '../../src/sync/snapshot/metadata.ts'
import type { FuzzTarget } from './fuzzTarget.ts'
import { CERTIFICATE } from './seeds.ts'

const METADATA = 128

function data(): Uint8Array {
  const header = new CborWriter()
  header.array(4)
  for (const field of [1, 7, 8]) header.uint(field)
  header.array(0)
  const certificate = encode(finalityCertificate, CERTIFICATE)
  return f3Block(header.finish(), [certificate, certificate])[1]
}

function seeds(): Uint8Array[] {
  const [f3Data] = f3Block(Uint8Array.of(1), [])
  const metadata = encodeMetadata({ f3Data, headTipsetKey: [f3Data, f3Data] })
  return [
    ...[1, 64].map((piece) => concatBytes(Uint8Array.of(piece), data())),
    concatBytes(Uint8Array.of(METADATA), metadata),
  ]
}

/** No item is told of before it is there whole. */
function readPieces(bytes: Uint8Array, piece: number): void {
  let [told, given] = [0, 0]
  const reader = new F3DataReader({
    header: ({ initialPowerTable }) => {
      told += initialPowerTable.length
      decode(powerTable, initialPowerTable)
    },
    certificate: (certificate) => {
      told += certificate.length
      decode(finalityCertificate, certificate)
    },
  })
  for (let at = 0; at < bytes.length; at += piece) {
    const next = bytes.subarray(at, at + piece)
    given += next.length
    reader.write(next)
    if (told > given) throw new Error(`${told} bytes were told of ${given}`)
  }
  reader.end()
}

export const f3Data: FuzzTarget = {
  seeds,
  run: (input) => {
    const [choice = 0] = input
    const bytes = input.subarray(1)
    if (choice < METADATA) return readPieces(bytes, 1 + choice)
    if (decodeMetadata(bytes) === undefined) throw new PetrelError('REFUSED', 'something else')
  },
}
