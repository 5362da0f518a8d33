/** What a genesis is made from. */
import type { ActorsManifest, ProtocolParameters } from '../../networks/network.ts'
import type { Address } from '../../types/address.ts'
import type { TokenAmount } from '../../types/scalars.ts'

/** A funded account. f1 and f3 addresses are accounts, f410 addresses Ethereum accounts. */
export interface GenesisAccount {
  readonly address: Address
  readonly balance: TokenAmount
}

/** A miner with one sector, so that it has power. */
export interface GenesisMiner {
  /** f3 address of owner and worker; must be one of the accounts. */
  readonly worker: Address
}

/** All that a genesis follows from. */
export interface GenesisTemplate {
  readonly networkName: string
  /** Unix time, seconds. */
  readonly timestamp: number
  readonly manifest: ActorsManifest
  readonly protocol: ProtocolParameters
  readonly accounts: readonly GenesisAccount[]
  readonly miners: readonly GenesisMiner[]
  /** Key address of the root of the verified registry (f080). */
  readonly verifregRoot: Address
  /** Key address of the first verifier (f081). */
  readonly verifier: Address
  /** Key address that signs for the reserve (f090), which holds all that is not allotted. */
  readonly reserveSigner: Address
  /** 32 bytes for the ticket, where Lotus takes random ones. */
  readonly ticket: Uint8Array
}
