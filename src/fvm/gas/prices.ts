/**
 * The price tables: Skyr (nv 16, 17), Hygge (18 to 20), Watermelon (21 to 24), Teep (25 to 29). Whole gas unless the name
 * says milligas. FIPs name where a number came from.
 * @see ref-fvm fvm/src/gas/price_list.rs, branches release/v2, release/v3, master
 */

/** Seal proof types with prices of their own. @see ref-fvm shared/src/sector/registered_proof.rs */
export const SEAL_32GIB_V1_1 = 8
const SEAL_64GIB_V1_1 = 9
export const SEAL_32GIB_NI_POREP = 18
export const SEAL_64GIB_NI_POREP = 19

/** Price of verifying an aggregate of n seals: n times `perProof`, plus the cost of the last step that starts at or below n. */
export interface AggregateSealPrice {
  readonly perProof: number
  /** [first n, cost], ascending. */
  readonly steps: readonly (readonly [start: number, cost: number])[]
}

/** Flat, and per byte or item. */
export interface ScalingPrice {
  readonly flat: number
  readonly scale: number
}

/** Prices of proofs, the same structure in every table. */
export interface ProofPrices {
  readonly computeUnsealedSectorCid: number
  readonly verifySeal: number
  /** By seal proof type; a type that is not listed costs as 32 GiB V1_1. */
  readonly verifyAggregateSeals: Readonly<Record<number, AggregateSealPrice>>
  readonly verifyReplicaUpdate: number
  /** Per challenged sector. */
  readonly verifyPost: ScalingPrice
  readonly verifyConsensusFault: number
}

// FIP-0013, FIP-0025: batched proofs.
const AGGREGATE_32: AggregateSealPrice = {
  perProof: 449_900,
  steps: [
    [4, 103_994_170],
    [7, 112_356_810],
    [13, 122_912_610],
    [26, 137_559_930],
    [52, 162_039_100],
    [103, 210_960_780],
    [205, 318_351_180],
    [410, 528_274_980],
  ],
}
const AGGREGATE_64: AggregateSealPrice = {
  perProof: 359_272,
  steps: [
    [4, 102_581_240],
    [7, 110_803_030],
    [13, 120_803_700],
    [26, 134_642_130],
    [52, 157_357_890],
    [103, 203_017_690],
    [205, 304_253_590],
    [410, 509_880_640],
  ],
}
// FIP-0092: one non-interactive sector costs as an aggregate of 126 interactive proofs.
const AGGREGATE_NI_32: AggregateSealPrice = {
  perProof: 44_990 * 126,
  steps: [
    [1, 112_356_810],
    [2, 122_912_610],
    [3, 137_559_930],
    [5, 162_039_100],
    [9, 210_960_780],
    [17, 318_351_180],
    [33, 528_274_980],
  ],
}
const AGGREGATE_NI_64: AggregateSealPrice = {
  perProof: 35_928 * 126,
  steps: [
    [1, 110_803_030],
    [2, 120_803_700],
    [3, 134_642_130],
    [5, 157_357_890],
    [9, 203_017_690],
    [17, 304_253_590],
    [33, 509_880_640],
  ],
}

/** FVM 2. */
export interface SkyrPrices extends ProofPrices {
  /** Gas per byte of storage. */
  readonly storageMultiplier: number
  readonly chainMessageCompute: number
  /** Bytes that count beside a message's own. */
  readonly chainMessageOverheadBytes: number
  readonly send: number
  readonly transfer: number
  readonly transferOnly: number
  readonly invoke: number
  readonly createActorCompute: number
  readonly createActorBytes: number
  readonly verifyBls: number
  readonly verifySecp: number
  readonly recoverSecp: number
  readonly hashing: number
  readonly blockOpen: number
  readonly blockRetentionPerByte: number
  readonly blockCopyMilligasPerByte: number
  readonly blockLink: number
  readonly blockLinkBytesPerByte: number
  /** Crossing to the node. */
  readonly extern: number
}

/** Network versions 16 and 17. @see FIP-0032 (gas for the FVM) */
export const SKYR: SkyrPrices = {
  storageMultiplier: 1300,
  chainMessageCompute: 38_863,
  chainMessageOverheadBytes: 36,
  send: 29_233,
  transfer: 27_500,
  transferOnly: 159_672,
  invoke: -5_377,
  createActorCompute: 1_108_454,
  createActorBytes: 36 + 40,
  verifyBls: 16_598_605,
  verifySecp: 1_637_292,
  recoverSecp: 1_637_292,
  hashing: 31_355,
  computeUnsealedSectorCid: 98_647,
  verifySeal: 2_000,
  verifyAggregateSeals: { [SEAL_32GIB_V1_1]: AGGREGATE_32, [SEAL_64GIB_V1_1]: AGGREGATE_64 },
  verifyReplicaUpdate: 36_316_136,
  verifyPost: { flat: 117_680_921, scale: 43_780 },
  verifyConsensusFault: 495_422,
  blockOpen: 114_617,
  blockRetentionPerByte: 10,
  blockCopyMilligasPerByte: 500,
  blockLink: 353_640,
  blockLinkBytesPerByte: 1,
  extern: 21_000,
}

