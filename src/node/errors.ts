/** Errors of putting a node together. */
import { PetrelError } from '../base/errors.ts'

/**
 * `GENESIS_UNKNOWN`: a network whose genesis is neither given nor to be asked for. `OTHER_GENESIS`: the one given is another
 * network's. `NO_GENESIS`: no peer gave it.
 */
export type NodeErrorCode = 'GENESIS_UNKNOWN' | 'OTHER_GENESIS' | 'NO_GENESIS' | 'LEFT'

/** A node that cannot be put together. */
export class NodeError extends PetrelError<NodeErrorCode> {}
