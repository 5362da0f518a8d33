/** What a local chain's network says of F3: nothing, or since when its producers vote and whom to believe then. */
import type { ChainView } from '../chain/chainView.ts'
import type { Json } from '../codec/jsonText.ts'
import { ecPowerTable } from '../consensus/f3/ecPowerTable.ts'
import { f3ManifestOf } from '../consensus/f3/manifest.ts'
import { powerTableCid } from '../consensus/f3/powerTable.ts'
import type { Network } from '../networks/network.ts'
import type { DevnetOptions } from './options.ts'

const NANOSECONDS = 1_000_000_000
/** A network's followers ask every period while there is news, and wait for this many at most: Lotus' own manifests say so, too. */
const LONGEST_POLL_PERIODS = 4

type F3 = Network['f3']
type JsonObject = { readonly [key: string]: Json }

/**
 * @param base - of the built-in devnet, whose votes begin at epoch 1000
 * @param seconds - of an epoch
 */
export function votedOn(base: F3, { finalityFrom }: Pick<DevnetOptions, 'finalityFrom'>, seconds: number): F3 {
  if (finalityFrom === undefined) return { ...base, enabled: false }
  const manifest = base.manifest as JsonObject
  const ec = manifest.EC as JsonObject
  const period = seconds * NANOSECONDS
  return {
    enabled: true,
    manifest: {
      ...manifest,
      BootstrapEpoch: finalityFrom,
      // The first certificate begins so many epochs below the first vote.
      EC: { ...ec, Period: period, Finality: Math.min(ec.Finality as number, finalityFrom) },
      CertificateExchange: {
        ...(manifest.CertificateExchange as JsonObject),
        MinimumPollInterval: period,
        MaximumPollInterval: LONGEST_POLL_PERIODS * period,
      },
    },
  }
}

/** The epoch from which a network's producers vote; undefined: nobody does. */
export function votesFrom(network: Network): number | undefined {
  return f3ManifestOf(network)?.bootstrapEpoch
}

/**
 * Names the table that signs first, where it is the genesis' own: light nodes begin there without a checkpoint.
 * @param view - of the chain, whose genesis is at hand
 */
export function withFirstTable(network: Network, view: ChainView): Network {
  const manifest = f3ManifestOf(network)
  if (manifest === undefined || manifest.bootstrapEpoch > manifest.finality) return network
  const first = powerTableCid(ecPowerTable(view, view.store.genesis()))
  const json = { ...manifest.json, InitialPowerTable: { '/': first.toString() } }
  return { ...network, f3: { ...network.f3, manifest: json } }
}
