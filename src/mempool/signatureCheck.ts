/** Checks signatures once, and keeps BLS signatures: blocks hold them only in aggregate, so a reorg needs ours. */
import { concatBytes, latin1 } from '../base/bytes.ts'
import { Lru } from '../base/lru.ts'
import { blockCid } from '../crypto/blockCid.ts'
import { PROTOCOL_BLS } from '../types/address.ts'
import { type Message, messageCid } from '../types/message.ts'
import { SIGNATURE_BLS, SIGNATURE_DELEGATED, SIGNATURE_SECP256K1, type Signature } from '../types/signature.ts'
import { type SignedMessage, signedMessageCid } from '../types/signedMessage.ts'
import { MempoolError } from './errors.ts'
import { BLS_SIGNATURE_CACHE, MESSAGES_AHEAD, SIGNATURES_AHEAD, VERIFIED_SIGNATURE_CACHE } from './limits.ts'
import type { PooledMessage } from './pooledMessage.ts'
import type { MessageVerifier } from './ports.ts'

const BLS_SIGNATURE_BYTES = 96

/** @see lotus chain/messagepool/messagepool.go VerifyMsgSig, RecoverSig */
export class SignatureCheck {
  readonly #verifier: MessageVerifier
  readonly #verified = new Lru<string, true>(VERIFIED_SIGNATURE_CACHE)
  readonly #bls = new Lru<string, Signature>(BLS_SIGNATURE_CACHE)

  constructor(verifier: MessageVerifier) {
    this.#verifier = verifier
  }

  /** @throws {@link MempoolError} `SIGNATURE_INVALID` */
  assertValid({ signed }: PooledMessage): void {
    const key = cacheKey(signed)
    if (this.#verified.get(key) !== undefined) return
    const problem = this.#verifier.messageSignatureError(signed)
    if (problem !== undefined) throw invalid(`failed to validate signature: ${problem}`)
    this.#verified.set(key, true)
  }

  /**
   * Verifies BLS signatures of messages whose turn comes soon, many in one check. One that is wrong is none's business but
   * its own: then nothing is known of any of them, and each is judged at its turn.
   * @returns how many of the messages were looked at, at least one
   */
  verifyAhead(coming: readonly SignedMessage[]): number {
    const together = new Map<string, SignedMessage>()
    let seen = 0
    while (seen < coming.length && seen < MESSAGES_AHEAD && together.size < SIGNATURES_AHEAD) {
      const signed = coming[seen++] as SignedMessage
      if (!isBlsMessage(signed)) continue
      const key = cacheKey(signed)
      if (this.#verified.get(key) === undefined) together.set(key, signed)
    }
    if (together.size > 1 && this.#verifier.areBlsMessagesValid([...together.values()])) {
      for (const key of together.keys()) this.#verified.set(key, true)
    }
    return seen
  }

  /** What this process signed itself is not verified. Ethereum's transactions are, which a message must match. */
  trust(pooled: PooledMessage): void {
    if (pooled.signed.signature.type !== SIGNATURE_DELEGATED) this.#verified.set(cacheKey(pooled.signed), true)
  }

  /** Keeps the signature of a message that entered the pool. */
  remember(pooled: PooledMessage): void {
    const { type, data } = pooled.signed.signature
    // A copy: the signature is a view of its whole message, which need not be kept.
    if (type === SIGNATURE_BLS) this.#bls.set(pooled.cid.key, { type, data: data.slice() })
  }

  /** A BLS message of a block with the signature that it came with; undefined when we never saw it. */
  recover(message: Message): SignedMessage | undefined {
    const signature = this.#bls.get(messageCid(message).key)
    return signature === undefined ? undefined : { message, signature }
  }
}

function cacheKey(signed: SignedMessage): string {
  const { type, data } = signed.signature
  const cid = signedMessageCid(signed)
  if (type === SIGNATURE_SECP256K1 || type === SIGNATURE_DELEGATED) return cid.key
  if (type !== SIGNATURE_BLS) throw invalid(`unrecognized signature type: ${type}`)
  if (data.length !== BLS_SIGNATURE_BYTES) throw invalid('bls signature incorrectly sized')
  return latin1(blockCid(concatBytes(cid.bytes, data)).digest)
}

function isBlsMessage({ message, signature }: SignedMessage): boolean {
  const isSized = signature.type === SIGNATURE_BLS && signature.data.length === BLS_SIGNATURE_BYTES
  return isSized && message.from.protocol === PROTOCOL_BLS && !message.to.isUndefined
}

function invalid(reason: string): MempoolError {
  return new MempoolError('SIGNATURE_INVALID', `signature verification failed: ${reason}`)
}
