/** The manifest of F3 on a network: what of it matters to who only follows; and to who votes. @see go-f3 manifest/manifest.go */
import { type Cid, parseCid } from '../../codec/cid.ts'
import type { Json } from '../../codec/jsonText.ts'
import type { Network } from '../../networks/network.ts'
import { F3Error } from './errors.ts'

const NANOSECONDS_PER_MS = 1_000_000

/** What a network's manifest says of instances, power tables and polling. */
export interface F3Manifest {
  /** F3's own name of the network: in signatures, topics and protocols. */
  readonly networkName: string
  readonly initialInstance: number
  readonly bootstrapEpoch: number
  /** Epochs below the bootstrap epoch at which instance `initialInstance` starts. */
  readonly finality: number
  /** null: no instance may start yet, or none was written down. */
  readonly initialPowerTable: Cid | null
  /** Instances back whose head names the table that signs. */
  readonly committeeLookback: number
  /** How often certificates are asked for, milliseconds. */
  readonly minimumPollMs: number
  readonly maximumPollMs: number
  /** As it stands in the network's description. */
  readonly json: { readonly [key: string]: Json }
}

type JsonObject = { readonly [key: string]: Json }

function objectOf(value: Json | undefined, name: string): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw new F3Error('MANIFEST_WRONG', `Cannot read F3 manifest: ${name} is no object`)
}

function numberOf(object: JsonObject, name: string): number {
  const value = object[name]
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  throw new F3Error('MANIFEST_WRONG', `Cannot read F3 manifest: ${name} is no whole number`)
}

function cidOf(value: Json | undefined): Cid | null {
  if (value === undefined || value === null) return null
  const link = objectOf(value, 'InitialPowerTable')['/']
  // Go prints an undefined CID as null, older manifests as an empty object.
  return typeof link === 'string' ? parseCid(link) : null
}

/** @returns undefined where the network has no F3. @throws F3Error `MANIFEST_WRONG` */
export function f3ManifestOf({ f3 }: Network): F3Manifest | undefined {
  if (!f3.enabled) return undefined
  const json = objectOf(f3.manifest, 'it')
  const { NetworkName: networkName } = json
  if (typeof networkName !== 'string') throw new F3Error('MANIFEST_WRONG', 'Cannot read F3 manifest: no NetworkName')
  const exchange = objectOf(json.CertificateExchange, 'CertificateExchange')
  return {
    networkName,
    initialInstance: numberOf(json, 'InitialInstance'),
    bootstrapEpoch: numberOf(json, 'BootstrapEpoch'),
    finality: numberOf(objectOf(json.EC, 'EC'), 'Finality'),
    initialPowerTable: cidOf(json.InitialPowerTable),
    committeeLookback: numberOf(json, 'CommitteeLookback'),
    minimumPollMs: numberOf(exchange, 'MinimumPollInterval') / NANOSECONDS_PER_MS,
    maximumPollMs: numberOf(exchange, 'MaximumPollInterval') / NANOSECONDS_PER_MS,
    json,
  }
}

/** What participants propose of a chain. */
export interface ProposalRules {
  /** Newest tipsets that are not voted on yet. */
  readonly headLookback: number
  /** Most tipsets that are voted on at once, the last final one included. */
  readonly proposedLength: number
}

/** Who only follows needs none of it. @throws F3Error `MANIFEST_WRONG` */
export function proposalRules({ json }: F3Manifest): ProposalRules {
  return {
    headLookback: numberOf(objectOf(json.EC, 'EC'), 'HeadLookback'),
    proposedLength: numberOf(objectOf(json.Gpbft, 'Gpbft'), 'ChainProposedLength'),
  }
}
