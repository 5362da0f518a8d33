/** Downloads the newest snapshot of a network that a known provider has, into a folder. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { begunUrl, type FetchProgress, fetchFile } from './fetchFile.ts'
import { type ListedSnapshot, listSnapshots, publishedSha256, type SnapshotProvider } from './snapshotProviders.ts'

/** What {@link fetchNewest} takes. */
export interface FetchNewestOptions {
  readonly network: string
  /** Where the file goes under its own name. */
  readonly folder?: string
  /** Where it goes else. */
  readonly path?: string
  /** Default: the known ones. */
  readonly providers?: readonly SnapshotProvider[] | undefined
  /** What they have; default: they are asked. */
  readonly listed?: readonly ListedSnapshot[]
  readonly signal: AbortSignal
  readonly onChosen?: (snapshot: ListedSnapshot) => void
  readonly onProgress?: (progress: FetchProgress) => void
}

/**
 * A download that was begun goes on as long as its file is still offered, though there be a newer one by now.
 * @returns the file's path
 * @throws PlatformError `DOWNLOAD_FAILED`, `CHECKSUM_WRONG`, `STORE_FAILED`; the signal's reason
 */
export async function fetchNewest(options: FetchNewestOptions): Promise<string> {
  const { network, providers, signal, onChosen, onProgress } = options
  const listed = options.listed ?? (await listSnapshots(network, signal, providers))
  const pathOf = ({ name }: ListedSnapshot): string => options.path ?? join(options.folder ?? '.', name)
  const isBegun = (one: ListedSnapshot): boolean => begunUrl(pathOf(one)) === one.url
  const chosen = listed.find(isBegun) ?? (listed[0] as ListedSnapshot)
  const path = pathOf(chosen)
  onChosen?.(chosen)
  // Under its own name a file stands only when it is whole and its checksum was right.
  if (options.path === undefined && existsSync(path)) return path
  const sha256 = await publishedSha256(chosen, signal)
  await fetchFile({
    ...{ url: chosen.url, path, sha256, size: chosen.sizeBytes, signal },
    ...(onProgress === undefined ? {} : { onProgress }),
  })
  return path
}
