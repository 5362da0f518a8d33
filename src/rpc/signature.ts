/**
 * A method without its handler: what the server's row and the typed client share. A signature imports codecs alone, so a
 * page that asks ten methods does not carry the node's handlers.
 */
import type { Codec } from '../codec/description.ts'
import type { MethodFacts, Param } from './method.ts'

/** Why a call that signs has no deadline: what was confirmed behind its back would be sent, and the caller would send it once more. */
export const SIGNER_MAY_ASK = 'its signer may ask a person'

/** A method that answers once. */
export interface CallSignature<P extends readonly Param<unknown>[], R> extends MethodFacts {
  readonly kind: 'call'
  readonly params: P
  readonly result: Codec<R>
  readonly cacheResult?: boolean
}

/** A method whose result is a stream of values. */
export interface ChannelSignature<P extends readonly Param<unknown>[], R> extends MethodFacts {
  readonly kind: 'channel'
  readonly params: P
  /** Codec of one value. */
  readonly result: Codec<R>
}

/** A signature whose types follow its codecs; `method({ ...signature, handler })` makes the row of it. */
export function callSignature<const P extends readonly Param<unknown>[], R>(
  spec: Omit<CallSignature<P, R>, 'kind'>,
): CallSignature<P, R> {
  return { ...spec, kind: 'call' }
}

/** Like {@link callSignature}, for `channelMethod`. */
export function channelSignature<const P extends readonly Param<unknown>[], R>(
  spec: Omit<ChannelSignature<P, R>, 'kind'>,
): ChannelSignature<P, R> {
  return { ...spec, kind: 'channel' }
}

/** A method that takes fewer parameters than it names. */
export interface RawSignature<P extends readonly Param<unknown>[], R> extends MethodFacts {
  readonly kind: 'raw'
  readonly params: P
  readonly result: Codec<R>
}

/** Like {@link callSignature}, for `rawMethod`. */
export function rawSignature<const P extends readonly Param<unknown>[], R>(
  spec: Omit<RawSignature<P, R>, 'kind'>,
): RawSignature<P, R> {
  return { ...spec, kind: 'raw' }
}
