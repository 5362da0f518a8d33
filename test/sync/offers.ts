/** A follower of a world in memory, and peers that offer it blocks of that world. */
import type { BlockHeader } from '../../src/types/blockHeader.ts'
import type { Tipset } from '../../src/types/tipset.ts'
import { createFollower, type Follower, RecordedSource, withMessages } from './follower.ts'
import type { World } from './world.ts'

/** Who offers unless another is named. */
export const PEER = 'peer'

/** Offers a whole tipset; false: the syncer has no use for it. */
export function offer(world: World, follower: Follower, tipset: Tipset, peer: string = PEER): boolean {
  return follower.syncer.offerTipset(peer, withMessages(world.view, tipset))
}

/** Offers one block; false: the syncer has no use for it. */
export function offerBlock(world: World, follower: Follower, header: BlockHeader, peer: string = PEER): boolean {
  return follower.syncer.offerBlock(peer, { header, messages: world.view.blockMessages(header) })
}

/** A follower that executes and can fetch all that the world has. */
export function follow(world: World, options: Partial<Parameters<typeof createFollower>[1]> = {}): Follower {
  return createFollower(world, { mode: 'execute', source: new RecordedSource(world.view), ...options })
}

/** As `headName` names a head. */
export const nameOf = (tipset: Tipset): string => `${tipset.height} ${tipset.key.join(' ')}`
