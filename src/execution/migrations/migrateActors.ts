/**
 * What every state migration since actors v15 does: each actor gets the code of the new version, some a new state, and the
 * system actor the new manifest.
 * @see go-state-types builtin/v15 to v18 migration/top.go MigrateStateTree; migration/runner.go RunMigration
 */
import { ChainError } from '../../chain/errors.ts'
import type { Cid } from '../../codec/cid.ts'
import { type Blockstore, getCbor, putCbor } from '../../ipld/blockstore.ts'
import { Hamt } from '../../ipld/hamt.ts'
import { rewriteHamt } from '../../ipld/rewriteHamt.ts'
import { manifestEntries, manifestRoot } from '../../state/manifest.ts'
import { stateRoot } from '../../state/stateTree.ts'
import { systemState } from '../../state/system.ts'
import { actorV5 } from '../../types/actor.ts'
import { idAddress } from '../../types/address.ts'

/** State tree with delegated addresses. */
const TREE_VERSION = 5
const SYSTEM_KEY = idAddress(0n).bytes

/** Gives an actor's state its new form; the CID of the new one. Called once per distinct old state of a kind. */
export type StateMigration = (store: Blockstore, head: Cid) => Cid

function failure(message: string): ChainError {
  return new ChainError('INVALID_STATE', `Cannot migrate: ${message}`)
}

/**
 * @param store - has the new manifest's blocks; new ones are written to it
 * @param newManifest - CID of the new actors' manifest
 * @param states - by the actor's name in the manifest, for those whose state changes
 * @returns the new state root
 * @throws BlockMissing; ChainError `INVALID_STATE`
 */
export function migrateActors(
  store: Blockstore,
  root: Cid,
  newManifest: Cid,
  states: Readonly<Record<string, StateMigration>> = {},
): Cid {
  const old = getCbor(store, stateRoot, root)
  if (old.version !== TREE_VERSION) throw failure(`state root has version ${old.version}, expected ${TREE_VERSION}`)
  const system = Hamt.load(store, old.actors, actorV5).get(SYSTEM_KEY)
  if (system === undefined) throw failure("didn't find system actor")
  const oldEntries = getCbor(store, manifestEntries, getCbor(store, systemState, system.head).builtinActors)
  const { data } = getCbor(store, manifestRoot, newManifest)
  const newCodes = new Map(getCbor(store, manifestEntries, data).map(({ name, code }) => [name, code]))

  const plans = new Map<string, { readonly name: string; readonly code: Cid }>()
  for (const { name, code } of oldEntries) {
    const newCode = newCodes.get(name)
    if (newCode === undefined) throw failure(`code cid for ${name} actor not found in new manifest`)
    plans.set(code.key, { name, code: newCode })
  }

  const heads = new Map<string, Cid>()
  // Mainnet has millions of actors: all of them at once are more than a thread's heap holds.
  const actors = rewriteHamt(store, old.actors, actorV5, (_, actor) => {
    const plan = plans.get(actor.code.key)
    if (plan === undefined) throw failure(`actor with code ${actor.code} has no registered migration`)
    let { head } = actor
    if (plan.name === 'system') head = putCbor(store, systemState, { builtinActors: data })
    else {
      const migrateState = states[plan.name]
      if (migrateState !== undefined) {
        const known = heads.get(plan.name + head.key)
        const next = known ?? migrateState(store, head)
        heads.set(plan.name + head.key, next)
        head = next
      }
    }
    return { ...actor, code: plan.code, head }
  })
  return putCbor(store, stateRoot, { version: TREE_VERSION, actors, info: old.info })
}
