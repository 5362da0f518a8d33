/** The key that a miner's blocks are signed with. @see lotus chain/stmgr/actors.go GetMinerWorkerRaw */
import { accountKey } from '../chain/actorLookup.ts'
import type { ChainView } from '../chain/chainView.ts'
import { ChainError } from '../chain/errors.ts'
import { loadMiner } from '../chain/queries/minerActor.ts'
import type { StateTree } from '../state/stateTree.ts'
import { type Address, PROTOCOL_BLS } from '../types/address.ts'
import { ValidationError } from './validationError.ts'

/** @throws ValidationError `WORKER_UNKNOWN`: no such miner, or its worker is no BLS key */
export function workerAt(view: ChainView, tree: StateTree, miner: Address): Address {
  let key: Address
  try {
    key = accountKey(view, tree, loadMiner(view, tree, miner).info().worker)
  } catch (cause) {
    if (!(cause instanceof ChainError)) throw cause
    throw new ValidationError('WORKER_UNKNOWN', `failed to resolve worker key: ${cause.message}`, {}, { cause })
  }
  if (key.protocol === PROTOCOL_BLS) return key
  throw new ValidationError('WORKER_UNKNOWN', 'worker address is not a BLS key')
}
