/** F3 data for a snapshot of version 2: certificates of the running node, or of its home. @see FRC-0108 */
import type { KeyValueStore } from '../../../src/base/ports.ts'
import type { Cid } from '../../../src/codec/cid.ts'
import { encode } from '../../../src/codec/description.ts'
import type { Json } from '../../../src/codec/jsonText.ts'
import { finalityCertificate } from '../../../src/consensus/f3/certificate.ts'
import { CertificateStore, keptF3Networks } from '../../../src/consensus/f3/certificateStore.ts'
import { powerTable } from '../../../src/consensus/f3/powerTable.ts'
import { encodeF3Header, f3Block } from '../../../src/sync/snapshot/f3Data.ts'
import type { RpcClient } from '../rpcClient.ts'

/** Nothing that is converted here holds an address. */
const CONTEXT = { addressPrefix: 'f' } as const
/** Certificates that are asked for at a time. */
const BATCH = 32

type F3Data = readonly [Cid, Uint8Array]

function dataOf(first: number, table: Uint8Array, certificates: readonly Uint8Array[]): F3Data {
  const latestInstance = first + certificates.length - 1
  return f3Block(encodeF3Header({ firstInstance: first, latestInstance, initialPowerTable: table }), certificates)
}

/** What a home has verified. @returns undefined: nothing */
export function f3DataOfHome(meta: KeyValueStore): F3Data | undefined {
  const [network] = keptF3Networks(meta)
  if (network === undefined) return undefined
  const store = new CertificateStore(meta, network)
  const [first, latest] = [store.first(), store.latest()]
  if (first === undefined || latest === undefined) return undefined
  const certificates: Uint8Array[] = []
  for (let at = first; at <= latest; at++) {
    const bytes = store.cbor(at)
    if (bytes === undefined) return undefined
    certificates.push(bytes)
  }
  return dataOf(first, encode(powerTable, [...store.table(first)]), certificates)
}

/**
 * What a running node has.
 * @returns undefined: it has no certificate, or F3 is off
 * @throws CliError `CONNECTION`, `RPC`
 */
export async function f3DataOfNode(client: RpcClient): Promise<F3Data | undefined> {
  if (!(await client.call('F3IsRunning', [], 'v1'))) return undefined
  const newest = await client.call('F3GetLatestCertificate', [], 'v1')
  if (newest === null) return undefined
  const { InitialInstance: first } = (await client.call('F3GetManifest', [], 'v1')) as unknown as {
    InitialInstance: number
  }
  const { instance: latest } = finalityCertificate.fromJson(newest as unknown as Json, CONTEXT)
  const table = await client.call('F3GetPowerTableByInstance', [first], 'v1')
  const certificates: Uint8Array[] = []
  while (certificates.length <= latest - first) {
    const from = first + certificates.length
    const count = Math.min(BATCH, latest - from + 1)
    const some = await Promise.all(
      Array.from({ length: count }, (_, i) => client.call('F3GetCertificate', [from + i], 'v1')),
    )
    for (const certificate of some) {
      certificates.push(
        encode(finalityCertificate, finalityCertificate.fromJson(certificate as unknown as Json, CONTEXT)),
      )
    }
  }
  return dataOf(first, encode(powerTable, powerTable.fromJson(table as unknown as Json, CONTEXT)), certificates)
}
