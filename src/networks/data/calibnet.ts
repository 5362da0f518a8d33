import type { Json } from '../../codec/jsonText.ts'
import { manifestsOf } from './actorCodes.ts'
import { calibnetActors } from './actors/calibnet.ts'
import { commonData } from './common.ts'
import { drandSchedule } from './drand.ts'
import { overlay } from './overlay.ts'
import { upgradesOf } from './upgrades.ts'

/** Facts of calibnet. @see Lotus v1.36.2-dev build/buildconstants/params_calibnet.go */
export const calibnetData: Json = overlay(commonData, {
  name: 'calibnet',
  networkName: 'calibrationnet',
  genesis: { cid: 'bafy2bzacecyaggy24wol5ruvs6qm73gjibs2l2iyhcqmvi7r7a4ph7zx3yqd4', timestamp: 1667326380 },
  chainId: 314159,
  upgrades: upgradesOf('calibnet'),
  drand: drandSchedule([0, 'mainnet'], [1428094, 'quicknet']),
  bootstrap: [
    '/dns/bootstrap.calibration.filecoin.chain.love/tcp/1237/p2p/12D3KooWQPYouEAsUQKzvFUA9sQ8tz4rfpqtTzh2eL6USd9bwg7x',
    '/dnsaddr/bootstrap-calibnet.chainsafe-fil.io',
  ],
  f3: {
    manifest: {
      BootstrapEpoch: 3451774,
      NetworkName: 'calibrationnet2',
      InitialPowerTable: { '/': 'bafy2bzacednijkh5dhb6jb7snxhhtjt7zuqaydlewoha3ordhy76dhgwtmptg' },
    },
  },
  protocol: {
    teepInitialFilReservedFil: 1_200_000_000,
    tuktukPowerRampDurationEpochs: 8640,
    consensusMinerMinPowerBytes: '34359738368',
  },
  buggyCodes: {
    storageminer_v12_rc1: 'bafk2bzacecnh2ouohmonvebq7uughh4h3ppmg4cjsk74dzxlbbtlcij4xbzxq',
    storageminer_v12_rc2: 'bafk2bzaced7emkbbnrewv5uvrokxpf5tlm4jslu2jsv77ofw2yqdglg657uie',
    verifiedregistry_v13_rc3: 'bafk2bzacednskl3bykz5qpo54z2j2p4q44t5of4ktd6vs6ymmg2zebsbxazkm',
  },
  builtinActors: { manifests: manifestsOf(calibnetActors) },
})
