/**
 * What differs between the machine's major versions, apart from prices. One machine, these parameters.
 * @see ref-fvm branches release/v2 (nv 16, 17), release/v3 (18 to 20), master (21 on)
 */
import { CODEC_CBOR, CODEC_DAG_CBOR, CODEC_RAW } from '../codec/cid.ts'
import { VmError } from './errors.ts'

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
  /** Exit code of a call that ran out of gas, in its trace. */
  readonly outOfGasTraceExit: number
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
  outOfGasTraceExit: 7,
}

const FVM_3: VmRules = { ...FVM_4, major: 3, tracksReachability: false, keepsLimitOnDepthError: true }

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
  // The reference gives the trace a syscall error "out of gas", which Lotus shows as SYS_ASSERTION_FAILED.
  outOfGasTraceExit: 10,
}

/** @throws VmError `UNSUPPORTED_NETWORK_VERSION` below 16 and above 29 */
export function vmRulesAt(networkVersion: number): VmRules {
  if (networkVersion === 16 || networkVersion === 17) return FVM_2
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
