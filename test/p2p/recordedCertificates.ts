/** The recorded finality certificates, served. */
import { fromHex } from '../../src/base/bytes.ts'
import { decode } from '../../src/codec/description.ts'
import { finalityCertificate } from '../../src/consensus/f3/certificate.ts'
import { applyDelta, type PowerTable } from '../../src/consensus/f3/powerTable.ts'
import { certResponseHeader } from '../../src/p2p/certExchange/messages.ts'
import type { CertificateSource } from '../../src/p2p/certExchange/server.ts'
import { readSharedZstd } from '../support/recorded.ts'
import { missingShared } from '../support/shared.ts'

/** Why tests of recorded certificates are skipped; undefined when they can run. */
export const certsMissing: string | undefined = missingShared('data/golden/f3/certexch.jsonl.zst')

/** A recorded request with its answer, hexadecimal. */
export interface CertRow {
  readonly protocol: string
  readonly request: string
  readonly response: string
}

function lines<T>(file: string): T[] {
  return readSharedZstd(`data/golden/f3/${file}`)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T)
}

/** The recorded requests. */
export const certRows: CertRow[] = certsMissing === undefined ? lines<CertRow>('certexch.jsonl.zst') : []

/** All recorded certificates; tables follow from the first one, which is in the first answer. */
export function recordedSource(): CertificateSource & { readonly certificates: Uint8Array[] } {
  const all = lines<{ cbor: string }>('certificates.jsonl.zst').map((row) => fromHex(row.cbor))
  const first = fromHex((certRows[0] as CertRow).response)
  // The first answer is the header, then nothing but certificate 0 to 3.
  const header = first.subarray(0, headerLength(first))
  const tables: PowerTable[] = [decode(certResponseHeader, header).powerTable]
  for (const cbor of all) {
    const table = tables[tables.length - 1] as PowerTable
    tables.push(applyDelta(table, decode(finalityCertificate, cbor).powerTableDelta))
  }
  return {
    certificates: all,
    pendingInstance: () => all.length,
    certificateCbor: (instance) => all[instance],
    // biome-ignore lint/correctness/useYield: one step
    *findPowerTable(instance) {
      return tables[instance] as PowerTable
    },
  }
}

function headerLength(bytes: Uint8Array): number {
  for (let length = 1; length <= bytes.length; length++) {
    try {
      decode(certResponseHeader, bytes.subarray(0, length))
      return length
    } catch {
      // Not yet all of it.
    }
  }
  throw new Error('no header')
}
