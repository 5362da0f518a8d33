import { concatBytes, toHex } from '../base/bytes.ts'
import { Lru } from '../base/lru.ts'
import { blake2b256 } from '../crypto/blake2b.ts'
import type { verifyAggregateSteps } from '../crypto/bls.ts'
import type { Address } from '../types/address.ts'
import { type SignedMessage, signedMessageCid } from '../types/signedMessage.ts'
import { authenticateMessage } from '../types/verifySignature.ts'
import { CHECKED_AGGREGATES, CHECKED_SIGNATURES } from './limits.ts'

/**
 * Signatures of messages that were checked, and what came of them. The blocks of a tipset share messages, a block that
 * fails among others is checked again by itself, and whoever makes one bad block makes more of the same messages.
 */
export class CheckedSignatures {
  /** true: it is good. */
  readonly #verdicts = new Lru<string, true | Error>(CHECKED_SIGNATURES)

  /** Of aggregates over the messages of blocks, by digest of all that they are checked with. */
  readonly #aggregates = new Lru<string, boolean>(CHECKED_AGGREGATES)

  /** Whether an aggregate is good. @param check - takes a millisecond for each of up to 10,000 messages; its steps may end it */
  async aggregate(
    [signature, messages, publicKeys]: Parameters<typeof verifyAggregateSteps>,
    check: () => Promise<boolean>,
  ): Promise<boolean> {
    const key = toHex(blake2b256(concatBytes(signature, ...messages, ...publicKeys)))
    const known = this.#aggregates.get(key)
    if (known !== undefined) return known
    const verdict = await check()
    this.#aggregates.set(key, verdict)
    return verdict
  }

  /** @throws what {@link authenticateMessage} throws, also when it did so before */
  authenticate(signed: SignedMessage, signer: Address, chainId: bigint): void {
    const key = signedMessageCid(signed).key + signer.key
    let verdict = this.#verdicts.get(key)
    if (verdict === undefined) {
      verdict = verdictOf(signed, signer, chainId)
      this.#verdicts.set(key, verdict)
    }
    if (verdict !== true) throw verdict
  }

  /** The failure of a signature that was checked before; undefined: it is good, or not known. */
  knownFailure(signed: SignedMessage, signer: Address): Error | undefined {
    const verdict = this.#verdicts.get(signedMessageCid(signed).key + signer.key)
    return verdict === true ? undefined : verdict
  }
}

function verdictOf(signed: SignedMessage, signer: Address, chainId: bigint): true | Error {
  try {
    authenticateMessage(signed, signer, chainId)
    return true
  } catch (error) {
    if (error instanceof Error) return error
    throw error
  }
}
