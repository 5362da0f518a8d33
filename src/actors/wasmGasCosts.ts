/**
 * Gas per feature of {@link ./wasmGas.ts}: written by scripts/fitWasmGas.ts, do not edit.
 */
export const WASM_GAS_COSTS = {
  /** Before the first system call: entry. */
  debug: 776,
  context: 348,
  stat: 472,
  /** Parameters: a buffer for them. */
  parameters: 1700,
  read: 700,
  resolve: 1500,
  type: 6636,
  link: 152,
  /** State root in hand, to opening its block. */
  open: 4990,
  setRoot: 5470,
  send: 700,
  sent: 3000,
  hashKey: 3000,
  end: 7000,
  decode: 15000,
  decodeByte: 250,
  encode: 15000,
  encodeByte: 250,
  /** One entry of a vesting table: decoded, merged, encoded. */
  vestingEntry: 30000,
  /** One null epoch of the reward schedule. */
  nullEpoch: 20000,
  /** Reward of an epoch. */
  mintEpoch: 1000000,
  /** Smoothing of the network's power. */
  powerEstimate: 170000,
  /** The placeholder's whole code. */
  placeholder: 20,
} as const
