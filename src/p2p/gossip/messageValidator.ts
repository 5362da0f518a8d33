/**
 * The validator of the messages topic: what the pool takes is passed on.
 * @see lotus chain/sub/incoming.go MessageValidator.Validate
 */
import { errorMessage } from '../../base/errors.ts'
import type { Logger } from '../../base/ports.ts'
import { CborReader } from '../../codec/cborReader.ts'
import { CodecError } from '../../codec/errors.ts'
import type { BlockEdge } from '../../ipld/blockFetcher.ts'
import { gossipVerdict, MempoolError } from '../../mempool/errors.ts'
import type { MessagePool } from '../../mempool/messagePool.ts'
import { type SignedMessage, signedMessage } from '../../types/signedMessage.ts'
import type { GossipMessage } from '../pubSub.ts'
import type { Refusal } from './readBlockMsg.ts'

/** The pool, which decides. */
export interface MessageValidatorDeps {
  readonly pool: Pick<MessagePool, 'add'>
  /** Runs a read of state, fetching what it misses. */
  readonly readState: BlockEdge
  readonly log: Logger
}

/** What became of a message. */
export type MessageVerdict = { readonly verdict: 'accept' } | Refusal

/** Puts a payload of the topic into the pool. Never throws: what goes wrong on our side is ignored. */
export async function validateMessage(
  { data, from }: Pick<GossipMessage, 'data' | 'from'>,
  { pool, readState, log }: MessageValidatorDeps,
): Promise<MessageVerdict> {
  let signed: SignedMessage
  try {
    signed = readMessage(data)
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    // Numbers above 2^53: Lotus can read them and may have passed the message on in good faith.
    return { verdict: error.code === 'OUT_OF_RANGE' ? 'ignore' : 'reject', reason: 'undecodable' }
  }
  try {
    await readState(() => pool.add(signed))
    return { verdict: 'accept' }
  } catch (error) {
    if (error instanceof MempoolError) return { verdict: gossipVerdict(error.code), reason: error.code }
    log.debug('gossip: message not judged', { from, error: errorMessage(error) })
    return { verdict: 'ignore', reason: 'not_judged' }
  }
}

/**
 * The message at the start of `data`. What follows it is nobody's concern: Lotus passes such messages on, and who gets one
 * from it must not blame it. Only the message itself is kept in memory.
 */
function readMessage(data: Uint8Array): SignedMessage {
  const reader = new CborReader(data)
  signedMessage.read(reader)
  return signedMessage.read(new CborReader(data.slice(0, reader.offset)))
}
