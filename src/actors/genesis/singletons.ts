/** States of the actors whose state no option of a genesis changes. @see lotus chain/gen/genesis/f00_system.go, f03_cron.go */
import type { Cid } from '../../codec/cid.ts'
import { type Blockstore, putCbor } from '../../ipld/blockstore.ts'
import type { ActorsManifest } from '../../networks/network.ts'
import { ACTOR_KINDS } from '../../state/actorKind.ts'
import { cronState } from '../../state/cron.ts'
import { manifestEntries, manifestRoot } from '../../state/manifest.ts'
import { systemState } from '../../state/system.ts'
import { MarketMethod, PowerMethod } from '../../types/methodNumbers.ts'
import { MARKET_ADDRESS, POWER_ADDRESS } from '../../types/singletons.ts'
import { ActorsError } from '../errors.ts'

const MANIFEST_VERSION = 1

/**
 * The system actor names the code of all; the manifest's own blocks are stored for whoever walks the state.
 * @returns the state's CID
 * @throws ActorsError `MANIFEST_UNKNOWN` when the manifest's codes do not make its CID
 */
export function putSystemState(store: Blockstore, { actors, manifestCid }: ActorsManifest): Cid {
  const items = ACTOR_KINDS.flatMap((name) => {
    const code = actors.get(name)
    return code === undefined ? [] : [{ name, code }]
  })
  const data = putCbor(store, manifestEntries, items)
  if (!putCbor(store, manifestRoot, { version: MANIFEST_VERSION, data }).equals(manifestCid)) {
    const message = `Cannot make genesis: code CIDs do not make manifest ${manifestCid.toString()}`
    throw new ActorsError('MANIFEST_UNKNOWN', message)
  }
  return putCbor(store, systemState, { builtinActors: data })
}

/** What cron calls at the end of each epoch. @returns the state's CID */
export function putCronState(store: Blockstore): Cid {
  const entries = [
    { receiver: POWER_ADDRESS, methodNum: PowerMethod.OnEpochTickEnd },
    { receiver: MARKET_ADDRESS, methodNum: MarketMethod.CronTick },
  ]
  return putCbor(store, cronState, { entries })
}
