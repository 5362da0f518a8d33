/** A message's way in: all checks, and in the same breath its place. */
import { errorMessage } from '../../base/errors.ts'
import { sleep } from '../../base/waiting.ts'
import type { Cid } from '../../codec/cid.ts'
import { BlockMissing } from '../../ipld/errors.ts'
import type { Address } from '../../types/address.ts'
import type { Message } from '../../types/message.ts'
import type { SignedMessage } from '../../types/signedMessage.ts'
import { assertFunds, assertIncludable, assertSender, assertStateless } from '../admission.ts'
import { MempoolError, withContext } from '../errors.ts'
import { GroupCommit, type StoreWrite } from '../groupCommit.ts'
import { POOL_BYTES_MAX, POOL_HEADROOM } from '../limits.ts'
import type { Placement } from '../messageSet.ts'
import { createPooledMessage, type PooledMessage } from '../pooledMessage.ts'
import type { ActorReader } from '../ports.ts'
import type { PoolState } from './poolState.ts'
import type { Pruning } from './pruning.ts'
import type { Publishing } from './publishing.ts'

/** How a message comes in. */
export interface PushOptions {
  /** By MpoolPushUntrusted: fewer messages per sender. */
  readonly untrusted?: boolean
  /**
   * The caller needed no token: it is not ours to keep at any price. There has to be room for it, it may be pruned, and only so many are
   * kept on disk, or anybody could fill the pool for good with what is never included and costs nothing.
   */
  readonly ofStranger?: boolean
  /** Written to disk together with the message, before anything leaves the node. */
  readonly also?: readonly StoreWrite[]
  /** `generation` of the pool when the message got its nonce. */
  readonly generation?: number
  /** The key is this process's own, and the signature was made a moment ago: to check it would be half of what a send costs. */
  readonly signedHere?: boolean
  /** Ends the fetching of what the checks miss: aborted when nobody waits for the message any more. */
  readonly signal?: AbortSignal | undefined
}

/** A message that was found good and has its place, not yet for others to see. */
export interface ReservedMessage {
  readonly cid: Cid
  /** Resolves when it survives a crash and is in the pool; rejects with the store's error, and then it never was there. */
  readonly durable: Promise<void>
}

/** What the checks found. */
interface Admitted {
  readonly sender: Address
  readonly placement: Placement
  readonly stateNonce: bigint
  /** Whether to send it to the network now. */
  readonly publish: boolean
}

/** Lets messages into one pool. */
export class Admitting {
  readonly #state: PoolState
  readonly #pruning: Pruning
  readonly #publishing: Publishing
  readonly #commits: GroupCommit
  /** Why messages cannot be written, but for figures; empty: they can. */
  #trouble = ''

  constructor(state: PoolState, pruning: Pruning, publishing: Publishing) {
    this.#publishing = publishing
    this.#state = state
    this.#pruning = pruning
    const { store, timers } = state.deps
    this.#commits = new GroupCommit(store, timers, (error) => this.#storeTrouble(error))
  }

  /** What is reserved from now on is flushed once, when the returned function is called. */
  holdFlush(): () => void {
    return this.#commits.hold()
  }

  /** See {@link GroupCommit.announce}. */
  announce(): () => void {
    return this.#commits.announce()
  }

  /**
   * A message of ours: checked, with a place, on its way to disk; seen when it is there. What the checks miss is fetched, and they are
   * made again: they change nothing, and the place comes last.
   * @throws {@link MempoolError}
   */
  reserve(pooled: PooledMessage, options: PushOptions): Promise<ReservedMessage> {
    return this.#state.edge(() => this.#reserve(pooled, options), options.signal)
  }

