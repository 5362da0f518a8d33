/** test/support/actors.ts for Chromium: the same functions over the test server. */
import { fetchSync, listSync } from './files.ts'

export const ACTORS = '/actors'

export function bundlesHere(): string[] {
  return (listSync('/actors') ?? [])
    .filter((name) => name.endsWith('.car'))
    .map((name) => name.slice(0, -'.car'.length))
}

export function missingBundle(manifestCid: string): string | undefined {
  return bundlesHere().includes(manifestCid) ? undefined : `no actors bundle ${manifestCid} in ~/.petrel/actors`
}

export function readBundle(manifestCid: string): Uint8Array {
  const bytes = fetchSync(`/actors/${manifestCid}.car`)
  if (bytes === undefined) throw new Error(`no such bundle: ${manifestCid}`)
  return bytes
}
