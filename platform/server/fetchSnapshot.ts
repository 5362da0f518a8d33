/** The newest snapshot of a network that a known provider has: chosen, then downloaded. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { assertAnswers, begunUrl, type FetchProgress, fetchFile } from './fetchFile.ts'
import { type ListedSnapshot, listSnapshots, publishedSha256, type SnapshotProvider } from './snapshotProviders.ts'

/** What {@link chooseNewest} takes. */
export interface ChooseNewestOptions {
  readonly network: string
  /** Where the file goes under its own name. */
  readonly folder?: string
  /** Where it goes else. */
  readonly path?: string
  /** Default: the known ones. */
  readonly providers?: readonly SnapshotProvider[] | undefined
  readonly signal: AbortSignal
}

/** What can be downloaded. */
export interface ChosenSnapshot {
  readonly snapshot: ListedSnapshot
  readonly path: string
  /** Hexadecimal; undefined: the file is here, whole. */
  readonly sha256: string | undefined
}

/**
 * The newest snapshot that is listed and that its server hands out; nothing is written. A download that was begun goes on as long
 * as its file is still offered, though there be a newer one by now.
 * @throws PlatformError `DOWNLOAD_FAILED`; the signal's reason
 */
export async function chooseNewest(options: ChooseNewestOptions): Promise<ChosenSnapshot> {
  const { network, providers, signal } = options
  const listed = await listSnapshots(network, signal, providers)
  const pathOf = ({ name }: ListedSnapshot): string => options.path ?? join(options.folder ?? '.', name)
  const isBegun = (candidate: ListedSnapshot): boolean => begunUrl(pathOf(candidate)) === candidate.url
  const snapshot = listed.find(isBegun) ?? (listed[0] as ListedSnapshot)
  const path = pathOf(snapshot)
  // Under its own name a file stands only when it is whole and its checksum was right.
  if (options.path === undefined && existsSync(path)) return { snapshot, path, sha256: undefined }
  const sha256 = await publishedSha256(snapshot, signal)
  await assertAnswers(snapshot.url, signal)
  return { snapshot, path, sha256 }
}

/**
 * Downloads what was chosen, unless it is here.
 * @returns the file's path
 * @throws PlatformError `DOWNLOAD_FAILED`, `CHECKSUM_WRONG`, `STORE_FAILED`; the signal's reason
 */
export async function fetchChosen(
  { snapshot, path, sha256 }: ChosenSnapshot,
  signal: AbortSignal,
  onProgress: (progress: FetchProgress) => void,
): Promise<string> {
  if (sha256 !== undefined)
    await fetchFile({ url: snapshot.url, path, sha256, size: snapshot.sizeBytes, signal, onProgress })
  return path
}
