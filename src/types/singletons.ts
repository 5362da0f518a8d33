/**
 * The actors that exist once.
 * @see builtin-actors v18 runtime/src/builtin/singletons.rs
 */
import { type Address, idAddress } from './address.ts'
import type { ActorId } from './scalars.ts'

export const SYSTEM_ID: ActorId = 0n
export const INIT_ID: ActorId = 1n
export const REWARD_ID: ActorId = 2n
export const CRON_ID: ActorId = 3n
export const POWER_ID: ActorId = 4n
export const MARKET_ID: ActorId = 5n
export const VERIFREG_ID: ActorId = 6n
export const DATACAP_ID: ActorId = 7n
/** The Ethereum address manager; its number is also the namespace of f410 addresses. */
export const EAM_ID: ActorId = 10n
export const RESERVE_ID: ActorId = 90n
export const BURNT_FUNDS_ID: ActorId = 99n
/** First number that is not a singleton's. */
export const FIRST_NON_SINGLETON_ID: ActorId = 100n

export const SYSTEM_ADDRESS: Address = idAddress(SYSTEM_ID)
export const INIT_ADDRESS: Address = idAddress(INIT_ID)
export const REWARD_ADDRESS: Address = idAddress(REWARD_ID)
export const CRON_ADDRESS: Address = idAddress(CRON_ID)
export const POWER_ADDRESS: Address = idAddress(POWER_ID)
export const MARKET_ADDRESS: Address = idAddress(MARKET_ID)
export const EAM_ADDRESS: Address = idAddress(EAM_ID)
export const BURNT_FUNDS_ADDRESS: Address = idAddress(BURNT_FUNDS_ID)
