/** Codecs of the built-in actors' states by kind and actors version. */
import type { Codec } from '../codec/description.ts'
import { accountState } from './account.ts'
import type { ActorKind } from './actorKind.ts'
import { cronState } from './cron.ts'
import { datacapState } from './datacap.ts'
import { evmStateAt } from './evm.ts'
import { initState } from './init.ts'
import { marketStateAt } from './market.ts'
import { minerStateAt } from './miner.ts'
import { multisigState } from './multisig.ts'
import { paychState } from './paych.ts'
import { powerStateAt } from './power.ts'
import { rewardStateAt } from './reward.ts'
import { systemStateAt } from './system.ts'
import { verifregStateAt } from './verifreg.ts'

/**
 * The codec of an actor's state. Undefined for kinds that have no state of their own: eam, placeholder and ethaccount,
 * whose head is the empty array's or object's CID.
 */
export function actorStateCodec(kind: ActorKind, actorsVersion: number): Codec<unknown> | undefined {
  return codecOf(kind, actorsVersion) as Codec<unknown> | undefined
}

function codecOf(kind: ActorKind, version: number): unknown {
  switch (kind) {
    case 'system':
      return systemStateAt(version)
    case 'init':
      return initState
    case 'cron':
      return cronState
    case 'account':
      return accountState
    case 'storagepower':
      return powerStateAt(version)
    case 'storageminer':
      return minerStateAt(version)
    case 'storagemarket':
      return marketStateAt(version)
    case 'paymentchannel':
      return paychState
    case 'multisig':
      return multisigState
    case 'reward':
      return rewardStateAt(version)
    case 'verifiedregistry':
      return verifregStateAt(version)
    case 'datacap':
      return datacapState
    case 'evm':
      return evmStateAt(version)
    case 'placeholder':
    case 'eam':
    case 'ethaccount':
      return undefined
  }
}
