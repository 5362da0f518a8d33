/**
 * What a head change does to pending messages: reverted tipsets give theirs back, applied ones take (sender, nonce) out
 * whatever the CID.
 * @see lotus chain/messagepool/messagepool.go HeadChange, runHeadChange
 */
import { finish, type Steps } from '../base/steps.ts'
import { blsChainMessage, type ChainMessage, signedChainMessage } from '../types/chainMessage.ts'
import type { Message } from '../types/message.ts'
import type { SignedMessage } from '../types/signedMessage.ts'
import type { Tipset } from '../types/tipset.ts'
import { signedMessagesOf } from './blockMessagesOf.ts'
import type { MempoolChain } from './ports.ts'
import type { SignatureCheck } from './signatureCheck.ts'

/** Tipsets to take back, newest first, and to put on, oldest first. */
export interface ReorgPath {
  readonly reverted: readonly Tipset[]
  readonly applied: readonly Tipset[]
}

/** The outcome for the pool. */
export interface ReorgMessages {
  /** Whose nonces the chain has used: they are to leave the pool. */
  readonly applied: readonly ChainMessage[]
  /** Messages of reverted tipsets that no applied tipset has. */
  readonly returned: readonly SignedMessage[]
}

/**
 * Reads the messages of both sides; changes nothing.
 * @param unread - hears why those of a tipset or a block cannot be read, which are left out. Default: that is thrown
 */
export function reorgMessages(
  path: ReorgPath,
  chain: MempoolChain,
  signatures: SignatureCheck,
  unread?: (error: unknown) => void,
): ReorgMessages {
  return finish(reorgSteps(path, chain, signatures, unread))
}

/** The same, with a step after each tipset. */
export function* reorgSteps(
  path: ReorgPath,
  chain: MempoolChain,
  signatures: SignatureCheck,
  unread?: (error: unknown) => void,
): Steps<ReorgMessages> {
  const returned = new Map<string, SignedMessage>()
  for (const tipset of path.reverted) {
    for (const signed of readable(() => signedMessagesOf(tipset.blocks, chain, signatures)) ?? []) {
      returned.set(nonceKey(signed.message), signed)
    }
    yield
  }
  const applied: ChainMessage[] = []
  for (const tipset of path.applied) {
    for (const block of tipset.blocks) {
      const { bls, signed } = readable(() => chain.blockMessages(block)) ?? { bls: [], signed: [] }
      for (const signedMessage of signed) take(signedChainMessage(signedMessage))
      for (const message of bls) take(blsChainMessage(message))
    }
    yield
  }
  return { applied, returned: [...returned.values()] }

  function readable<T>(read: () => T): T | undefined {
    try {
      return read()
    } catch (error) {
      if (unread === undefined) throw error
      unread(error)
      return undefined
    }
  }

  function take(message: ChainMessage): void {
    returned.delete(nonceKey(message.message))
    applied.push(message)
  }
}

function nonceKey(message: Message): string {
  return `${message.nonce}:${message.from.key}`
}
