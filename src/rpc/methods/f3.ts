/**
 * Methods `F3…` of a node that follows F3 and votes in nothing.
 * @see lotus node/impl/full/f3.go
 */
import { bool, bytes, type Codec, type Json, json, nullable, u64, uint } from '../../codec/description.ts'
import { chainBase, type FinalityCertificate, finalityCertificate } from '../../consensus/f3/certificate.ts'
import { F3Error } from '../../consensus/f3/errors.ts'
import type { F3 } from '../../consensus/f3/f3.ts'
import { type PowerEntry, powerTable } from '../../consensus/f3/powerTable.ts'
import { address } from '../../types/address.ts'
import { tipsetKey } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import { type MethodRow, method, param } from '../method.ts'
import { f3Participants, f3Progress } from '../types/f3.ts'

/** Keys that older manifests have and Lotus' does not print. */
const OLD_MANIFEST_KEYS = ['Pause', 'ExplicitPower', 'IgnoreECPower']

export interface F3MethodsDeps {
  /** undefined: the network has no F3, or the node does not follow it. */
  readonly f3: F3 | undefined
}

const certificateOrNull: Codec<FinalityCertificate | null> = nullable(finalityCertificate)
const table: Codec<PowerEntry[]> = powerTable
const instance = param('instance', uint)
const key = param('tipsetKey', tipsetKey)

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
      name: 'F3IsRunning',
      perm: 'read',
      versions: ['v1'],
      summary: 'Whether finality certificates are followed.',
      params: [],
      result: bool,
      handler: () => own().isRunning,
    }),
    method({
      name: 'F3GetManifest',
      perm: 'read',
      versions: ['v1'],
      summary: 'The parameters of F3; durations in nanoseconds.',
      params: [],
      result: json,
      handler: () => manifestJson(own()),
    }),
    method({
      name: 'F3GetCertificate',
      perm: 'read',
      versions: ['v1'],
      summary: 'The finality certificate of an instance.',
      params: [instance],
      result: finalityCertificate,
      handler: (one) => running().certificate(one),
    }),
    method({
      name: 'F3GetLatestCertificate',
      perm: 'read',
      versions: ['v1'],
      summary: 'The newest finality certificate; null without any.',
      params: [],
      result: certificateOrNull,
      handler: () => running().latest() ?? null,
    }),
    method({
      name: 'F3GetECPowerTable',
      perm: 'read',
      versions: ['v1'],
      summary: 'The power table that a tipset leads to.',
      params: [key],
      result: table,
      handler: (one) => [...own().ecPowerTable(one)],
    }),
    method({
      name: 'F3GetF3PowerTable',
      perm: 'read',
      versions: ['v1'],
      summary: 'The power table of a tipset as F3 uses it.',
      params: [key],
      result: table,
      handler: (one) => [...own().ecPowerTable(one)],
    }),
    method({
      name: 'F3GetPowerTableByInstance',
      perm: 'read',
      versions: ['v1'],
      summary: 'The power table that signs an instance.',
      params: [instance],
      result: table,
      handler: (one) => [...running().powerTable(one)],
    }),
    method({
      name: 'F3GetProgress',
      perm: 'read',
      versions: ['v1'],
      summary: 'The instance that is being decided; this node proposes nothing in it.',
      params: [],
      result: f3Progress,
      handler: () => ({ id: own().pendingInstance(), round: 0, phase: 0, input: [] }),
    }),
    method({
      name: 'F3ListParticipants',
      perm: 'read',
      versions: ['v1'],
      summary: 'Producers that vote through this node: none.',
      params: [],
      result: f3Participants,
      handler: () => {
        own()
        return []
      },
    }),
    method({
      name: 'F3GetOrRenewParticipationTicket',
      perm: 'sign',
      versions: ['v1'],
      summary: 'Not supported: this node votes in nothing.',
      params: [param('minerAddress', address), param('previous', bytes), param('instances', u64)],
      result: bytes,
      handler: (): Uint8Array => {
        own()
        throw votesNot()
      },
    }),
    method({
      name: 'F3Participate',
      perm: 'sign',
      versions: ['v1'],
      summary: 'Not supported: this node votes in nothing.',
      params: [param('ticket', bytes)],
      result: json,
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

/** An undefined CID is null; once there is a certificate its base names the table. @see lotus chain/lf3/f3.go GetManifest */
function manifestJson(f3: F3): Json {
  const { json: given, initialPowerTable, initialInstance } = f3.manifest
  const out: { [key: string]: Json } = { ...given }
  for (const name of OLD_MANIFEST_KEYS) delete out[name]
  const first = f3.latest() === undefined ? undefined : chainBase(f3.certificate(initialInstance)).powerTable
  const known = initialPowerTable ?? first
  out.InitialPowerTable = known === undefined ? null : { '/': known.toString() }
  return out
}
