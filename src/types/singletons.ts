/**
 * The actors that exist once.
 * @see builtin-actors v18 runtime/src/builtin/singletons.rs
 */
import { type Address, idAddress } from './address.ts'
import type { ActorId } from './scalars.ts'

/** The sender of implicit messages (rewards, cron); its state names the actors' manifest. */
export const SYSTEM_ID: ActorId = 0n
/** Makes actors and numbers them; its state maps every other address to an ID. */
export const INIT_ID: ActorId = 1n
/** Holds what is still to be mined and pays block rewards. */
export const REWARD_ID: ActorId = 2n
/** Calls power and market at the end of each epoch. */
export const CRON_ID: ActorId = 3n
/** Every miner's claim, and the network's power. */
export const POWER_ID: ActorId = 4n
/** Escrow and deals of the storage market. */
export const MARKET_ID: ActorId = 5n
/** Verifiers, allocations and claims of verified data. */
export const VERIFREG_ID: ActorId = 6n
/** DataCap as a fungible token; since network version 17. @see FIP-0045, FRC-0046 */
export const DATACAP_ID: ActorId = 7n
/** The Ethereum address manager; its number is also the namespace of f410 addresses. */
export const EAM_ID: ActorId = 10n
/** The network's reserve, a multisig: 300 million FIL at mainnet's genesis. */
export const RESERVE_ID: ActorId = 90n
/** Where burnt base fees and penalties go; nothing leaves it. */
export const BURNT_FUNDS_ID: ActorId = 99n
/** First number that is not a singleton's. */
export const FIRST_NON_SINGLETON_ID: ActorId = 100n

/** f00. */
export const SYSTEM_ADDRESS: Address = idAddress(SYSTEM_ID)
/** f01. */
export const INIT_ADDRESS: Address = idAddress(INIT_ID)
/** f02. */
export const REWARD_ADDRESS: Address = idAddress(REWARD_ID)
/** f03. */
export const CRON_ADDRESS: Address = idAddress(CRON_ID)
/** f04. */
export const POWER_ADDRESS: Address = idAddress(POWER_ID)
/** f05. */
export const MARKET_ADDRESS: Address = idAddress(MARKET_ID)
/** f010. */
export const EAM_ADDRESS: Address = idAddress(EAM_ID)
/** f099. */
export const BURNT_FUNDS_ADDRESS: Address = idAddress(BURNT_FUNDS_ID)
