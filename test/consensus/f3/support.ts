/** The recorded chain with finality certificates, opened. */
import { fromHex } from '../../../src/base/bytes.ts'
import { MemoryStore } from '../../../src/base/memoryStore.ts'
import type { ChainView } from '../../../src/chain/chainView.ts'
import { decode } from '../../../src/codec/description.ts'
import { type FinalityCertificate, finalityCertificate } from '../../../src/consensus/f3/certificate.ts'
import { F3 } from '../../../src/consensus/f3/f3.ts'
import { type F3Manifest, f3ManifestOf } from '../../../src/consensus/f3/manifest.ts'
import { readSharedZstd } from '../../support/recorded.ts'
import { openRecordedView } from '../../support/recordedView.ts'
import { missingShared } from '../../support/shared.ts'

export const missing: string | undefined = missingShared('data/golden/f3')
if (missing !== undefined) console.warn(`skipped: ${missing}`)

/** Certificates as they were recorded: instance and CBOR. */
export function recordedCertificates(): { instance: number; cbor: Uint8Array }[] {
  return readSharedZstd('data/golden/f3/certificates.jsonl.zst')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { instance: number; cbor: string })
    .map(({ instance, cbor }) => ({ instance, cbor: fromHex(cbor) }))
}

export function decodedCertificates(): FinalityCertificate[] {
  return recordedCertificates().map(({ cbor }) => decode(finalityCertificate, cbor))
}

export interface F3Chain {
  readonly view: ChainView
  readonly manifest: F3Manifest
  readonly store: MemoryStore
  readonly f3: F3
}

export function openF3(store: MemoryStore = new MemoryStore()): F3Chain {
  const { view } = openRecordedView('f3')
  const manifest = f3ManifestOf(view.network) as F3Manifest
  return { view, manifest, store, f3: new F3({ view, manifest, store }) }
}
