/**
 * What distinguishes one Filecoin network from another, as a value that is passed in: never a module constant.
 * @see lotus build/buildconstants, chain/consensus/filcns/upgrades.go
 */
import type { Cid } from '../codec/cid.ts'
import type { Json } from '../codec/jsonText.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { NetworkError } from './errors.ts'

/** One entry of the upgrade schedule. */
export interface Upgrade {
  readonly name: string
  /** The last epoch with the rules before it; negative: in force from genesis. */
  readonly height: ChainEpoch
  /** Null: a change of rules without a network version of its own. */
  readonly networkVersion: number | null
  readonly actorsVersion: number | null
  /** Name of the state migration that runs on the state of `height`, null when there is none. */
  readonly migration: string | null
}

/** A randomness beacon, in force from `startEpoch` on. */
export interface DrandBeacon {
  readonly startEpoch: ChainEpoch
  readonly name: string
  /** Whether an entry signs the one before it too. */
  readonly chained: boolean
  readonly schemeId: string
  readonly chainHash: string
  /** Hexadecimal. */
  readonly publicKey: string
  readonly periodSeconds: number
  /** Unix time of round 1, seconds. */
  readonly genesisTime: number
  readonly httpEndpoints: readonly string[]
}

/** Where randomness comes from: drand, or Lotus' predictable double of it on local and recorded chains. */
export type Beacon = { readonly kind: 'drand'; readonly schedule: readonly DrandBeacon[] } | { readonly kind: 'mock' }

/** The built-in actors of one version: manifest and code CID of each kind. */
export interface ActorsManifest {
  readonly actorsVersion: number
  readonly manifestCid: Cid
  /** Code CIDs by the manifest's own names (`storageminer`, `paymentchannel`, …). */
  readonly actors: ReadonlyMap<string, Cid>
}

/** Numbers of the protocol that Lotus keeps per network; those that none changes are in `types/protocol.ts`. */
export interface ProtocolParameters {
  /** Epochs after which a tipset is final; local chains in tests shorten it. */
  readonly chainFinality: ChainEpoch
  readonly winningPoStLookbackUpToNv3: ChainEpoch
  readonly winningPoStLookback: ChainEpoch
  /** Of the genesis block, attoFIL per unit of gas. */
  readonly initialBaseFee: number
  /** Epochs after Breeze in which the base fee is held down. */
  readonly breezeGasTampingDuration: ChainEpoch
  /** Epochs that a block may lie ahead of the clock. */
  readonly maxHeightDrift: ChainEpoch
  /** Whole FIL. */
  readonly initialRewardBalanceFil: number
  readonly initialFilReservedFil: number
  readonly teepInitialFilReservedFil: number
  readonly tuktukPowerRampDurationEpochs: ChainEpoch
  /** Least raw byte power for a miner to be elected, bytes. */
  readonly consensusMinerMinPowerBytes: bigint
  readonly preCommitChallengeDelay: ChainEpoch
  readonly safeHeightDistance: ChainEpoch
}

/** Everything that the node needs to know of a network. */
export interface Network {
  /** The common name: mainnet, calibnet, butterflynet, devnet, or what a file says. */
  readonly name: string
  /** Name in topics and in the DHT's prefix; null on a devnet, where the genesis says it. */
  readonly networkName: string | null
  /** The genesis block; null on a devnet. */
  readonly genesisCid: Cid | null
  /** Unix time of genesis, seconds; null on a devnet. */
  readonly genesisTimestamp: number | null
  readonly genesisNetworkVersion: number
  readonly genesisActorsVersion: number
  readonly blockDelaySecs: number
  readonly propagationDelaySecs: number
  readonly equivocationDelaySecs: number
  readonly allowableClockDriftSecs: number
  /** EIP-155 chain id. */
  readonly chainId: number
  readonly addressPrefix: 'f' | 't'
  /** In the order of the reference's schedule, which is that of network versions, not of heights. */
  readonly upgrades: readonly Upgrade[]
  readonly beacon: Beacon
  /** `accept`: Lotus' insecure stand-ins for proofs of storage. */
  readonly proofs: 'verify' | 'accept'
  /** `native`: a local chain whose producers ran the TypeScript actors; their gas differs, so followers run them too. */
  readonly actors: 'wasm' | 'native'
  /** Whether actors may log, which costs them gas: Lotus' debug builds. @see lotus build/buildconstants ActorDebugging */
  readonly actorDebugging: boolean
  readonly bootstrap: readonly string[]
  readonly bootstrapPeerThreshold: number
  /** F3: go-f3's manifest as JSON, durations in nanoseconds. */
  readonly f3: { readonly enabled: boolean; readonly manifest: Json }
  readonly protocol: ProtocolParameters
  /** Mainnet: a block whose messages are not checked (it holds a zero BLS signature). */
  readonly whitelistedBlock: Cid | null
  readonly manifests: readonly ActorsManifest[]
  /** Codes that ran on calibnet before they were fixed: kind with a suffix (`storageminer_v12_rc1`) and code. */
  readonly buggyCodes: ReadonlyMap<string, Cid>
}

/**
 * The network version whose rules an epoch has: an upgrade's own epoch still has the old one.
 * Walks the schedule in its own order, so that entries with negative heights count as passed.
 * @see lotus chain/stmgr/stmgr.go NewStateManager; chain/stmgr/utils.go GetNetworkVersion
 */
export function networkVersionAt(network: Network, epoch: ChainEpoch): number {
  let version = network.genesisNetworkVersion
  for (const upgrade of network.upgrades) {
    if (upgrade.networkVersion === null) continue
    if (epoch <= upgrade.height) return version
    version = upgrade.networkVersion
  }
  return version
}

/**
 * The height of a named upgrade, undefined when the network's schedule does not have it.
 */
export function upgradeHeight(network: Network, name: string): ChainEpoch | undefined {
  return network.upgrades.find((upgrade) => upgrade.name === name)?.height
}

/** Actors version of each network version, by position. */
const ACTORS_VERSIONS: readonly number[] = [
  0, 0, 0, 0, 2, 2, 2, 2, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 11, 12, 13, 14, 15, 16, 16, 17, 18, 19,
]

/**
 * Version of the built-in actors that a network version runs.
 * @throws NetworkError `NOT_SUPPORTED`
 * @see go-state-types actors/version.go VersionForNetwork
 */
export function actorsVersionFor(networkVersion: number): number {
  const version = ACTORS_VERSIONS[networkVersion]
  if (version === undefined) throw new NetworkError('NOT_SUPPORTED', `unsupported network version ${networkVersion}`)
  return version
}

/** The manifest of an actors version, undefined before version 8 and for versions the network's data lack. */
export function manifestFor(network: Network, actorsVersion: number): ActorsManifest | undefined {
  return network.manifests.find((manifest) => manifest.actorsVersion === actorsVersion)
}
