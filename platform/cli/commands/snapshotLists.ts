/** `snapshot list`, and `snapshot fetch` by the name of a network: what the known providers have. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { chooseNewest, fetchChosen } from '../../server/fetchSnapshot.ts'
import { line } from '../../server/programIo.ts'
import { everyFewSeconds, percentText, snapshotLine } from '../../server/progressText.ts'
import { listSnapshots, type SnapshotProvider, snapshotProvider } from '../../server/snapshotProviders.ts'
import type { CliContext } from '../context.ts'
import { CliError } from '../errors.ts'
import { tableText } from '../table.ts'

/** Networks whose snapshots are published. */
const LISTED_NETWORKS = ['mainnet', 'calibnet']
const COLUMNS = ['Network', 'Epoch', 'Size', 'Uploaded', 'URL']
const LISTED_LINES = 10

/** Where snapshots are looked for. */
export interface ProviderFlags {
  readonly provider?: string
}

function providersOf({ provider }: ProviderFlags): readonly SnapshotProvider[] | undefined {
  if (provider === undefined) return undefined
  if (!/^https?:\/\//.test(provider)) throw new CliError('USAGE', `"${provider}" is no http or https URL`)
  return [snapshotProvider(provider)]
}

interface NewestFlags extends ProviderFlags {
  readonly out?: string
  readonly sha256?: string
  readonly size?: string
}

/** Downloads the newest snapshot of a network into the current folder, its checksum as the provider publishes it. */
export async function downloadNewest(context: CliContext, network: string, flags: NewestFlags): Promise<void> {
  const { io } = context
  if (flags.sha256 !== undefined || flags.size !== undefined)
    throw new CliError('USAGE', 'size and checksum of the newest snapshot are the ones that are published: give a URL')
  const say = everyFewSeconds(io)
  let resumed: number | undefined
  const chosen = await chooseNewest({
    ...{ network, signal: io.signal, providers: providersOf(flags) },
    ...(flags.out === undefined ? { folder: resolve('.') } : { path: resolve(flags.out) }),
  })
  line(io, snapshotLine(chosen.snapshot))
  const path = await fetchChosen(chosen, io.signal, ({ bytes, totalBytes, resumedBytes }) => {
    if (resumed === undefined && resumedBytes > 0) line(io, `going on after ${percentText(resumedBytes, totalBytes)}`)
    resumed = resumedBytes
    say(() => `fetching: ${percentText(bytes, totalBytes)}`)
  })
  line(io, `fetched ${path}, checksum as published`)
}

async function list(context: CliContext, networks: readonly string[], flags: ProviderFlags): Promise<void> {
  const { io } = context
  const rows = []
  for (const network of networks) {
    const found = await listSnapshots(network, io.signal, providersOf(flags))
    for (const { epoch, sizeBytes, uploadedMs, url } of found.slice(0, LISTED_LINES)) {
      const cells = {
        Network: network,
        Epoch: epoch === undefined ? '' : String(epoch),
        Size: percentText(sizeBytes, undefined),
        Uploaded: new Date(uploadedMs).toISOString(),
        URL: url,
      }
      rows.push({ cells })
    }
  }
  io.out(tableText(COLUMNS, rows))
}

/** Adds `snapshot list`. */
export function addSnapshotList(snapshot: Command, context: CliContext): void {
  snapshot
    .command('list')
    .description('List the newest snapshots that the known providers have')
    .argument('[network...]', `default: ${LISTED_NETWORKS.join(', ')}`)
    .option('--provider <url>', "another provider, with lists in the form of Forest's archive")
    .action((networks: string[], flags: ProviderFlags) =>
      list(context, networks.length === 0 ? LISTED_NETWORKS : networks, flags),
    )
}
