/** The network value of a local chain: the devnet's parameters, nothing scheduled, everything insecure marked as such. */
import type { Network } from '../networks/network.ts'
import { votedOn } from './f3Manifest.ts'
import { type DevnetOptions, keepsClock } from './options.ts'

const MILLISECONDS = 1000
/** Larger than any age of a chain, and small enough to be added to. */
const ANY_SECONDS = 10_000_000_000

/**
 * @param base - the built-in devnet
 * @param options - names the network; its block time is the epochs' length where that is whole seconds
 */
export function devnetNetwork(base: Network, options: DevnetOptions): Network {
  const seconds = Math.max(1, Math.round(options.blockTimeMs / MILLISECONDS))
  return {
    ...base,
    ...(keepsClock(options)
      ? {}
      : {
          allowableClockDriftSecs: ANY_SECONDS,
          protocol: { ...base.protocol, maxHeightDrift: ANY_SECONDS },
        }),
    networkName: options.networkName,
    blockDelaySecs: options.blockTimeMs === 0 ? base.blockDelaySecs : seconds,
    // Lotus' devnet rehearses the next upgrade at height 200; a local chain stays on today's rules.
    upgrades: base.upgrades.filter((upgrade) => upgrade.height < 0),
    beacon: { kind: 'mock' },
    proofs: 'accept',
    actorDebugging: options.actorDebugging,
    f3: votedOn(base.f3, options, seconds),
  }
}
