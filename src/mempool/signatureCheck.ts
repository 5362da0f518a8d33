/** Checks signatures once, and keeps BLS signatures: blocks hold them only in aggregate, so a reorg needs ours. */
import { concatBytes, latin1 } from '../base/bytes.ts'
import { Lru } from '../base/lru.ts'
import { blockCid } from '../crypto/blockCid.ts'
import { type Message, messageCid } from '../types/message.ts'
import { SIGNATURE_BLS, SIGNATURE_DELEGATED, SIGNATURE_SECP256K1, type Signature } from '../types/signature.ts'
import type { SignedMessage } from '../types/signedMessage.ts'
import { MempoolError } from './errors.ts'
import { BLS_SIGNATURE_CACHE, VERIFIED_SIGNATURE_CACHE } from './limits.ts'
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
  assertValid(pooled: PooledMessage): void {
    const key = cacheKey(pooled)
    if (this.#verified.get(key) !== undefined) return
    const problem = this.#verifier.messageSignatureError(pooled.signed)
    if (problem !== undefined) throw invalid(`failed to validate signature: ${problem}`)
    this.#verified.set(key, true)
  }

  /** What this process signed itself is not verified. Ethereum's transactions are, which a message must match. */
  trust(pooled: PooledMessage): void {
    if (pooled.signed.signature.type !== SIGNATURE_DELEGATED) this.#verified.set(cacheKey(pooled), true)
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

function cacheKey(pooled: PooledMessage): string {
  const { type, data } = pooled.signed.signature
  if (type === SIGNATURE_SECP256K1 || type === SIGNATURE_DELEGATED) return pooled.cid.key
  if (type !== SIGNATURE_BLS) throw invalid(`unrecognized signature type: ${type}`)
  if (data.length !== BLS_SIGNATURE_BYTES) throw invalid('bls signature incorrectly sized')
  return latin1(blockCid(concatBytes(pooled.cid.bytes, data)).digest)
}

function invalid(reason: string): MempoolError {
  return new MempoolError('SIGNATURE_INVALID', `signature verification failed: ${reason}`)
}
