/**
 * Gas per feature of `wasmGas.ts`. Fitted by `scripts/fitWasmGas.ts`, which prints this table; change it by running that.
 */
export const WASM_GAS_COSTS = {
  /** Entry, up to the first system call. */
  debug: 728,
  context: 348,
  stat: 472,
  /** A buffer for the parameters. */
  parameters: 1642,
  read: 730,
  resolve: 9355,
  type: 6694,
  link: 152,
  /** From the root's CID to opening its block. */
  open: 4991,
  setRoot: 5604,
  send: 0,
  sent: 321,
  hashKey: 8074,
  end: 8159,
  /** Parameters and returned values, decoded. */
  receivedBlock: 9985,
  receivedBlockByte: 34,
  /** The same, encoded. */
  sentBlock: 8607,
  sentBlockByte: 189,
  /** A state, decoded. */
  state: 42870,
  stateByte: 67,
  stateWritten: 52486,
  stateWrittenByte: 66,
  /** A node of a HAMT or AMT. */
  node: 32216,
  nodeByte: 389,
  nodeWritten: 21969,
  nodeWrittenByte: 88,
  /** One entry of a vesting table: decoded, merged, encoded. */
  vestingEntry: 12355,
  /** The same, let go. */
  vestingEntryDropped: 721,
  /** One null epoch of the reward schedule. */
  nullEpoch: 0,
  /** Reward of an epoch. */
  mintEpoch: 1067495,
  /** Smoothing of the network's power. */
  powerEstimate: 119836,
  /** A new miner's deposit. */
  pledge: 500000,
  /** The placeholder's whole code. */
  placeholder: 60,
} as const
