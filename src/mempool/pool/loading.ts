/** Our own messages come back from disk, but for those that the chain has for good. */
import { errorMessage } from '../../base/errors.ts'
import { BlockMissing } from '../../ipld/errors.ts'
import type { Message } from '../../types/message.ts'
import { type SignedMessage, signedMessageCid } from '../../types/signedMessage.ts'
import { LATE_RETRY_MS } from '../limits.ts'
import { createPooledMessage, type PooledMessage } from '../pooledMessage.ts'
import type { Admitting } from './admitting.ts'
import type { PoolState } from './poolState.ts'

/** What the chain has for good leaves the disk; what it has, but may lose again, is kept there and passed over. */
export async function loadLocal(state: PoolState, admitting: Admitting): Promise<void> {
  const late: SignedMessage[] = []
  const refused: SignedMessage[] = []
  for (const signed of state.locals.load()) {
    try {
      if (!(await loadOne(state, admitting, signed))) refused.push(signed)
    } catch (error) {
      if (!(error instanceof BlockMissing) || state.deps.chain.fetching === undefined) throw error
      late.push(signed)
    }
  }
  for (const signed of [...late, ...refused]) state.returning.add(signed)
  if (late.length > 0) void loadLate(state, admitting, late)
  if (refused.length > 0) void retryRefused(state, admitting, refused)
}

/**
 * Those that the head's state refuses, in order, as the head moves on: a node that was off for long, or restored from a backup, first
 * has to learn that their senders exist, or what they own.
 */
async function retryRefused(state: PoolState, admitting: Admitting, messages: SignedMessage[]): Promise<void> {
  let waiting = messages
  let tried = state.tipset
  while (waiting.length > 0) {
    await state.timers.pause(LATE_RETRY_MS)
    if (state.timers.closed) return
    if (state.tipset === tried) continue
    tried = state.tipset
    const left: SignedMessage[] = []
    for (const signed of waiting) {
      if (!state.returning.has(signed)) continue
      if (await isLoaded(state, admitting, signed)) state.returning.delete(signed)
      else left.push(signed)
    }
    waiting = left
  }
}

/** Nothing that goes wrong keeps the others from their turn: a disk that is full, a state that is not here. */
async function isLoaded(state: PoolState, admitting: Admitting, signed: SignedMessage): Promise<boolean> {
  try {
    const there = placedAt(state, signed.message)
    if (there === undefined) return await loadOne(state, admitting, signed)
    // What was sent since the start is what counts, whatever it pays.
    if (!there.cid.equals(signedMessageCid(signed))) state.locals.delete([signed])
    return true
  } catch (error) {
    if (!(error instanceof BlockMissing)) {
      state.deps.logger.warn('mempool: message from disk waits', { error: errorMessage(error) })
    }
    return false
  }
}

/** What has the nonce of a message in the pool, or on its way there. */
function placedAt({ senders, reserved, pending, tipset }: PoolState, message: Message): PooledMessage | undefined {
  const sender = senders.tryResolve(message.from, tipset)
  if (sender === undefined) return undefined
  return (reserved.of(sender) ?? pending.of(sender))?.messages.get(message.nonce)
}

/** Those whose state has to be fetched: peers that have it may come later, so until it is here. */
async function loadLate(state: PoolState, admitting: Admitting, messages: readonly SignedMessage[]): Promise<void> {
  const { timers } = state
  const { chain, logger } = state.deps
  const refused: SignedMessage[] = []
  for (const signed of messages) {
    while (!timers.closed && state.returning.has(signed)) {
      try {
        const isLoaded = await chain.fetching?.(() => loadOne(state, admitting, signed))
        if (isLoaded === false) refused.push(signed)
        else state.returning.delete(signed)
        break
      } catch (error) {
        logger.debug('mempool: message from disk waits', { error: errorMessage(error) })
        await timers.pause(LATE_RETRY_MS)
      }
    }
  }
  if (refused.length > 0) await retryRefused(state, admitting, refused)
}

/** Changes nothing before it has read all that it needs. @returns false: the head's state refuses it. @throws BlockMissing */
async function loadOne(state: PoolState, admitting: Admitting, signed: SignedMessage): Promise<boolean> {
  const sender = state.senders.tryResolve(signed.message.from, state.tipset)
  const isFinal = isFinalIn(state, signed.message)
  if (sender !== undefined) state.pending.markLocal(sender)
  if (!isFinal) return await addLoaded(state, admitting, signed)
  state.locals.delete([signed])
  return true
}

function isFinalIn({ deps, tipset }: PoolState, { from, nonce }: Message): boolean {
  const final = deps.chain.finalTipset(tipset)
  return final !== undefined && (deps.chain.stateBefore(final).actor(from)?.nonce ?? 0n) > nonce
}

/** As a local push, but it is on disk already and nothing is sent. */
async function addLoaded(state: PoolState, admitting: Admitting, signed: SignedMessage): Promise<boolean> {
  try {
    // before the signature is checked: most of what is on disk has been included long ago
    const after = await state.stateAfterHead()
    if (state.nonces.next(signed.message.from, state.tipset, after) > signed.message.nonce) return true
    await admitting.add(createPooledMessage(signed), { local: true })
    return true
  } catch (error) {
    if (error instanceof BlockMissing) throw error
    state.deps.logger.warn('mempool: message from disk not added', {
      cid: signedMessageCid(signed).toString(),
      error: errorMessage(error),
    })
    return false
  }
}
