import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { parseCid } from '../../../src/codec/cid.ts'
import { BUILTIN_NETWORKS, builtinNetwork } from '../../../src/networks/builtinNetworks.ts'
import { ActorBundles } from '../../server/actorBundles.ts'
import { fetchReason } from '../../server/errors.ts'
import { line } from '../../server/programIo.ts'
import { type CliContext, wholeNumber } from '../context.ts'
import { CliError } from '../errors.ts'
import { repoPath } from '../rpcClient.ts'

/** Where builtin-actors publishes its bundles. */
const RELEASES = 'https://github.com/filecoin-project/builtin-actors/releases/download'
/** Largest bundle that is taken, bytes. */
const MAX_BUNDLE_BYTES = 64 << 20
/** Bundle file names spell some networks differently. */
const BUNDLE_NAMES: Readonly<Record<string, string>> = { calibnet: 'calibrationnet' }

function bundles({ io, repo }: CliContext): ActorBundles {
  return new ActorBundles(join(repoPath(io, repo()), 'actors'))
}

/** `mainnet v18` for each built-in network whose manifest it is. */
function usesOf(manifest: string): string[] {
  return BUILTIN_NETWORKS.flatMap((name) =>
    builtinNetwork(name)
      .manifests.filter((entry) => entry.manifestCid.toString() === manifest)
      .map((entry) => `${name} v${entry.actorsVersion}`),
  )
}

function list(context: CliContext): void {
  const found = bundles(context).list()
  context.result(found.map((manifest) => ({ Manifest: manifest, Networks: usesOf(manifest) })))
  for (const manifest of found) line(context.io, `${manifest}  ${usesOf(manifest).join(', ') || 'other'}`)
}

async function download(context: CliContext, url: string): Promise<Uint8Array> {
  const response = await fetch(url, { signal: context.io.signal }).catch((cause: unknown) => {
    throw new CliError('CONNECTION', `could not fetch ${url}: ${fetchReason(cause)}`, {}, { cause })
  })
  if (!response.ok || response.body === null)
    throw new CliError('CONNECTION', `could not fetch ${url}: HTTP status ${response.status}`)
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of response.body as AsyncIterable<Uint8Array>) {
    parts.push(part)
    length += part.length
    if (length > MAX_BUNDLE_BYTES)
      throw new CliError('FAILED', `the bundle at ${url} is larger than ${MAX_BUNDLE_BYTES} bytes`)
  }
  return new Uint8Array(Buffer.concat(parts))
}

async function fetchBundle(
  context: CliContext,
  name: string,
  options: { actorsVersion?: string; url?: string },
): Promise<void> {
  const network = builtinNetwork(name)
  const version = options.actorsVersion === undefined ? undefined : wholeNumber(options.actorsVersion, 'actors-version')
  const manifest =
    version === undefined
      ? network.manifests.at(-1)
      : network.manifests.find((entry) => entry.actorsVersion === version)
  if (manifest === undefined) throw new CliError('USAGE', `no bundle of actors v${version ?? '?'} is known for ${name}`)
  const url =
    options.url ?? `${RELEASES}/v${manifest.actorsVersion}.0.0/builtin-actors-${BUNDLE_NAMES[name] ?? name}.car`
  const cache = bundles(context)
  const added = cache.add(await download(context, url))
  if (!added.equals(manifest.manifestCid)) {
    line(
      context.io,
      `${added.toString()} was stored, but ${name} v${manifest.actorsVersion} wants ${manifest.manifestCid.toString()}`,
    )
    throw new CliError('FAILED', `the bundle at ${url} is another one`)
  }
  line(context.io, added.toString())
}

/** `actors list|import|fetch`: the cache of builtin-actors bundles. Works without a running node. */
export function addActorsCommands(program: Command, context: CliContext): void {
  const actors = program.command('actors').description('Manage the builtin-actors bundles (Wasm) in <home>/actors')
  actors
    .command('list')
    .description('List the bundles that are here, by manifest CID')
    .action(() => list(context))
  actors
    .command('import')
    .description('Take a bundle (CAR file) into the cache')
    .argument('<file>')
    .action(async (path: string) => {
      const car = await readFile(path).catch((cause: unknown) => {
        throw new CliError('USAGE', `cannot read ${path}`, {}, { cause })
      })
      line(context.io, bundles(context).add(new Uint8Array(car)).toString())
    })
  actors
    .command('fetch')
    .description('Download the bundle of a network from the releases of builtin-actors')
    .argument('<network>', BUILTIN_NETWORKS.join(', '))
    .option('--actors-version <n>', 'version of the actors (default: the newest known)')
    .option('--url <url>', 'another place to fetch it from')
    .action((name: string, options: { actorsVersion?: string; url?: string }) => fetchBundle(context, name, options))
  actors
    .command('find')
    .description('Tell whether the code of a CID is in a bundle here')
    .argument('<codeCid>')
    .action((cid: string) => {
      const code = bundles(context).code(parseCid(cid))
      if (code === undefined) throw new CliError('FAILED', `no bundle here has ${cid}`)
      line(context.io, `${code.length} bytes`)
    })
}
