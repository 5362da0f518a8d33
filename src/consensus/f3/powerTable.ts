/**
 * Who votes in an instance of F3, with which power and key.
 * @see go-f3 gpbft/powertable.go PowerEntries; certs/certs.go ApplyPowerTableDiffs, MakePowerTableCID
 */
import { equalBytes } from '../../base/bytes.ts'
import { bigInt } from '../../codec/bigInteger.ts'
import type { Cid } from '../../codec/cid.ts'
import { type Codec, encode, list, tuple, uint } from '../../codec/description.ts'
import { blockCid } from '../../crypto/blockCid.ts'
import { f3PublicKey, type PowerTableDelta } from './certificate.ts'
import { F3Error } from './errors.ts'

/** Bound of cbor-gen for lists. */
const MAX_ENTRIES = 8192
/** What all power is scaled to. */
const MAX_SCALED = 0xffffn

/** One participant. */
export interface PowerEntry {
  /** Actor ID. */
  readonly id: number
  /** Quality-adjusted power, bytes. */
  readonly power: bigint
  /** BLS key of the worker, 48 bytes. */
  readonly publicKey: Uint8Array
}

/** By power from the greatest down, then by ID. */
export type PowerTable = readonly PowerEntry[]

const powerEntry: Codec<PowerEntry> = tuple<PowerEntry>('gpbft.PowerEntry', [
  ['id', 'ID', uint],
  ['power', 'Power', bigInt],
  ['publicKey', 'PubKey', f3PublicKey],
])

/** CBOR array; JSON null when empty. */
export const powerTable: Codec<PowerEntry[]> = list(powerEntry, MAX_ENTRIES)

/** CID by which certificates and the manifest name a table. */
export function powerTableCid(table: PowerTable): Cid {
  return blockCid(encode(powerTable, table as PowerEntry[]))
}

/** The table's own order. */
export function sortedPowerTable(entries: Iterable<PowerEntry>): PowerEntry[] {
  return [...entries].sort((a, b) => (a.power === b.power ? a.id - b.id : a.power > b.power ? -1 : 1))
}

/** Power as votes count it: 0 to 65535 each. */
export interface ScaledPower {
  readonly each: number[]
  readonly total: number
}

/** @throws F3Error `POWER_TABLE_WRONG` when a participant has no power */
export function scaledPower(table: PowerTable): ScaledPower {
  let sum = 0n
  for (const { id, power } of table) {
    if (power <= 0n) throw new F3Error('POWER_TABLE_WRONG', `invalid non-positive power ${power} for participant ${id}`)
    sum += power
  }
  const each = table.map(({ power }) => Number((MAX_SCALED * power) / sum))
  return { each, total: each.reduce((total, scaled) => total + scaled, 0) }
}

/** Whether so much of the power is two thirds of it. */
export function isStrongQuorum(part: number, whole: number): boolean {
  return part >= Math.ceil((2 * whole) / 3)
}

/**
 * The next instance's table. @throws F3Error `DELTA_NOT_SORTED`, `DELTA_WRONG`
 * @see go-f3 certs/certs.go ApplyPowerTableDiffs, ApplyPowerTableDiffsToMap
 */
export function applyDelta(table: PowerTable, delta: readonly PowerTableDelta[]): PowerTable {
  if (delta.length === 0) return table
  const entries = entriesById(table)
  changeEntries(entries, delta)
  return sortedPowerTable(entries.values())
}

/**
 * What leads from one table to another, by participant. {@link applyDelta} takes it back.
 * @see go-f3 certs/certs.go MakePowerTableDiff
 */
export function powerTableDelta(from: PowerTable, to: PowerTable): PowerTableDelta[] {
  const left = entriesById(from)
  const delta: PowerTableDelta[] = []
  for (const { id, power, publicKey } of to) {
    const before = left.get(id)
    left.delete(id)
    const signingKey = before !== undefined && equalBytes(before.publicKey, publicKey) ? new Uint8Array(0) : publicKey
    const powerDelta = power - (before?.power ?? 0n)
    if (powerDelta !== 0n || signingKey.length > 0) delta.push({ participantId: id, powerDelta, signingKey })
  }
  for (const { id, power } of left.values()) {
    delta.push({ participantId: id, powerDelta: -power, signingKey: new Uint8Array(0) })
  }
  return delta.sort((a, b) => a.participantId - b.participantId)
}

/** Those of a table, by participant. */
export function entriesById(table: PowerTable): Map<number, PowerEntry> {
  return new Map(table.map((entry) => [entry.id, entry]))
}

/** Changes entries in their place: of many deltas in a row the order is made once, after the last. @throws as {@link applyDelta} */
export function changeEntries(entries: Map<number, PowerEntry>, delta: readonly PowerTableDelta[]): void {
  let last = -1
  for (const change of delta) {
    const id = change.participantId
    if (id <= last) throw new F3Error('DELTA_NOT_SORTED', 'diff not sorted by participant ID', { id })
    last = id
    const next = changed(entries.get(id), change)
    if (next.power === 0n) entries.delete(id)
    else entries.set(id, next)
  }
}

function changed(present: PowerEntry | undefined, delta: PowerTableDelta): PowerEntry {
  const { participantId: id, powerDelta, signingKey } = delta
  const wrong = (what: string): F3Error => new F3Error('DELTA_WRONG', `diff ${what} for participant ${id}`, { id })
  if (powerDelta === 0n && signingKey.length === 0) throw wrong('contains an empty delta')
  if (present === undefined) {
    if (powerDelta <= 0n) throw wrong('includes a new entry with a non-positive power delta')
    if (signingKey.length === 0) throw wrong('includes a new power delta with an empty signing key')
    return { id, power: powerDelta, publicKey: signingKey }
  }
  if (equalBytes(signingKey, present.publicKey)) throw wrong('includes an unchanged key')
  const power = present.power + powerDelta
  if (power < 0n) throw wrong('resulted in negative power')
  if (signingKey.length === 0) return { ...present, power }
  if (power === 0n) throw wrong('removes all power while specifying a new key')
  return { id, power, publicKey: signingKey }
}
