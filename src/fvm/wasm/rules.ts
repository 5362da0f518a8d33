/**
 * How a module is instrumented: everything in which fvm-wasm-instrument 0.2.0 (FVM 2) and 0.4.0 (FVM 3, 4) differ, and
 * the prices, as data.
 */

/** Prices of an operation whose cost grows with its operand, in milligas. */
export interface LinearPrices {
  /** memory.grow, per 64 KiB page */
  readonly memoryGrow: number
  /** memory.init, memory.copy, memory.fill, per byte */
  readonly memoryBytes: number
  /** table.init, table.copy, table.fill, table.grow, per element */
  readonly tableElements: number
}

/** The rules of one version of the machine, and its prices in milligas. */
export interface InstrumentationRules {
  /** names the rules in cache keys: changes whenever the output could */
  readonly name: string
  /** the imported gas counter, `gas.<this>` */
  readonly gasCounter: string
  /** units of the stack limiter */
  readonly stackLimit: number
  /** what declared locals cost: one unit each, or one unit per run of one type in the code section */
  readonly localsCost: 'each' | 'group'
  /** whether a br_table's default label counts as a branch target when blocks of code are merged */
  readonly branchTableDefault: boolean
  /** whether exported globals follow the shift that the imported counter causes (0.4.0 computes and drops it) */
  readonly shiftExportedGlobals: boolean
  /** milligas of every instruction that isn't free */
  readonly instruction: number
  /** `undefined`: these operations cost what every instruction costs */
  readonly linear: LinearPrices | undefined
  /** sign extension, saturating conversions, table instructions, function references, element segments with flags */
  readonly newerInstructions: boolean
  /**
   * FVM 2's decoder (parity-wasm 0.42) takes one index after memory.copy and table.copy and reads the second one, always
   * 0, as the instruction `unreachable`: free, and written back as it was, but the stack limiter then thinks the rest of
   * the block unreachable. memory.init and table.init lose an index too, so only segment 0 decodes.
   */
  readonly oneBulkIndex: boolean
  /** refuses a module without function and code sections */
  readonly needsFunctions: boolean
  /**
   * Whether the module takes its memory from the host and keeps to its own part of it by checks in front of every access.
   * Costs speed, not gas. For hosts that have fewer memories than a message has nested calls, see WasmEngine.
   */
  readonly hostMemory: boolean
  /** pages of 64 KiB that an instance may have */
  readonly maxMemoryPages: number
  /** elements that a table may have */
  readonly maxTableElements: number
  /** tables that a module may define */
  readonly maxTables: number
}

/**
 * FVM 2: network versions 16 and 17.
 * @see ref-fvm release/v2 fvm/src/gas/price_list.rs `impl Rules for WasmGasPrices`; fvm-wasm-instrument 0.2.0
 */
export const FVM2_RULES: InstrumentationRules = {
  name: 'fvm2',
  gasCounter: 'gas_couner',
  stackLimit: 2048,
  localsCost: 'each',
  branchTableDefault: true,
  shiftExportedGlobals: true,
  instruction: 4000,
  linear: undefined,
  newerInstructions: false,
  oneBulkIndex: true,
  needsFunctions: false,
  hostMemory: false,
  maxMemoryPages: 65_536,
  maxTableElements: 0xffff_ffff,
  maxTables: 100,
}

/**
 * FVM 3 and 4: network versions 18 to 28.
 * @see ref-fvm fvm/src/gas/price_list.rs `impl Rules for WasmGasPrices`; fvm/src/engine/mod.rs `wasmtime_config`;
 *   fvm-wasm-instrument 0.4.0
 */
export const FVM4_RULES: InstrumentationRules = {
  name: 'fvm4',
  gasCounter: 'gas_counter',
  stackLimit: 2048,
  localsCost: 'group',
  branchTableDefault: false,
  shiftExportedGlobals: false,
  instruction: 4000,
  linear: { memoryGrow: 26_214_400, memoryBytes: 400, tableElements: 3200 },
  newerInstructions: true,
  oneBulkIndex: false,
  needsFunctions: true,
  hostMemory: false,
  maxMemoryPages: 8192,
  maxTableElements: 20_000,
  maxTables: 1,
}

/** {@link FVM4_RULES} for modules that run in memory of the host. */
export const FVM4_HOST_MEMORY_RULES: InstrumentationRules = {
  ...FVM4_RULES,
  name: 'fvm4-host-memory',
  hostMemory: true,
}
