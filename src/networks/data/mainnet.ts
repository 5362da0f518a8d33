import type { Json } from '../../codec/jsonText.ts'
import { manifestsOf } from './actorCodes.ts'
import { mainnetActors } from './actors/mainnet.ts'
import { commonData } from './common.ts'
import { drandSchedule } from './drand.ts'
import { overlay } from './overlay.ts'
import { upgradesOf } from './upgrades.ts'

/** Facts of mainnet. @see Lotus v1.36.2-dev build/buildconstants/params_mainnet.go */
export const mainnetData: Json = overlay(commonData, {
  name: 'mainnet',
  networkName: 'testnetnet',
  genesis: { cid: 'bafy2bzacecnamqgqmifpluoeldx7zzglxcljo6oja4vrmtj7432rphldpdmm2', timestamp: 1598306400 },
  chainId: 314,
  addressPrefix: 'f',
  upgrades: upgradesOf('mainnet'),
  drand: drandSchedule([0, 'incentinet'], [51000, 'mainnet'], [3855480, 'quicknet']),
  bootstrap: [
    '/dns/bootstrap.filecoin.chain.love/tcp/1235/p2p/12D3KooWBF8cpp65hp2u9LK5mh19x67ftAam84z9LsfaquTDSBpt',
    '/dnsaddr/bootstrap-mainnet.chainsafe-fil.io',
  ],
  f3: {
    manifest: {
      BootstrapEpoch: 4920480,
      NetworkName: 'filecoin',
      InitialPowerTable: { '/': 'bafy2bzacecklgxd2eksmodvhgurqvorkg3wamgqkrunir3al2gchv2cikgmbu' },
      Gpbft: { QualityDeltaMultiplier: 8, ChainProposedLength: 20 },
      PubSub: { GMessageSubscriptionBufferSize: 1024, ValidatedMessageBufferSize: 1024 },
      ChainExchange: { SubscriptionBufferSize: 64, MaxChainLength: 20, MaxTimestampAge: 16_000_000_000 },
    },
  },
  protocol: { teepInitialFilReservedFil: 300_000_000, consensusMinerMinPowerBytes: '10995116277760' },
  whitelistedBlock: { cid: 'bafy2bzaceapyg2uyzk7vueh3xccxkuwbz3nxewjyguoxvhx77malc2lzn2ybi' },
  builtinActors: { manifests: manifestsOf(mainnetActors) },
})
