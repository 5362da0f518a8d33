/** Our own messages come back from disk, but for those that the chain has for good. */
import { errorMessage } from '../../base/errors.ts'
import { BlockMissing } from '../../ipld/errors.ts'
import type { Message } from '../../types/message.ts'
import { signedMessageCid } from '../../types/signedMessage.ts'
import { LATE_RETRY_MS, MAX_LATE_RETRY_MS } from '../limits.ts'
import type { KeptMessage } from '../localMessages.ts'
import { createPooledMessage, type PooledMessage } from '../pooledMessage.ts'
import type { Admitting } from './admitting.ts'
import type { PoolState } from './poolState.ts'

/** Messages that are tried before others have their turn. */
const TRIES_A_TURN = 32

/** What the chain has for good leaves the disk; what it has, but may lose again, is kept there and passed over. */
export async function loadLocal(state: PoolState, admitting: Admitting): Promise<void> {
  const late: KeptMessage[] = []
  const refused: KeptMessage[] = []
  const told = new Refusals(state)
  for (const kept of state.locals.load()) {
    try {
      if (!(await loadOne(state, admitting, kept, told))) refused.push(kept)
    } catch (error) {
      if (!(error instanceof BlockMissing) || state.deps.chain.fetching === undefined) throw error
      late.push(kept)
    }
  }
  told.tell()
  for (const kept of [...late, ...refused]) state.returning.add(kept)
  if (late.length > 0) void loadLate(state, admitting, late)
  if (refused.length > 0) void retryRefused(state, admitting, refused)
}

/** Why messages from disk are not in the pool: a line for all of them, a wallet that was emptied has a thousand. */
class Refusals {
  readonly #state: PoolState
  #count = 0
  #first: { readonly cid: string; readonly error: string } | undefined

  constructor(state: PoolState) {
    this.#state = state
  }

  add({ signed }: KeptMessage, error: unknown): void {
    this.#count++
    this.#first ??= { cid: signedMessageCid(signed).toString(), error: errorMessage(error) }
  }

  tell(): void {
    if (this.#first === undefined) return
    this.#state.deps.logger.warn('mempool: messages from disk wait', { count: this.#count, ...this.#first })
  }
}

/**
 * Those that the head's state refuses, in order, as the head moves on, more and more seldom: a node that was off for long, or restored
 * from a backup, first has to learn that their senders exist, or what they own.
 */
async function retryRefused(state: PoolState, admitting: Admitting, messages: KeptMessage[]): Promise<void> {
  let waiting = messages
  let tried = state.tipset
  let pauseMs = LATE_RETRY_MS
  while (waiting.length > 0) {
    await state.timers.pause(pauseMs)
    if (state.timers.closed) return
    if (state.tipset === tried) continue
    tried = state.tipset
    const left: KeptMessage[] = []
    for (const [i, kept] of waiting.entries()) {
      if (i % TRIES_A_TURN === TRIES_A_TURN - 1) await state.timers.pause(0)
      if (!state.returning.has(kept)) continue
      if (await isLoaded(state, admitting, kept)) state.returning.delete(kept)
      else left.push(kept)
    }
    pauseMs = left.length < waiting.length ? LATE_RETRY_MS : Math.min(2 * pauseMs, MAX_LATE_RETRY_MS)
    waiting = left
  }
}

/** Nothing that goes wrong keeps the others from their turn: a disk that is full, a state that is not here. */
async function isLoaded(state: PoolState, admitting: Admitting, kept: KeptMessage): Promise<boolean> {
  try {
    const { signed } = kept
    const there = placedAt(state, signed.message)
    if (there === undefined) return await loadOne(state, admitting, kept)
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
async function loadLate(state: PoolState, admitting: Admitting, messages: readonly KeptMessage[]): Promise<void> {
  const { timers } = state
  const { chain, logger } = state.deps
  const refused: KeptMessage[] = []
  const told = new Refusals(state)
  for (const kept of messages) {
    while (!timers.closed && state.returning.has(kept)) {
      try {
        const isLoaded = await chain.fetching?.(() => loadOne(state, admitting, kept, told))
        if (isLoaded === false) refused.push(kept)
        else state.returning.delete(kept)
        break
      } catch (error) {
        logger.debug('mempool: message from disk waits', { error: errorMessage(error) })
        await timers.pause(LATE_RETRY_MS)
      }
    }
  }
  told.tell()
  if (refused.length > 0) await retryRefused(state, admitting, refused)
}

/**
 * Changes nothing before it has read all that it needs.
 * @param told - hears why the head's state refuses it; undefined: that was told before
 * @returns false: the head's state refuses it
 * @throws BlockMissing
 */
async function loadOne(state: PoolState, admitting: Admitting, kept: KeptMessage, told?: Refusals): Promise<boolean> {
  const { signed, ofStranger } = kept
  const sender = state.senders.tryResolve(signed.message.from, state.tipset)
  const isFinal = isFinalIn(state, signed.message)
  if (sender !== undefined && !ofStranger) state.pending.markLocal(sender)
  if (!isFinal) return await addLoaded(state, admitting, kept, told)
  state.locals.delete([signed])
  return true
}

function isFinalIn({ deps, tipset }: PoolState, { from, nonce }: Message): boolean {
  const final = deps.chain.finalTipset(tipset)
  return final !== undefined && (deps.chain.stateBefore(final).actor(from)?.nonce ?? 0n) > nonce
}

/** As a push, but it is on disk already and nothing is sent. */
async function addLoaded(
  state: PoolState,
  admitting: Admitting,
  kept: KeptMessage,
  told: Refusals | undefined,
): Promise<boolean> {
  const { signed, ofStranger } = kept
  const pooled = createPooledMessage(signed)
  try {
    // before the signature is checked: most of what is on disk has been included long ago
    const after = await state.stateAfterHead()
    if (state.nonces.next(signed.message.from, state.tipset, after) > signed.message.nonce) {
      // Blocks have signatures of BLS keys in aggregate alone: where its tipset is reverted, this one is needed.
      state.signatures.remember(pooled)
      return true
    }
    await admitting.add(pooled, { local: true, ofStranger })
    return true
  } catch (error) {
    if (error instanceof BlockMissing) throw error
    told?.add(kept, error)
    return false
  }
}