/** Hash functions with prices of their own, per byte. */
export interface HashPrices {
  readonly sha256: number
  readonly blake2b: number
  readonly keccak256: number
  readonly ripemd160: number
}

/** FVM 3 and 4. */
export interface HyggePrices extends ProofPrices {
  readonly chainMessageCompute: number
  readonly chainMessageStorage: ScalingPrice
  readonly chainReturnPerByte: number
  readonly transfer: number
  readonly invoke: number
  readonly actorLookup: number
  readonly actorUpdate: number
  readonly actorCreate: number
  readonly addressLookup: number
  readonly addressAssignment: number
  readonly verifySecp: ScalingPrice
  readonly verifyBls: ScalingPrice
  readonly recoverSecp: number
  readonly hashing: HashPrices
  readonly blockOpen: number
  readonly blockAllocatePerByte: number
  readonly blockCopyMilligasPerByte: number
  readonly blockRetentionPerByte: number
  readonly blockPersistStorage: ScalingPrice
  readonly blockPersistCompute: number
  /** FVM 3. */
  readonly randomnessSeed: number
  /** FVM 3: the previous epoch, and older ones. */
  readonly tipsetCidLatest: number
  readonly tipsetCidHistorical: number
  /** FVM 3. */
  readonly eventValidation: ScalingPrice
  /** FVM 4: randomness and tipset CIDs, per epoch of lookback. */
  readonly lookback: ScalingPrice
  /** FVM 4. */
  readonly blsPairing: number
  readonly blsHashingPerByte: number
  /** FVM 4. */
  readonly eventEntries: ScalingPrice
  readonly eventKeyValidation: ScalingPrice
  /** FVM 4: CBOR item headers and links in a scanned block. */
  readonly scanPerField: number
  readonly scanPerCid: number
  /** FVM 4: a link that becomes reachable, a link that is checked for it. */
  readonly linkTracked: number
  readonly linkChecked: number
}

/** Network versions 18 to 20. @see FIP-0057 (gas for user programmability), FIP-0054 (EVM) */
export const HYGGE: HyggePrices = {
  chainMessageCompute: 38_863,
  chainMessageStorage: { flat: 36 * 1300, scale: 1300 },
  chainReturnPerByte: 1300,
  transfer: 6_000,
  invoke: 75_000,
  actorLookup: 500_000,
  actorUpdate: 475_000,
  actorCreate: 650_000,
  addressLookup: 1_050_000,
  addressAssignment: 1_000_000,
  verifySecp: { flat: 1_637_292, scale: 10 },
  verifyBls: { flat: 16_598_605, scale: 26 },
  recoverSecp: 1_637_292,
  hashing: { sha256: 7, blake2b: 10, keccak256: 33, ripemd160: 35 },
  computeUnsealedSectorCid: 98_647,
  verifySeal: 2_000,
  verifyAggregateSeals: SKYR.verifyAggregateSeals,
  verifyReplicaUpdate: 36_316_136,
  verifyPost: { flat: 117_680_921, scale: 43_780 },
  verifyConsensusFault: 516_422,
  blockOpen: 187_440,
  blockAllocatePerByte: 2,
  blockCopyMilligasPerByte: 400,
  blockRetentionPerByte: 10,
  blockPersistStorage: { flat: 334_000, scale: 3_340 },
  blockPersistCompute: 172_000,
  randomnessSeed: 21_000,
  tipsetCidLatest: 50_000,
  tipsetCidHistorical: 215_000,
  eventValidation: { flat: 1_750, scale: 25 },
  lookback: { flat: 0, scale: 0 },
  blsPairing: 0,
  blsHashingPerByte: 0,
  eventEntries: { flat: 0, scale: 0 },
  eventKeyValidation: { flat: 0, scale: 0 },
  scanPerField: 0,
  scanPerCid: 0,
  linkTracked: 0,
  linkChecked: 0,
}

/** Network versions 21 to 24. @see FIP-0071 (reachability), FIP-0072 (events), FIP-0075 (randomness), FIP-0079 (BLS aggregates) */
export const WATERMELON: HyggePrices = {
  ...HYGGE,
  lookback: { flat: 146_200, scale: 75 },
  blsPairing: 8_299_302,
  blsHashingPerByte: 7,
  eventEntries: { flat: 2_000, scale: 1_400 },
  eventKeyValidation: { flat: 500, scale: 16 },
  scanPerField: 35,
  scanPerCid: 400,
  linkTracked: 300,
  linkChecked: 300,
}

/** Network versions 25 to 29. @see FIP-0092 (NI-PoRep), FIP-0103 (single seals) */
export const TEEP: HyggePrices = {
  ...WATERMELON,
  verifySeal: 42_000_000,
  verifyAggregateSeals: {
    ...WATERMELON.verifyAggregateSeals,
    [SEAL_32GIB_NI_POREP]: AGGREGATE_NI_32,
    [SEAL_64GIB_NI_POREP]: AGGREGATE_NI_64,
  },
}

/** Any syscall, in milligas; equal in all lists. FIP-0032. @see ref-fvm PriceList on_syscall */
export const SYSCALL_MILLIGAS = 14_000_000

/** Actors whose lookup and update are free. FIP-0055. */
export const PRELOADED_ACTORS: readonly bigint[] = [0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n, 10n, 99n]
