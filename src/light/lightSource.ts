/**
 * Who a light node asks. Nothing that a source gives is believed: blocks are checked against their CIDs, certificates by their
 * signatures, tables by the CID that a certificate or the checkpoint names.
 */
import type { Cid } from '../codec/cid.ts'
import type { FinalityCertificate } from '../consensus/f3/certificate.ts'
import type { PowerTable } from '../consensus/f3/powerTable.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import type { TipsetKey } from '../types/tipset.ts'

/** The head that a source names. */
export interface NamedHead {
  readonly key: TipsetKey
  readonly height: ChainEpoch
}

/** One adapter: a peer, an RPC endpoint. Each question ends with the signal; what cannot be asked is absent. */
export interface LightSource {
  /** A peer's ID, an endpoint's address. */
  readonly name: string
  readonly kind: 'peer' | 'rpc'
  /** What it has brought, bytes. */
  readonly bytesReceived: number
  /** Certificates one after the other from `first` on; empty: it has none yet. */
  readonly certificates?:
    | ((first: number, limit: number, signal: AbortSignal) => Promise<readonly FinalityCertificate[]>)
    | undefined
  /** The table that signs an instance. */
  readonly powerTable?: ((instance: number, signal: AbortSignal) => Promise<PowerTable>) | undefined
  /** Those of the blocks that it has. Unchecked. */
  blocks?(cids: readonly Cid[], signal: AbortSignal): Promise<readonly (readonly [Cid, Uint8Array])[]>
  head?(signal: AbortSignal): Promise<NamedHead>
  /** Takes a signed message for the network (its JSON form is the adapter's business). */
  push?(message: Uint8Array, signal: AbortSignal): Promise<void>
}
