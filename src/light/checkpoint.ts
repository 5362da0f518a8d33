/**
 * Where a light node begins: an instance of F3 and the CID of the power table that signs it. Whoever believes the checkpoint
 * believes nobody else.
 */
import type { KeyValueStore } from '../base/ports.ts'
import { type Cid, parseCid } from '../codec/cid.ts'
import type { Json } from '../codec/jsonText.ts'
import { CertificateStore } from '../consensus/f3/certificateStore.ts'
import { f3ManifestOf } from '../consensus/f3/manifest.ts'
import { powerTableCid } from '../consensus/f3/powerTable.ts'
import type { Network } from '../networks/network.ts'
import { LightError } from './errors.ts'

/** See the file's note. */
export interface LightCheckpoint {
  /** F3's own name of the network: `filecoin`. */
  readonly f3Network: string
  readonly instance: number
  /** Of the table that signs `instance`. */
  readonly powerTable: Cid
  /** When it was taken, `YYYY-MM-DD`; it says how old a checkpoint is, nothing is decided by it. */
  readonly date: string
}

/** As it stands in a file. */
export function checkpointJson({ f3Network, instance, powerTable, date }: LightCheckpoint): Json {
  return { NetworkName: f3Network, Instance: instance, PowerTable: { '/': powerTable.toString() }, Date: date }
}

/** @throws LightError `CHECKPOINT_INVALID` */
export function parseCheckpoint(json: Json): LightCheckpoint {
  const given = typeof json === 'object' && json !== null && !Array.isArray(json) ? json : {}
  const { NetworkName: f3Network, Instance: instance, PowerTable: table, Date: date = '' } = given
  const link = typeof table === 'object' && table !== null && !Array.isArray(table) ? table['/'] : table
  if (typeof f3Network !== 'string' || typeof link !== 'string' || typeof date !== 'string') {
    throw invalid('expected NetworkName, Instance, PowerTable and Date')
  }
  if (typeof instance !== 'number' || !Number.isSafeInteger(instance) || instance < 0) {
    throw invalid('its Instance is no whole number')
  }
  try {
    return { f3Network, instance, powerTable: parseCid(link), date }
  } catch (cause) {
    throw new LightError('CHECKPOINT_INVALID', 'Cannot use the checkpoint: its PowerTable is no CID', {}, { cause })
  }
}

/**
 * The checkpoint that comes with a network: the one of its description, else F3's own beginning.
 * @returns undefined where the network's description names neither: one has to be given
 * @throws LightError `F3_MISSING`
 */
export function networkCheckpoint(network: Network): LightCheckpoint | undefined {
  const manifest = f3ManifestOf(network)
  if (manifest === undefined) {
    throw new LightError('F3_MISSING', `Cannot follow ${network.name} lightly: it has no F3; use headers or execute`)
  }
  const { networkName: f3Network, initialInstance: instance, initialPowerTable: powerTable } = manifest
  return powerTable === null ? undefined : { f3Network, instance, powerTable, date: '' }
}

/** Where the certificates that a store holds begin: an earlier start was given it. @returns undefined without any */
export function keptCheckpoint(network: Network, store: KeyValueStore): LightCheckpoint | undefined {
  const f3Network = f3ManifestOf(network)?.networkName
  if (f3Network === undefined) return undefined
  const certificates = new CertificateStore(store, f3Network)
  const instance = certificates.first()
  if (instance === undefined) return undefined
  return { f3Network, instance, powerTable: powerTableCid(certificates.table(instance)), date: '' }
}

/** @throws LightError `CHECKPOINT_INVALID` when it is of another network */
export function assertCheckpointOf(network: Network, { f3Network }: LightCheckpoint): void {
  const own = f3ManifestOf(network)?.networkName
  if (own !== f3Network) throw invalid(`it is of ${f3Network}, ${network.name} is ${own ?? 'without F3'}`)
}

function invalid(what: string): LightError {
  return new LightError('CHECKPOINT_INVALID', `Cannot use the checkpoint: ${what}`)
}
