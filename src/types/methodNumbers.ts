/**
 * Numbers of the methods that the node calls or looks for by itself. All methods, with their parameters: `state/methods`.
 * @see go-state-types builtin/methods.go
 */

/** A plain transfer. */
export const METHOD_SEND = 0n
/** Called once, when an actor is made: by the init actor, or for accounts by the machine. */
export const METHOD_CONSTRUCTOR = 1n
/** Smaller numbers are for built-in actors only, from here on for everybody. @see FRC-0042 */
export const FIRST_EXPORTED_METHOD: bigint = 1n << 24n

/** Of an account: the key address (f1 or f3) behind its ID. */
export const AccountMethod = { PubkeyAddress: 2n } as const
/** What makes actors. `Exec4` is for the Ethereum address manager alone, network version 18 on. */
export const InitMethod = { Exec: 2n, Exec4: 3n } as const
/** The implicit message that ends each epoch, from the system actor. */
export const CronMethod = { EpochTick: 2n } as const
/** `AwardBlockReward` is the implicit message of each block, from the system actor; the power actor sends `UpdateNetworkKPI`. */
export const RewardMethod = { AwardBlockReward: 2n, ThisEpochReward: 3n, UpdateNetworkKPI: 4n } as const
/** `Propose`, `Approve` and `Cancel` are for signers; the others a multisig only takes from itself, as a proposal. */
export const MultisigMethod = {
  Propose: 2n,
  Approve: 3n,
  Cancel: 4n,
  AddSigner: 5n,
  RemoveSigner: 6n,
  SwapSigner: 7n,
} as const
/** Vouchers are redeemed by `UpdateChannelState`; `Collect` pays out 12 hours after `Settle`. */
export const PaychMethod = { UpdateChannelState: 2n, Settle: 3n, Collect: 4n } as const
/** Of the cron actor each epoch. */
export const MarketMethod = { CronTick: 9n } as const
/** `OnEpochTickEnd` comes from the cron actor, `UpdatePledgeTotal` from miners. */
export const PowerMethod = { OnEpochTickEnd: 5n, UpdatePledgeTotal: 6n, CurrentTotalPower: 9n } as const
/** `OnDeferredCronEvent` comes from the power actor, `ApplyRewards` from the reward actor. */
export const MinerMethod = { OnDeferredCronEvent: 12n, ApplyRewards: 14n } as const
/** What makes contracts: `CreateExternal` for accounts, the others for contracts. Network version 18 on. @see FIP-0055 */
export const EamMethod = { Create: 2n, Create2: 3n, CreateExternal: 4n } as const
/** Of contracts, network version 18 on. @see builtin-actors actors/evm/src/lib.rs Method; FIP-0054 */
export const EvmMethod = {
  Resurrect: 2n,
  GetBytecode: 3n,
  GetStorageAt: 5n,
  InvokeContractDelegate: 6n,
  /** FRC-42 number of `InvokeEVM`, for every call of a contract. */
  InvokeContract: 3844450837n,
} as const
