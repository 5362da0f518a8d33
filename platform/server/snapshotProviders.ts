/**
 * Who publishes snapshots of public networks, and what they have: lists of files, newest first, each with its checksum.
 * @see forest src/dev/subcommands/archive_missing_cmd.rs ListingResponse; forest docs, snapshot_service.md
 */
import { errorMessage } from '../../src/base/errors.ts'
import { trimEnd } from '../../src/base/trimEnd.ts'
import { fetchReason, PlatformError } from './errors.ts'

/** Where a provider lists its files, as `<list>/<network>/<kind>?format=json`. */
export interface SnapshotProvider {
  readonly list: string
  /** Kinds of snapshots that a node can start from, the better ones first. */
  readonly kinds: readonly string[]
}

/** Forest's; those of `latest-v2` carry finality certificates (FRC-0108). */
const SNAPSHOT_KINDS: readonly string[] = ['latest-v2', 'latest']

/** Forest's archive: a snapshot about every hour. */
export const SNAPSHOT_PROVIDERS: readonly SnapshotProvider[] = [
  { list: 'https://forest-archive.chainsafe.dev/list', kinds: SNAPSHOT_KINDS },
]

/** Another provider that lists its files in the same form. @param list - `https://…/list` */
export function snapshotProvider(list: string): SnapshotProvider {
  return { list, kinds: SNAPSHOT_KINDS }
}

/** One file that a provider has. */
export interface ListedSnapshot {
  readonly network: string
  readonly url: string
  readonly sha256Url: string
  /** The file's own name. */
  readonly name: string
  readonly sizeBytes: number
  /** Of its head; undefined where the name does not say it. */
  readonly epoch: number | undefined
  /** Unix ms. */
  readonly uploadedMs: number
}

/** Longest answer of a list or a checksum that is read, bytes. */
const MAX_ANSWER_BYTES = 4 << 20
const ANSWER_MS = 30_000
/** A name that is safe to give to a file. */
const FILE_NAME = /^[A-Za-z0-9][\w.+-]*$/
const EPOCH = /_height_(\d+)\./
const SHA256 = /^[0-9a-fA-F]{64}(?=\s|$)/

function failed(message: string, cause?: unknown): PlatformError {
  return new PlatformError('DOWNLOAD_FAILED', message, {}, cause === undefined ? undefined : { cause })
}

async function readText(url: string, signal: AbortSignal): Promise<string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]) })
    if (!response.ok || response.body === null) throw failed(`HTTP status ${response.status}`)
    const decoder = new TextDecoder()
    let text = ''
    for await (const piece of response.body as AsyncIterable<Uint8Array>) {
      text += decoder.decode(piece, { stream: true })
      if (text.length > MAX_ANSWER_BYTES) throw failed(`more than ${MAX_ANSWER_BYTES} bytes`)
    }
    return text
  } catch (cause) {
    signal.throwIfAborted()
    throw failed(`could not fetch ${url}: ${fetchReason(cause)}`, cause)
  }
}

function listedSnapshot(network: string, item: unknown): ListedSnapshot | undefined {
  const { url, sha256url, size, uploaded } = (item ?? {}) as Record<string, unknown>
  if (typeof url !== 'string' || typeof sha256url !== 'string' || typeof uploaded !== 'string') return undefined
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size <= 0) return undefined
  if (!URL.canParse(url) || !URL.canParse(sha256url)) return undefined
  const name = new URL(url).pathname.split('/').at(-1) ?? ''
  const uploadedMs = Date.parse(uploaded)
  if (!FILE_NAME.test(name) || Number.isNaN(uploadedMs)) return undefined
  const epoch = EPOCH.exec(name)?.[1]
  return {
    ...{ network, url, sha256Url: sha256url, name, sizeBytes: size, uploadedMs },
    epoch: epoch === undefined ? undefined : Number(epoch),
  }
}

/** A provider's snapshots of one kind. */
async function listKind(list: string, network: string, kind: string, signal: AbortSignal): Promise<ListedSnapshot[]> {
  const url = `${trimEnd(list, '/')}/${network}/${kind}?format=json`
  const text = await readText(url, signal)
  let items: unknown
  try {
    items = (JSON.parse(text) as { items?: unknown }).items
  } catch (cause) {
    throw failed(`could not read ${url}: it is no JSON`, cause)
  }
  if (!Array.isArray(items)) throw failed(`could not read ${url}: it has no list of items`)
  return items.flatMap((item) => listedSnapshot(network, item) ?? [])
}

/**
 * What the providers have of a network: of each the first kind of which it has any; newest first.
 * @throws PlatformError `DOWNLOAD_FAILED` when no provider has any; the signal's reason
 */
export async function listSnapshots(
  network: string,
  signal: AbortSignal,
  providers: readonly SnapshotProvider[] = SNAPSHOT_PROVIDERS,
): Promise<ListedSnapshot[]> {
  const found: ListedSnapshot[] = []
  const reasons: string[] = []
  for (const { list, kinds } of providers) {
    for (const kind of kinds) {
      try {
        const some = await listKind(list, network, kind, signal)
        found.push(...some)
        if (some.length > 0) break
      } catch (error) {
        signal.throwIfAborted()
        reasons.push(errorMessage(error))
      }
    }
  }
  if (found.length === 0)
    throw failed(`no snapshot of ${network} to be had${reasons.map((reason) => `; ${reason}`).join('')}`)
  return found.sort((a, b) => (b.epoch ?? 0) - (a.epoch ?? 0) || b.uploadedMs - a.uploadedMs)
}

/** The checksum that the provider publishes, hexadecimal. @throws PlatformError `DOWNLOAD_FAILED` */
export async function publishedSha256({ sha256Url }: ListedSnapshot, signal: AbortSignal): Promise<string> {
  const sum = SHA256.exec((await readText(sha256Url, signal)).trim())?.[0]
  if (sum === undefined) throw failed(`could not read ${sha256Url}: it is no SHA-256 checksum`)
  return sum
}
