/** The signed messages of blocks, as far as their signatures are known. */
import type { BlockHeader } from '../types/blockHeader.ts'
import type { SignedMessage } from '../types/signedMessage.ts'
import type { MempoolChain } from './ports.ts'
import type { SignatureCheck } from './signatureCheck.ts'

/**
 * Signed messages first, then the BLS ones whose signature the pool has seen.
 * @see lotus chain/messagepool/messagepool.go MessagesForBlocks
 */
export function signedMessagesOf(
  blocks: readonly BlockHeader[],
  chain: Pick<MempoolChain, 'blockMessages'>,
  signatures: SignatureCheck,
): SignedMessage[] {
  const result: SignedMessage[] = []
  for (const block of blocks) {
    const { bls, signed } = chain.blockMessages(block)
    for (const message of signed) result.push(message)
    for (const message of bls) {
      const recovered = signatures.recover(message)
      if (recovered !== undefined) result.push(recovered)
    }
  }
  return result
}
