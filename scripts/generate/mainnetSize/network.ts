/**
 * The network of a generated state: a local chain's rules (predictable beacon, proofs accepted, no F3) with mainnet's
 * actors, epochs and least power.
 */

import { devnetNetwork } from '../../../src/devnet/network.ts'
import { DEVNET_DEFAULTS } from '../../../src/devnet/options.ts'
import { builtinNetwork } from '../../../src/networks/builtinNetworks.ts'
import {
  type ActorsManifest,
  actorsVersionFor,
  manifestFor,
  type Network,
  networkVersionAt,
} from '../../../src/networks/network.ts'

export const NETWORK_NAME = 'petrel-mainnet-size'
/** Unix time of the genesis, seconds: the same state at any time. */
export const GENESIS_TIMESTAMP = 1_700_000_000

/** Without its genesis' CID. */
export function generatedNetwork(): Network {
  const mainnet = builtinNetwork('mainnet')
  const local = devnetNetwork(builtinNetwork('devnet'), {
    ...DEVNET_DEFAULTS,
    networkName: NETWORK_NAME,
    blockTimeMs: mainnet.blockDelaySecs * 1000,
  })
  const { allowableClockDriftSecs, protocol } = devnetNetwork(local, { ...DEVNET_DEFAULTS, blockTimeMs: 0 })
  return {
    ...local,
    name: NETWORK_NAME,
    blockDelaySecs: mainnet.blockDelaySecs,
    // Its epochs are made as fast as they can be.
    allowableClockDriftSecs,
    protocol: {
      ...mainnet.protocol,
      maxHeightDrift: protocol.maxHeightDrift,
      consensusMinerMinPowerBytes: mainnet.protocol.consensusMinerMinPowerBytes,
    },
    genesisTimestamp: GENESIS_TIMESTAMP,
    manifests: mainnet.manifests,
    actors: 'wasm',
  }
}

/** The actors that the state's codes name. */
export function generatedManifest(network: Network): ActorsManifest {
  const version = actorsVersionFor(networkVersionAt(network, 1))
  const manifest = manifestFor(network, version)
  if (manifest === undefined) throw new RangeError(`no manifest of actors version ${version} is known`)
  return manifest
}
