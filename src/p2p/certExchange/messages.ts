/**
 * What the exchange of finality certificates says on the wire.
 * @see go-f3 certexchange/protocol.go
 */

import { bool, type Codec, tuple, u64, uint } from '../../codec/description.ts'
import { type PowerEntry, powerTable } from '../../consensus/f3/powerTable.ts'

/** The protocol of an F3 network, whose name is its own, not that of the chain. */
export function certExchangeProtocol(f3Network: string): string {
  return `/f3/certexch/get/1/${f3Network}`
}

/** From which instance on, and how much. */
export interface CertRequest {
  readonly firstInstance: bigint
  /** Most certificates wanted; 0 asks for the header alone, 2^64-1 for all there are. */
  readonly limit: bigint
  /** Whether the table that signs `firstInstance` is wanted. */
  readonly includePowerTable: boolean
}

/** What comes before the certificates. */
export interface CertResponseHeader {
  /** The instance after the newest certificate; 0 without any. */
  readonly pendingInstance: number
  /** Empty unless asked for. */
  readonly powerTable: PowerEntry[]
}

/** CBOR array of 3. */
export const certRequest: Codec<CertRequest> = tuple<CertRequest>('certexchange.Request', [
  ['firstInstance', 'FirstInstance', u64],
  ['limit', 'Limit', u64],
  ['includePowerTable', 'IncludePowerTable', bool],
])

/** CBOR array of 2. */
export const certResponseHeader: Codec<CertResponseHeader> = tuple<CertResponseHeader>('certexchange.ResponseHeader', [
  ['pendingInstance', 'PendingInstance', uint],
  ['powerTable', 'PowerTable', powerTable],
])
