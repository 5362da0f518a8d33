/** Where builtin-actors bundles are: `actors/<manifest CID>.car` in Petrel's home. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Absolute path of the folder of bundles; it may be absent. */
export const ACTORS: string = join(process.env.PETREL_HOME ?? join(homedir(), '.petrel'), 'actors')

/** Manifest CIDs of the bundles on this machine. */
export function bundlesHere(): string[] {
  if (!existsSync(ACTORS)) return []
  return readdirSync(ACTORS)
    .filter((name) => name.endsWith('.car'))
    .map((name) => name.slice(0, -'.car'.length))
}

/** Why a test that needs this bundle is skipped; undefined when it can run. */
export function missingBundle(manifestCid: string): string | undefined {
  return existsSync(join(ACTORS, `${manifestCid}.car`)) ? undefined : `no actors bundle ${manifestCid} in ${ACTORS}`
}

/** Bytes of a bundle (CAR v1, root = the manifest's CID). */
export function readBundle(manifestCid: string): Uint8Array {
  return new Uint8Array(readFileSync(join(ACTORS, `${manifestCid}.car`)))
}
