/** The files that a home's node builds on: its snapshot and the actors' bundles. For `petrel doctor`. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { errorMessage, PetrelError, unlessThrown } from '../../src/base/errors.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { ActorBundles } from './actorBundles.ts'
import { openArchiveReader } from './archiveFile.ts'
import type { Check } from './checkHost.ts'
import type { Home } from './home.ts'
import { readConfig } from './homeConfig.ts'
import { findNetwork } from './networkFiles.ts'

/** The archive below the chain, where there is one. */
export function checkSnapshot(home: Home): Check {
  const name = 'snapshot'
  let path: string | undefined
  try {
    path = readConfig(home).snapshot
    if (path === undefined) return { name, state: 'ok', found: 'the chain has none below it', remedy: '' }
    const { size } = statSync(path)
    openArchiveReader(path, { home: home.snapshots })
    return { name, state: 'ok', found: `${path}, ${size} bytes`, remedy: '' }
  } catch (error) {
    const remedy =
      path === undefined
        ? 'restore config.json from a backup'
        : `put ${path} back: the node reads the older chain from it`
    return { name, state: 'fault', found: errorMessage(error), remedy }
  }
}

/** Each bundle whole, and those of the home's network at hand. */
export async function checkBundles(home: Home): Promise<Check[]> {
  await initCrypto()
  const name = 'bundles'
  const bundles = new ActorBundles(home.actors)
  const faults: Check[] = []
  const here = bundles.list()
  for (const manifest of here) {
    const path = join(home.actors, `${manifest}.car`)
    const reason = bundles.damage(manifest)
    if (reason === undefined) continue
    faults.push({ name, state: 'fault', found: `${path}: ${reason}`, remedy: `rm ${path}; petrel actors fetch` })
  }
  const network = unlessThrown(
    () => findNetwork(readConfig(home).network ?? join(home.path, 'network.json')),
    PetrelError,
  )
  const newest = network?.manifests.at(-1)
  if (newest !== undefined && !bundles.has(newest.manifestCid)) {
    const found = `${here.length} of ${network?.manifests.length} of the network's; the newest (${newest.manifestCid}) is not here`
    const remedy = 'petrel actors fetch, unless the chain itself holds the code (a snapshot does)'
    faults.push({ name, state: 'warning', found, remedy })
  }
  if (faults.length > 0) return faults
  return [{ name, state: 'ok', found: `${here.length} at ${home.actors}`, remedy: '' }]
}
