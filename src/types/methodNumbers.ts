/**
 * Numbers of the methods that the node calls or looks for by itself. All methods, with their parameters: `state/methods`.
 * @see go-state-types builtin/methods.go
 */

/** A plain transfer. */
export const METHOD_SEND = 0n
export const METHOD_CONSTRUCTOR = 1n
/** Smaller numbers are for built-in actors only, from here on for everybody. @see FRC-0042 */
export const FIRST_EXPORTED_METHOD: bigint = 1n << 24n

export const AccountMethod = { PubkeyAddress: 2n } as const
export const InitMethod = { Exec: 2n, Exec4: 3n } as const
export const CronMethod = { EpochTick: 2n } as const
export const RewardMethod = { AwardBlockReward: 2n, ThisEpochReward: 3n, UpdateNetworkKPI: 4n } as const
export const MultisigMethod = {
  Propose: 2n,
  Approve: 3n,
  Cancel: 4n,
  AddSigner: 5n,
  RemoveSigner: 6n,
  SwapSigner: 7n,
} as const
export const PaychMethod = { UpdateChannelState: 2n, Settle: 3n, Collect: 4n } as const
export const MarketMethod = { CronTick: 9n } as const
export const PowerMethod = { OnEpochTickEnd: 5n, UpdatePledgeTotal: 6n, CurrentTotalPower: 9n } as const
export const MinerMethod = { OnDeferredCronEvent: 12n, ApplyRewards: 14n } as const
export const EamMethod = { Create: 2n, Create2: 3n, CreateExternal: 4n } as const
export const EvmMethod = {
  Resurrect: 2n,
  GetBytecode: 3n,
  GetStorageAt: 5n,
  InvokeContractDelegate: 6n,
  /** FRC-42 number of `InvokeEVM`, for every call of a contract. */
  InvokeContract: 3844450837n,
} as const
