/**
 * What differs between the machine's major versions, apart from prices. One machine, these parameters.
 * @see ref-fvm branches release/v2 (nv 16, 17), release/v3 (18 to 20), master (21 on)
 */
import { CODEC_CBOR, CODEC_DAG_CBOR, CODEC_RAW } from '../codec/cid.ts'
import { Exit } from '../types/exitCodes.ts'
import { CHAIN_FINALITY } from '../types/protocol.ts'
import type { ActorId, TokenAmount } from '../types/scalars.ts'
import { VmError } from './errors.ts'
import { filText } from './filText.ts'

/** The rules of one network version, as {@link vmRulesAt} gives them. */
export interface VmRules {
  readonly major: 2 | 3 | 4
  /** Calls that may be open at once, the top one included. */
  readonly maxCallDepth: number
  /** Actor lookups and updates, address resolution are tracked and charged. */
  readonly chargesStateAccess: boolean
  /** Blocks are scanned for links and only what is reachable may be opened. FIP-0071. */
  readonly tracksReachability: boolean
  /** Placeholders, f410 addresses, Ethereum accounts. FIP-0048. */
  readonly hasPlaceholders: boolean
  /** Codecs that a block may have. */
  readonly blockCodecs: readonly number[]
  /** Bytes of the largest block that an actor may create; undefined: no limit of its own. */
  readonly maxBlockSize: number | undefined
  /** Codec of a message's parameters, and of those of method 0. */
  readonly paramsCodec: number
  readonly sendParamsCodec: number
  /** Bytes that all live instances of a message may hold; undefined: not counted. */
  readonly maxMemoryBytes: number | undefined
  /** Whether a call with its own gas limit that is refused for its depth leaves that limit in force, as FVM 3 does. */
  readonly keepsLimitOnDepthError: boolean
  /** One price for transfer and code together, paid before both; else each has its own. */
  readonly paysSendAtOnce: boolean
  /** Whether every seal of a batch is charged for. */
  readonly chargesBatchedSeals: boolean
  /** Whether a new f2 address counts when it is given out; else when its actor is created. */
  readonly countsAddressesGiven: boolean
  /** From so many epochs back on a tipset's CID is refused. */
  readonly maxTipsetLookback: number
  /** Whether a backtrace also has calls that exited with 0 and implicit constructors. */
  readonly backtracesAll: boolean
  /** Whether syscalls that cost nothing stand in traces with a charge of 0. */
  readonly tracesFreeSyscalls: boolean
  readonly proofTypes: ProofTypeRules
  readonly trace: TraceRules
  readonly texts: RefusalTexts
}

/**
 * Registered types that proofs and sectors may have; all others are `Invalid`, which no proof is verified for.
 * @see ref-fvm shared/src/sector/registered_proof.rs i64_conversion of fvm_shared 2.12.1, 3.14.1 and 4.8.2
 */
export interface ProofTypeRules {
  /** RegisteredPoStProof of window PoSt, first and last. V1 is 5 to 9, V1_1 10 to 14. */
  readonly windowPoSt: readonly [first: number, last: number]
  /** Last RegisteredSealProof: 9 is V1_1, 14 synthetic, 19 non-interactive. */
  readonly lastSeal: number
}

/** What a call's trace shows. */
export interface TraceRules {
  /** The codec of parameters and results that are there and empty. */
  readonly emptyBlocks: boolean
  /** The gas that the call may use; else the message's limit. */
  readonly ownGasLimit: boolean
  readonly invokedActor: boolean
  readonly ipldOps: boolean
  /** Exit code of a call that ran out of gas. */
  readonly outOfGasExit: number
}

/** Texts of refusals, which clients read in error messages. */
export interface RefusalTexts {
  readonly noCode: string
  readonly noSender: (value: TokenAmount, from: ActorId, to: ActorId) => string
  readonly noReceiver: (to: ActorId) => string
}

