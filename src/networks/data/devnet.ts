import type { Json } from '../../codec/jsonText.ts'
import { manifestsOf } from './actorCodes.ts'
import { devnetActors } from './actors/devnet.ts'
import { commonData } from './common.ts'
import { drandSchedule } from './drand.ts'
import { overlay } from './overlay.ts'
import { upgradesOf } from './upgrades.ts'

/** Facts of a local development chain. @see Lotus v1.36.2-dev build/buildconstants/params_2k.go */
export const devnetData: Json = overlay(commonData, {
  name: 'devnet',
  networkName: null,
  genesis: { networkVersion: 28, actorsVersion: 18 },
  blockDelaySecs: 4,
  propagationDelaySecs: 1,
  equivocationDelaySecs: 0,
  chainId: 31415926,
  upgrades: upgradesOf('devnet'),
  drand: drandSchedule([0, 'quicknet']),
  actorDebugging: true,
  bootstrapPeerThreshold: 1,
  f3: { manifest: { NetworkName: '2k', EC: { Period: 4_000_000_000 } } },
  protocol: {
    breezeGasTampingDuration: 0,
    teepInitialFilReservedFil: 1_400_000_000,
    tuktukPowerRampDurationEpochs: 200,
    consensusMinerMinPowerBytes: '2048',
    preCommitChallengeDelay: 10,
  },
  builtinActors: { manifests: manifestsOf(devnetActors) },
})
