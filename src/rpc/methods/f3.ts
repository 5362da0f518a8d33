/**
 * Methods `F3…` of a node that follows F3 and votes in nothing.
 * @see lotus node/impl/full/f3.go
 */
import { decode, type Json } from '../../codec/description.ts'
import { chainBase, finalityCertificate } from '../../consensus/f3/certificate.ts'
import { F3Error } from '../../consensus/f3/errors.ts'
import type { F3 } from '../../consensus/f3/f3.ts'
import { RpcError } from '../errors.ts'
import { type MethodRow, method } from '../method.ts'
import {
  f3GetCertificate,
  f3GetECPowerTable,
  f3GetF3PowerTable,
  f3GetLatestCertificate,
  f3GetManifest,
  f3GetOrRenewParticipationTicket,
  f3GetPowerTableByInstance,
  f3GetProgress,
  f3IsRunning,
  f3ListParticipants,
  f3Participate,
} from '../signatures/f3.ts'

/** Keys that older manifests have and Lotus' does not print. */
const OLD_MANIFEST_KEYS = ['Pause', 'ExplicitPower', 'IgnoreECPower']

/** What the node knows of F3. */
export interface F3MethodsDeps {
  /** undefined: the network has no F3, or the node does not follow it. */
  readonly f3: F3 | undefined
}

/** Rows of `F3…`. */
export function f3Methods({ f3 }: F3MethodsDeps): MethodRow[] {
  const own = (): F3 => {
    if (f3 === undefined) throw new RpcError('F3_DISABLED', 'f3 is disabled')
    return f3
  }
  const running = (): F3 => {
    if (!own().isRunning) throw new F3Error('NOT_RUNNING', 'f3 is not running')
    return own()
  }
  return [
    method({
      ...f3IsRunning,
      handler: () => own().isRunning,
    }),
    method({
      ...f3GetManifest,
      handler: () => manifestJson(own()),
    }),
    method({
      ...f3GetCertificate,
      handler: (instance) => running().certificate(instance),
    }),
    method({
      ...f3GetLatestCertificate,
      handler: () => running().latest() ?? null,
    }),
    method({
      ...f3GetECPowerTable,
      handler: (key) => [...own().ecPowerTable(key)],
    }),
    method({
      ...f3GetF3PowerTable,
      handler: (key) => [...own().ecPowerTable(key)],
    }),
    method({
      ...f3GetPowerTableByInstance,
      handler: async (instance, { walk }) => [...(await walk(running().findPowerTable(instance)))],
    }),
    method({
      ...f3GetProgress,
      handler: () => ({ id: own().pendingInstance(), round: 0, phase: 0, input: [] }),
    }),
    method({
      ...f3ListParticipants,
      handler: () => {
        own()
        return []
      },
    }),
    method({
      ...f3GetOrRenewParticipationTicket,
      handler: (): Uint8Array => {
        own()
        throw votesNot()
      },
    }),
    method({
      ...f3Participate,
      handler: (): Json => {
        own()
        throw votesNot()
      },
    }),
  ]
}

function votesNot(): RpcError {
  return new RpcError('FAILED', 'not supported: Petrel follows finality certificates and votes in nothing')
}

/**
 * An undefined CID is null; the first certificate's base names the table, where that certificate is kept: a light node begins
 * after it.
 * @see lotus chain/lf3/f3.go GetManifest
 */
function manifestJson(f3: F3): Json {
  const { json: given, initialPowerTable, initialInstance } = f3.manifest
  const out: { [key: string]: Json } = { ...given }
  for (const name of OLD_MANIFEST_KEYS) delete out[name]
  const first = f3.certificateCbor(initialInstance)
  const known = initialPowerTable ?? (first && chainBase(decode(finalityCertificate, first)).powerTable)
  out.InitialPowerTable = known === undefined ? null : { '/': known.toString() }
  return out
}
