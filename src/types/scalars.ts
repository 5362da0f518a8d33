/**
 * The numbers of the protocol, with Lotus' Go names for error texts.
 * 64-bit numbers that may exceed 2^53 are `bigint`, everything else is `number`.
 */
import { bigInt } from '../codec/bigInteger.ts'
import { type Codec, i64, int, u64, uint } from '../codec/description.ts'
import { named } from '../codec/goJson.ts'

/** An epoch; null rounds count. Negative before genesis. */
export type ChainEpoch = number
/** An epoch that somebody chose and nobody checks, of a lock that shall never end say: any signed number of 64 bits. */
export type ChosenEpoch = bigint
/** Number of an actor. */
export type ActorId = bigint
/** Number of a method: 0 a plain transfer, 1 the constructor, from 2^24 on a hash of its name (FRC-0042). */
export type MethodNum = bigint
/** AttoFIL: 10^-18 FIL. */
export type TokenAmount = bigint
/** 0 is success, 1 to 15 the machine's own, 16 on the actors'. @see ref-fvm shared/src/error/mod.rs ExitCode */
export type ExitCode = number
/** The next message number of an actor. */
export type Nonce = bigint

/** AttoFIL in one FIL. */
export const ATTO_PER_FIL: bigint = 10n ** 18n

export const chainEpoch: Codec<ChainEpoch> = named(int, 'abi.ChainEpoch')
export const chosenEpoch: Codec<ChosenEpoch> = named(i64, 'abi.ChainEpoch')
export const actorId: Codec<ActorId> = named(u64, 'abi.ActorID')
export const methodNum: Codec<MethodNum> = named(u64, 'abi.MethodNum')
export const tokenAmount: Codec<TokenAmount> = bigInt
export const exitCode: Codec<ExitCode> = named(int, 'exitcode.ExitCode')
export const nonce: Codec<Nonce> = u64
/** Units of gas, whole. */
export const gas: Codec<bigint> = i64
/** The protocol's version, 0 at mainnet's genesis: it selects rules, gas and actors. @see go-state-types network/version.go */
export const networkVersion: Codec<number> = named(uint, 'network.Version')
