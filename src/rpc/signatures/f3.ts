/** Signatures: `F3…`. */
import { bool, bytes, type Codec, type Json, json, nullable, u64, uint } from '../../codec/description.ts'
import { type FinalityCertificate, finalityCertificate } from '../../consensus/f3/certificate.ts'
import { type PowerEntry, powerTable } from '../../consensus/f3/powerTable.ts'
import { type Address, address } from '../../types/address.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'
import { type F3Participant, type F3Progress, f3Participants, f3Progress } from '../types/f3.ts'

const certificateOrNull: Codec<FinalityCertificate | null> = nullable(finalityCertificate)

const table: Codec<PowerEntry[]> = powerTable

const instance = param('instance', uint)

const key = param('tipsetKey', tipsetKey)

export const f3IsRunning: CallSignature<readonly [], boolean> = callSignature({
  name: 'F3IsRunning',
  perm: 'read',
  versions: ['v1'],
  summary: 'Whether finality certificates are followed.',
  params: [],
  result: bool,
})

export const f3GetManifest: CallSignature<readonly [], Json> = callSignature({
  name: 'F3GetManifest',
  perm: 'read',
  versions: ['v1'],
  summary: 'The parameters of F3; durations in nanoseconds.',
  params: [],
  result: json,
})

export const f3GetCertificate: CallSignature<readonly [Param<number>], FinalityCertificate> = callSignature({
  name: 'F3GetCertificate',
  perm: 'read',
  versions: ['v1'],
  summary: 'The finality certificate of an instance.',
  params: [instance],
  result: finalityCertificate,
})

export const f3GetLatestCertificate: CallSignature<readonly [], FinalityCertificate | null> = callSignature({
  name: 'F3GetLatestCertificate',
  perm: 'read',
  versions: ['v1'],
  summary: 'The newest finality certificate; null without any.',
  params: [],
  result: certificateOrNull,
})

export const f3GetECPowerTable: CallSignature<readonly [Param<TipsetKey>], PowerEntry[]> = callSignature({
  name: 'F3GetECPowerTable',
  cost: 'scan',
  perm: 'read',
  versions: ['v1'],
  summary: 'The power table that a tipset leads to.',
  params: [key],
  result: table,
})

export const f3GetF3PowerTable: CallSignature<readonly [Param<TipsetKey>], PowerEntry[]> = callSignature({
  name: 'F3GetF3PowerTable',
  cost: 'scan',
  perm: 'read',
  versions: ['v1'],
  summary: 'The power table of a tipset as F3 uses it.',
  params: [key],
  result: table,
})

export const f3GetPowerTableByInstance: CallSignature<readonly [Param<number>], PowerEntry[]> = callSignature({
  name: 'F3GetPowerTableByInstance',
  cost: 'scan',
  perm: 'read',
  versions: ['v1'],
  summary: 'The power table that signs an instance.',
  params: [instance],
  result: table,
})

export const f3GetProgress: CallSignature<readonly [], F3Progress> = callSignature({
  name: 'F3GetProgress',
  perm: 'read',
  versions: ['v1'],
  summary: 'The instance that is being decided; this node proposes nothing in it.',
  params: [],
  result: f3Progress,
})

export const f3ListParticipants: CallSignature<readonly [], F3Participant[]> = callSignature({
  name: 'F3ListParticipants',
  perm: 'read',
  versions: ['v1'],
  summary: 'Producers that vote through this node: none.',
  params: [],
  result: f3Participants,
})

export const f3GetOrRenewParticipationTicket: CallSignature<
  readonly [Param<Address>, Param<Uint8Array>, Param<bigint>],
  Uint8Array
> = callSignature({
  name: 'F3GetOrRenewParticipationTicket',
  perm: 'sign',
  versions: ['v1'],
  summary: 'Not supported: this node votes in nothing.',
  params: [param('minerAddress', address), param('previous', bytes), param('instances', u64)],
  result: bytes,
})

export const f3Participate: CallSignature<readonly [Param<Uint8Array>], Json> = callSignature({
  name: 'F3Participate',
  perm: 'sign',
  versions: ['v1'],
  summary: 'Not supported: this node votes in nothing.',
  params: [param('ticket', bytes)],
  result: json,
})
