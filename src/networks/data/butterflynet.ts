import type { Json } from '../../codec/jsonText.ts'
import { manifestsOf } from './actorCodes.ts'
import { butterflynetActors } from './actors/butterflynet.ts'
import { commonData } from './common.ts'
import { drandSchedule } from './drand.ts'
import { overlay } from './overlay.ts'
import { upgradesOf } from './upgrades.ts'

/** Facts of butterflynet. @see Lotus v1.36.2-dev build/buildconstants/params_butterfly.go */
export const butterflynetData: Json = overlay(commonData, {
  name: 'butterflynet',
  networkName: 'butterflynet',
  genesis: {
    cid: 'bafy2bzacebt5wxzyrgizu2uunetxtkc6aom3ult236vviv2nseiwnquu6anha',
    timestamp: 1777963020,
    networkVersion: 27,
    actorsVersion: 17,
  },
  propagationDelaySecs: 6,
  chainId: 3141592,
  upgrades: upgradesOf('butterflynet'),
  drand: drandSchedule([0, 'quicknet']),
  bootstrap: ['/dnsaddr/bootstrap.butterfly.fildev.network'],
  bootstrapPeerThreshold: 2,
  f3: { manifest: { NetworkName: 'butterflynet' } },
  protocol: { teepInitialFilReservedFil: 1_600_000_000, consensusMinerMinPowerBytes: '2147483648' },
  builtinActors: { manifests: manifestsOf(butterflynetActors) },
})