const VALID_CODECS = [CODEC_CBOR, CODEC_DAG_CBOR, CODEC_RAW]
const MEBIBYTE = 2 ** 20

const FVM_4: VmRules = {
  major: 4,
  maxCallDepth: 1024,
  chargesStateAccess: true,
  tracksReachability: true,
  hasPlaceholders: true,
  blockCodecs: VALID_CODECS,
  maxBlockSize: MEBIBYTE,
  paramsCodec: CODEC_CBOR,
  sendParamsCodec: CODEC_RAW,
  maxMemoryBytes: 2048 * MEBIBYTE,
  keepsLimitOnDepthError: false,
  paysSendAtOnce: false,
  chargesBatchedSeals: true,
  countsAddressesGiven: false,
  maxTipsetLookback: Number.POSITIVE_INFINITY,
  backtracesAll: false,
  tracesFreeSyscalls: true,
  proofTypes: { windowPoSt: [10, 14], lastSeal: 19 },
  trace: {
    emptyBlocks: true,
    ownGasLimit: true,
    invokedActor: true,
    ipldOps: true,
    outOfGasExit: Exit.SYS_OUT_OF_GAS,
  },
  texts: {
    noCode: 'actor not found',
    noSender: (value, from, to) => `insufficient funds to transfer ${filText(value)}FIL from ${from} to ${to})`,
    noReceiver: (to) => `transfer recipient ${to} does not exist in state-tree`,
  },
}

const FVM_3: VmRules = {
  ...FVM_4,
  major: 3,
  tracksReachability: false,
  keepsLimitOnDepthError: true,
  maxTipsetLookback: CHAIN_FINALITY,
  proofTypes: { windowPoSt: [5, 14], lastSeal: 14 },
  trace: { ...FVM_4.trace, ipldOps: false },
}

const FVM_2: VmRules = {
  major: 2,
  // The top call does not count there.
  maxCallDepth: 1025,
  chargesStateAccess: false,
  tracksReachability: false,
  hasPlaceholders: false,
  blockCodecs: [CODEC_DAG_CBOR],
  maxBlockSize: undefined,
  paramsCodec: CODEC_DAG_CBOR,
  sendParamsCodec: CODEC_DAG_CBOR,
  maxMemoryBytes: undefined,
  keepsLimitOnDepthError: false,
  paysSendAtOnce: true,
  chargesBatchedSeals: false,
  countsAddressesGiven: true,
  maxTipsetLookback: Number.POSITIVE_INFINITY,
  backtracesAll: true,
  tracesFreeSyscalls: false,
  proofTypes: { windowPoSt: [5, 9], lastSeal: 9 },
  trace: {
    emptyBlocks: false,
    ownGasLimit: false,
    invokedActor: false,
    ipldOps: false,
    // The reference gives the trace a syscall error "out of gas", which Lotus shows so.
    outOfGasExit: Exit.SYS_ASSERTION_FAILED,
  },
  texts: {
    noCode: 'target actor not found',
    noSender: () => 'cannot transfer from non-existent sender',
    noReceiver: () => 'cannot transfer to non-existent receiver',
  },
}

/** The first network version that ran actors on the FVM: what was before it cannot be executed here. */
export const FIRST_NETWORK_VERSION = 16

/** @throws VmError `UNSUPPORTED_NETWORK_VERSION` below 16 and above 29 */
export function vmRulesAt(networkVersion: number): VmRules {
  if (networkVersion === FIRST_NETWORK_VERSION || networkVersion === 17) return FVM_2
  if (networkVersion >= 18 && networkVersion <= 20) return FVM_3
  if (networkVersion >= 21 && networkVersion <= 29) return FVM_4
  throw new VmError(
    'UNSUPPORTED_NETWORK_VERSION',
    `not supported: network version ${networkVersion}, expected 16 to 29`,
    {
      networkVersion,
    },
  )
}
