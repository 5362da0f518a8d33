/**
 * Numbers of the protocol that no network changes. What networks set for themselves is in `ProtocolParameters`.
 * @see lotus build/buildconstants/params_shared_vals.go
 */
import { ATTO_PER_FIL, type ChainEpoch, type TokenAmount } from './scalars.ts'

/** Epochs after which a tipset is taken for final whatever happens. @see lotus policy.ChainFinality */
export const CHAIN_FINALITY: ChainEpoch = 900
/** Epochs of 30 seconds in a day; a miner's proving period, on networks with other epochs too. */
export const EPOCHS_PER_DAY: ChainEpoch = 2880
/** Blocks that are expected in an epoch. */
export const BLOCKS_PER_EPOCH = 5n
/** Units of gas that the messages of a block may ask for together. */
export const BLOCK_GAS_LIMIT = 10_000_000_000n
/** Units of gas that a block should use. */
export const BLOCK_GAS_TARGET = 5_000_000_000n
/** Messages of one block. */
export const BLOCK_MESSAGE_LIMIT = 10_000
/** Bytes of one byte string in a message or a header: none is read that has more. @see cbor-gen gen.go ByteArrayMaxLen */
export const MAX_BYTE_STRING = 2_097_152
/** AttoFIL per unit of gas, below which the base fee never falls, nor a fee cap may be. */
export const MINIMUM_BASE_FEE: TokenAmount = 100n
/** Every FIL that can exist, attoFIL. */
export const TOTAL_FILECOIN: TokenAmount = 2_000_000_000n * ATTO_PER_FIL
