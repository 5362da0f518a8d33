import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { errorMessage } from '../../../src/base/errors.ts'
import { parseCid } from '../../../src/codec/cid.ts'
import { BUILTIN_NETWORKS } from '../../../src/networks/builtinNetworks.ts'
import { parameterDigest } from '../../../src/proofs/keys/loadedKeys.ts'
import { networkKeyFiles } from '../../../src/proofs/keys/networkKeys.ts'
import {
  fileName,
  PARAMETER_FILES,
  PARAMETER_GATEWAYS,
  type ParameterFile,
  SRS_FILE,
} from '../../../src/proofs/keys/parameters.ts'
import { fetchReason } from '../../server/errors.ts'
import { line } from '../../server/programIo.ts'
import { ProofFiles } from '../../server/proofFiles.ts'
import type { CliContext } from '../context.ts'
import { CliError } from '../errors.ts'
import { repoPath } from '../rpcClient.ts'
import { collect } from '../serving.ts'

/** Largest file that is taken, bytes: the reference string of aggregation has some 300 MB. */
const MAX_FILE_BYTES = 1 << 29
const NETWORKS = BUILTIN_NETWORKS

interface FetchFlags {
  readonly from?: string[]
  readonly aggregates?: boolean
}

function files({ io, repo }: CliContext): ProofFiles {
  return new ProofFiles(join(repoPath(io, repo()), 'proofs'))
}

function label(file: ParameterFile): string {
  return 'circuit' in file ? `${file.circuit as string} ${(file as { size?: string }).size ?? ''}` : 'aggregates'
}

function list(context: CliContext): void {
  const folder = files(context)
  const found: { File: string; Bytes: number; State: string }[] = []
  for (const file of PARAMETER_FILES) {
    const name = fileName(file)
    const bytes = folder.read(name)
    if (bytes === undefined) continue
    let state = 'verified'
    try {
      folder.check(file, bytes)
    } catch (error) {
      state = errorMessage(error)
    }
    found.push({ File: name, Bytes: bytes.length, State: state })
    line(context.io, `${label(file).padEnd(16)} ${String(bytes.length).padStart(8)} bytes  ${state}  ${name}`)
  }
  context.result(found)
}

async function download(place: string, file: ParameterFile, signal: AbortSignal): Promise<Uint8Array> {
  if (!isPeer(place)) return overHttp(`${place.endsWith('/') ? place : `${place}/`}${file.cid}`, signal)
  const [{ withIpfsPeer }, { readUnixFile }] = await Promise.all([
    import('../../server/ipfsPeer.ts'),
    import('../../../src/p2p/bitswap/unixFile.ts'),
  ])
  const bounds = { maxBytes: MAX_FILE_BYTES, signal }
  return withIpfsPeer(place, signal, (source) => readUnixFile(source, parseCid(file.cid), bounds))
}

/** Whether a place is a peer's address; else it is a gateway's. */
function isPeer(place: string): boolean {
  return place.startsWith('/')
}

/** @throws CliError `USAGE` of a place that is neither an address of HTTP nor one of a peer with its ID */
async function assertPlace(place: string): Promise<void> {
  const protocol = URL.canParse(place) ? new URL(place).protocol : undefined
  if (protocol === 'https:' || protocol === 'http:') return
  const form = 'an address of http(s), or a multiaddr that ends with /p2p/ and a peer ID'
  if (!isPeer(place)) throw new CliError('USAGE', `--from ${place}: expected ${form}`)
  const [{ peerOfAddress }, { peerIdFromString }] = await Promise.all([
    import('../../../src/p2p/host/addresses.ts'),
    import('@libp2p/peer-id'),
  ])
  let peer: string | undefined
  try {
    peer = peerOfAddress(place)
    if (peer !== undefined) peerIdFromString(peer)
  } catch (cause) {
    throw new CliError('USAGE', `--from ${place}: ${errorMessage(cause)}`, {}, { cause })
  }
  if (peer === undefined) throw new CliError('USAGE', `--from ${place}: expected ${form}`)
}

async function overHttp(url: string, signal: AbortSignal): Promise<Uint8Array> {
  const response = await fetch(url, { signal })
  if (!response.ok || response.body === null) throw new CliError('CONNECTION', `HTTP status ${response.status}`)
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of response.body as AsyncIterable<Uint8Array>) {
    parts.push(part)
    length += part.length
    if (length > MAX_FILE_BYTES) throw new CliError('FAILED', `more than ${MAX_FILE_BYTES} bytes`)
  }
  return new Uint8Array(Buffer.concat(parts))
}

/** Asks one place after the other; what has another digest is not taken. */
async function fetchOne(context: CliContext, folder: ProofFiles, file: ParameterFile, from: readonly string[]) {
  const reasons: string[] = []
  for (const place of from) {
    try {
      folder.add(file, await download(place, file, context.io.signal))
      line(context.io, `${label(file).padEnd(16)} ${fileName(file)}`)
      return
    } catch (error) {
      context.io.signal.throwIfAborted()
      reasons.push(`${place}: ${fetchReason(error)}`)
    }
  }
  throw new CliError('CONNECTION', `could not fetch ${fileName(file)}: ${reasons.join('; ')}`)
}

async function fetchFiles(context: CliContext, network: string, flags: FetchFlags): Promise<void> {
  if (!NETWORKS.includes(network)) throw new CliError('USAGE', `network: expected ${NETWORKS.join(', ')}`)
  const from = flags.from ?? PARAMETER_GATEWAYS
  for (const place of from) await assertPlace(place)
  const folder = files(context)
  const wanted = [...networkKeyFiles(network), ...(flags.aggregates === true ? [SRS_FILE] : [])]
  for (const file of wanted) {
    if (!folder.has(fileName(file))) await fetchOne(context, folder, file, from)
  }
}

async function importFiles(context: CliContext, paths: readonly string[]): Promise<void> {
  const folder = files(context)
  for (const path of paths) {
    const bytes = await readFile(path).catch((cause: unknown) => {
      throw new CliError('USAGE', `cannot read ${path}`, {}, { cause })
    })
    // By the digest, whatever the file is called.
    const digest = parameterDigest(new Uint8Array(bytes))
    const file = PARAMETER_FILES.find((candidate) => candidate.digest === digest)
    if (file === undefined) throw new CliError('FAILED', `${path} is no key of Filecoin's ceremony: digest ${digest}`)
    folder.add(file, new Uint8Array(bytes))
    line(context.io, `${label(file).padEnd(16)} ${fileName(file)}`)
  }
}

/** `proofs list|import|fetch`: the keys that storage proofs are verified with. Works without a running node. */
export function addProofsCommands(program: Command, context: CliContext): void {
  const proofs = program.command('proofs').description('Manage the keys of storage proofs in <home>/proofs')
  proofs
    .command('list')
    .description('List the keys that are here, each checked against its digest')
    .action(() => list(context))
  proofs
    .command('import')
    .description('Take key files (.vk, .srs), known by their digests')
    .argument('<file...>')
    .action((paths: string[]) => importFiles(context, paths))
  proofs
    .command('fetch')
    .description('Fetch the keys of a network from gateways or nodes of IPFS (5 MB for mainnet and calibnet)')
    .argument('[network]', NETWORKS.join(', '), 'mainnet')
    .option(
      '--from <place>',
      'where to ask instead: a gateway, followed by a CID, or the address of an IPFS node (repeatable)',
      collect,
    )
    .option('--aggregates', 'also what aggregated seals are verified with (300 MB, of which 600 bytes are kept)')
    .action((network: string, flags: FetchFlags) => fetchFiles(context, network, flags))
}
