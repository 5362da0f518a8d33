/** Writes a network file: what `parseNetwork` reads. */
import type { Json } from '../codec/jsonText.ts'
import type { Network } from './network.ts'

/** The JSON of a network; read back it is the same value. */
export function networkJson(network: Network): Json {
  const { protocol, beacon } = network
  const { winningPoStLookbackUpToNv3, winningPoStLookback, consensusMinerMinPowerBytes, ...numbers } = protocol
  return {
    name: network.name,
    networkName: network.networkName,
    genesis: {
      cid: network.genesisCid === null ? null : network.genesisCid.toString(),
      timestamp: network.genesisTimestamp,
      networkVersion: network.genesisNetworkVersion,
      actorsVersion: network.genesisActorsVersion,
    },
    blockDelaySecs: network.blockDelaySecs,
    propagationDelaySecs: network.propagationDelaySecs,
    equivocationDelaySecs: network.equivocationDelaySecs,
    allowableClockDriftSecs: network.allowableClockDriftSecs,
    chainId: network.chainId,
    addressPrefix: network.addressPrefix,
    upgrades: network.upgrades.map((upgrade) => ({ ...upgrade })),
    ...(beacon.kind === 'mock'
      ? { beacon: { kind: 'mock' } }
      : {
          drand: beacon.schedule.map((period) => ({ ...period, httpEndpoints: [...period.httpEndpoints] })),
        }),
    proofs: network.proofs,
    actors: network.actors,
    actorDebugging: network.actorDebugging,
    bootstrap: [...network.bootstrap],
    bootstrapPeerThreshold: network.bootstrapPeerThreshold,
    f3: { enabled: network.f3.enabled, manifest: network.f3.manifest },
    protocol: {
      ...numbers,
      winningPoStLookback: { nvUpTo3: winningPoStLookbackUpToNv3, after: winningPoStLookback },
      consensusMinerMinPowerBytes: consensusMinerMinPowerBytes.toString(),
    },
    whitelistedBlock: network.whitelistedBlock === null ? null : { cid: network.whitelistedBlock.toString() },
    builtinActors: {
      manifests: network.manifests.map(({ actorsVersion, manifestCid, actors }) => ({
        actorsVersion,
        manifestCid: manifestCid.toString(),
        actors: Object.fromEntries([...actors].map(([kind, code]) => [kind, code.toString()])),
      })),
    },
    buggyCodes: Object.fromEntries([...network.buggyCodes].map(([kind, code]) => [kind, code.toString()])),
  }
}
