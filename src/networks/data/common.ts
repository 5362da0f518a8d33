/**
 * What the built-in networks share, in the form of a network file: a network lays its own differences over it.
 * @see Lotus v1.36.2-dev build/buildconstants/params_shared_vals.go; go-f3 manifest/manifest.go
 */
import type { Json } from '../../codec/jsonText.ts'
import { CHAIN_FINALITY } from '../../types/protocol.ts'

/** go-f3's defaults; durations in nanoseconds. */
const f3Manifest: Json = {
  Pause: false,
  ProtocolVersion: 7,
  InitialInstance: 0,
  BootstrapEpoch: 1000,
  NetworkName: null,
  ExplicitPower: null,
  IgnoreECPower: false,
  InitialPowerTable: null,
  CommitteeLookback: 10,
  CatchUpAlignment: 15_000_000_000,
  Gpbft: {
    Delta: 6_000_000_000,
    DeltaBackOffExponent: 2,
    QualityDeltaMultiplier: 1,
    MaxLookaheadRounds: 5,
    ChainProposedLength: 100,
    RebroadcastBackoffBase: 6_000_000_000,
    RebroadcastBackoffExponent: 1.3,
    RebroadcastBackoffSpread: 0.1,
    RebroadcastBackoffMax: 60_000_000_000,
  },
  EC: {
    Period: 30_000_000_000,
    Finality: CHAIN_FINALITY,
    DelayMultiplier: 2,
    BaseDecisionBackoffTable: [1.3, 1.69, 2.2, 2.86, 3.71, 4.83, 6.27, 7.5],
    HeadLookback: 4,
    Finalize: true,
  },
  CertificateExchange: {
    ClientRequestTimeout: 10_000_000_000,
    ServerRequestTimeout: 60_000_000_000,
    MinimumPollInterval: 30_000_000_000,
    MaximumPollInterval: 120_000_000_000,
  },
  PubSub: {
    CompressionEnabled: true,
    ChainCompressionEnabled: true,
    GMessageSubscriptionBufferSize: 128,
    ValidatedMessageBufferSize: 128,
  },
  ChainExchange: {
    SubscriptionBufferSize: 32,
    MaxChainLength: 100,
    MaxInstanceLookahead: 10,
    MaxDiscoveredChainsPerInstance: 1000,
    MaxWantedChainsPerInstance: 1000,
    RebroadcastInterval: 2_000_000_000,
    MaxTimestampAge: 8_000_000_000,
  },
  PartialMessageManager: {
    PendingDiscoveredChainsBufferSize: 100,
    PendingPartialMessagesBufferSize: 100,
    PendingChainBroadcastsBufferSize: 100,
    PendingInstanceRemovalBufferSize: 10,
    CompletedMessagesBufferSize: 100,
    MaxBufferedMessagesPerInstance: 25_000,
    MaxCachedValidatedMessagesPerInstance: 25_000,
  },
}

/** Not a network yet: name, genesis, upgrades, beacons and actors are missing. */
export const commonData: Json = {
  genesis: { cid: null, timestamp: null, networkVersion: 0, actorsVersion: 0 },
  blockDelaySecs: 30,
  propagationDelaySecs: 10,
  equivocationDelaySecs: 2,
  allowableClockDriftSecs: 1,
  addressPrefix: 't',
  bootstrap: [],
  bootstrapPeerThreshold: 4,
  f3: { enabled: true, manifest: f3Manifest },
  protocol: {
    chainFinality: CHAIN_FINALITY,
    winningPoStLookback: { nvUpTo3: 10, after: CHAIN_FINALITY },
    initialBaseFee: 100_000_000,
    breezeGasTampingDuration: 120,
    maxHeightDrift: 5,
    initialRewardBalanceFil: 1_100_000_000,
    initialFilReservedFil: 300_000_000,
    tuktukPowerRampDurationEpochs: 1_051_200,
    preCommitChallengeDelay: 150,
    safeHeightDistance: 200,
  },
}