  #reserve(pooled: PooledMessage, options: PushOptions): Promise<ReservedMessage> {
    const { reserved, pending, locals, returning } = this.#state
    return this.#admit(pooled, { ...options, local: true }, (admitted) => {
      const { generation = reserved.generation, also = [], ofStranger = false } = options
      if (generation !== reserved.generation) {
        throw new MempoolError('NUMBER_VOID', 'Cannot use the nonce: a message before it was not written')
      }
      const { sender, placement, stateNonce } = admitted
      const { from, nonce } = pooled.message
      const inPlace = (reserved.of(sender) ?? pending.of(sender))?.messages.get(nonce)
      const replaced: Pick<PooledMessage, 'signed'>[] = inPlace === undefined ? [] : [inPlace]
      for (const kept of returning) {
        const { message } = kept.signed
        if (message.nonce === nonce && message.from.equals(from)) replaced.push(kept)
      }
      reserved.reserve(sender, pooled, placement, pending.of(sender), stateNonce)
      const saved = locals.saved(pooled, ofStranger)
      const durable = this.#commits.add({
        writes: saved === undefined ? also : [saved, ...also],
        // Or it would come back at a start where this one can't, and what was cancelled would be paid.
        deletes: saved === undefined ? [] : replaced.flatMap((old) => locals.keysOf(old)),
        confirm: () => {
          if (saved !== undefined) for (const old of replaced) locals.isGone(old)
          this.#confirm(pooled, admitted, ofStranger)
        },
        drop: () => {
          locals.isGone(pooled)
          reserved.drop()
        },
      })
      // Who waits for several looks at them one after the other.
      durable.catch(() => undefined)
      return { cid: pooled.cid, durable }
    })
  }

  /**
   * Messages of ours, each reserved when the one before it is; others have their turn in between.
   * @throws {@link MempoolError} of the first that is refused
   */
  async *reserveAll(all: readonly SignedMessage[], options: PushOptions): AsyncGenerator<ReservedMessage> {
    const { signatures, deps } = this.#state
    let ahead = 0
    for (const [i, signed] of all.entries()) {
      if (i === ahead) {
        if (i > 0) await sleep(deps.timers, 0)
        ahead += signatures.verifyAhead(all.slice(i))
      }
      yield await this.reserve(createPooledMessage(signed), options)
    }
  }

  /** Checked and placed, nothing written; one of ours, which is back from disk, is published later. @throws {@link MempoolError} */
  async add(pooled: PooledMessage, how: { readonly local: boolean; readonly ofStranger?: boolean }): Promise<void> {
    await this.#admit(pooled, how, (admitted) => {
      this.#placeNow(pooled, admitted)
      // It may have come to the disk and no further. Those of strangers are theirs to send again.
      if (admitted.publish && how.ofStranger !== true) this.#publishing.publishLater(admitted.sender, pooled)
    })
  }

  /** @param place - must refuse what it cannot place without having changed anything */
  async #admit<T>(
    pooled: PooledMessage,
    how: Pick<PushOptions, 'untrusted' | 'signedHere' | 'ofStranger'> & { readonly local: boolean },
    place: (admitted: Admitted) => T,
  ): Promise<T> {
    const state = this.#state
    const { chain, minimumGas } = state.deps
    if (how.signedHere === true) state.signatures.trust(pooled)
    assertStateless(pooled, state.tipset, chain, state.signatures)
    const after = await state.stateAfterHead()
    const { tipset } = state
    const { message } = pooled
    const stateNonce = this.#stateNonce(message, after)
    if (stateNonce > message.nonce) {
      throw new MempoolError(
        'NONCE_TOO_LOW',
        `minimum expected nonce is ${stateNonce}, got ${message.nonce}: message nonce too low`,
      )
    }
    const { addressPrefix } = state.options
    assertSender(pooled, tipset, after, chain, addressPrefix)
    const publish = assertIncludable(pooled, tipset, chain, minimumGas, how.local)
    const sender = state.senders.resolve(message.from, tipset)
    if (!how.local || how.ofStranger === true) this.#assertRoom(pooled)
    const pending = state.reserved.of(sender) ?? state.pending.of(sender)
    assertFunds(pooled, after.actor(message.from)?.balance ?? 0n, pending)
    const placement = {
      strict: !how.local,
      untrusted: how.untrusted ?? false,
      sender: message.from.toString(addressPrefix),
    }
    try {
      return place({ sender, placement, stateNonce, publish })
    } catch (error) {
      throw withContext('failed to add locked', error)
    }
  }

  /** What is on its way to disk counts as placed. */
  #placeNow(pooled: PooledMessage, { sender, placement, stateNonce }: Admitted): void {
    const draft = this.#state.reserved.of(sender)
    draft?.add(pooled, placement)
    try {
      this.#state.place(sender, pooled, placement, () => stateNonce)
    } catch (error) {
      draft?.remove(pooled.message.nonce, false)
      throw error
    }
    if (this.#state.isAboveHigh) this.#pruning.soon()
  }

  /** The message is durable: everybody may see it. */
  #confirm(pooled: PooledMessage, { sender, placement, stateNonce, publish }: Admitted, ofStranger: boolean): void {
    const { reserved, pending, deps } = this.#state
    reserved.settle(sender)
    if (!ofStranger) pending.markLocal(sender)
    const now = this.#stateNonceNow(pooled.message.from) ?? stateNonce
    // The chain took it, or another one, while it was written.
    if (now > pooled.message.nonce) return
    try {
      this.#state.place(sender, pooled, { ...placement, strict: false, untrusted: false }, () => now)
    } catch (error) {
      // Replaced by a better one of a peer's while it was written. It stays on disk until its nonce is used.
      deps.logger.warn('mempool: a message of ours was replaced at once', { error: errorMessage(error) })
      return
    }
    if (publish) void (ofStranger ? this.#state.publish(pooled) : this.#publishing.publish(sender, pooled))
    if (this.#state.isAboveHigh) this.#pruning.soon()
  }

  /** Says each reason once: on a full disk every send fails. */
  #storeTrouble(error: unknown): void {
    const { logger } = this.#state.deps
    const trouble = error === undefined ? '' : errorMessage(error)
    const reason = trouble.replace(/\d+/g, '#')
    if (reason === this.#trouble) return
    this.#trouble = reason
    if (trouble === '') logger.info('mempool: messages are written again')
    else logger.error('mempool: messages are refused, they cannot be written', { error: trouble })
  }

  /** Between two prunings a flood must not take all memory. It says nothing against who sent the message. */
  #assertRoom({ sizeBytes }: PooledMessage): void {
    const { pending, config } = this.#state
    const { size, bytes } = pending
    if (size < config.sizeLimitHigh + POOL_HEADROOM && bytes + sizeBytes <= POOL_BYTES_MAX) return
    this.#pruning.soon()
    throw new MempoolError('SOFT_FAILURE', 'message pool is full: validation failure')
  }

  #stateNonce(message: Message, after: ActorReader): bigint {
    try {
      return this.#state.nonces.next(message.from, this.#state.tipset, after)
    } catch (error) {
      if (!(error instanceof MempoolError)) throw error
      const text = `failed to look up actor state nonce: ${error.message}: validation failure`
      throw new MempoolError('SOFT_FAILURE', text, error.info, { cause: error })
    }
  }

  /** The head may have moved since the message was admitted. Undefined: it cannot be told without waiting. */
  #stateNonceNow(sender: Address): bigint | undefined {
    try {
      return this.#state.nonces.next(sender, this.#state.tipset)
    } catch (error) {
      if (error instanceof MempoolError || error instanceof BlockMissing) return undefined
      throw error
    }
  }
}
