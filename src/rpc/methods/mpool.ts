/**
 * Methods `Mpool…`.
 * @see lotus node/impl/full/mpool.go
 */
import type { ChainView } from '../../chain/chainView.ts'
import type { Cid } from '../../codec/cid.ts'
import { MempoolError } from '../../mempool/errors.ts'
import type { MessagePool } from '../../mempool/messagePool.ts'
import type { MempoolUpdate } from '../../mempool/pendingMessages.ts'
import { checkNew, checkPending, checkReplacing } from '../../mempool/poolChecks.ts'
import { assertRecipient } from '../../mempool/sanityCheck.ts'
import type { MessageSender, StartedSend } from '../../mempool/sendMessage.ts'
import type { SendSpec } from '../../mempool/sendSpec.ts'
import { type SignedMessage, signedMessage, signedMessageCid } from '../../types/signedMessage.ts'
import { listing } from '../listing.ts'
import { channelMethod, listMethod, type MethodRow, method } from '../method.ts'
import {
  mpoolBatchPush,
  mpoolBatchPushMessage,
  mpoolBatchPushUntrusted,
  mpoolCheckMessages,
  mpoolCheckPendingMessages,
  mpoolCheckReplaceMessages,
  mpoolClear,
  mpoolGetConfig,
  mpoolGetNonce,
  mpoolPending,
  mpoolPush,
  mpoolPushMessage,
  mpoolPushUntrusted,
  mpoolSelect,
  mpoolSetConfig,
  mpoolSub,
} from '../signatures/mpool.ts'
import { Telling } from '../telling.ts'
import { given, type OutgoingMessage } from '../types/message.ts'

/** What the methods need. */
export interface MpoolMethodsDeps {
  readonly view: ChainView
  readonly pool: MessagePool
  readonly sender: MessageSender
}

/** Rows of `Mpool…`. */
export function mpoolMethods({ view, pool, sender }: MpoolMethodsDeps): MethodRow[] {
  const prefix = view.network.addressPrefix
  const updates = new Telling<MempoolUpdate>({
    listen: (tell) => pool.subscribe(tell),
    make: (update) => update,
  })

  async function push(signed: SignedMessage, untrusted: boolean): Promise<Cid> {
    assertSane(signed)
    return await pool.push(signed, { untrusted })
  }

  function assertSane(signed: SignedMessage): void {
    const { from, nonce: number, to } = signed.message
    if (to.isUndefined || from.isUndefined) return
    const name = `message ${signedMessageCid(signed)} from ${from.toString(prefix)} with nonce ${number}`
    assertRecipient(signed.message, prefix, name)
  }

  /** All are checked for sense before the first is pushed; a failure ends it, what was pushed stays. One flush for all. */
  async function pushAll(all: readonly (SignedMessage | null)[], untrusted: boolean): Promise<Cid[]> {
    const messages = all.map(given)
    messages.forEach(assertSane)
    const pushed = await startAll(pool.reserveAll(messages, { untrusted }))
    return pushed.map((reserved) => reserved.cid)
  }

  /** Waits for all that were started, one after the other, also when one cannot be. */
  async function startAll<S extends { readonly durable: Promise<void> }>(starts: AsyncIterable<S>): Promise<S[]> {
    const release = pool.holdFlush()
    const started: S[] = []
    try {
      for await (const each of starts) started.push(each)
    } finally {
      release()
      await Promise.all(started.map(({ durable }) => durable))
    }
    return started
  }

  async function* startEach(
    messages: readonly OutgoingMessage[],
    spec: SendSpec,
    signal: AbortSignal,
  ): AsyncGenerator<StartedSend> {
    for (const message of messages) yield await start(message, spec, signal)
  }

  async function start(outgoing: OutgoingMessage, spec: SendSpec, signal: AbortSignal): Promise<StartedSend> {
    const { hasValue, message } = outgoing
    if (hasValue || message.from.isUndefined) return await sender.start(message, spec, { signal })
    throw new MempoolError('MESSAGE_INVALID', "'Value' cannot be nil")
  }

  return [
    listMethod({
      ...mpoolPending,
      list: (at) => {
        const messages = at.length === 0 ? [...pool.pending().messages] : pool.pendingAt(view.store.tipset(at))
        return listing(signedMessage, () => messages.values())
      },
    }),
    method({
      ...mpoolSelect,
      handler: async (at, quality, { walk }) => (await pool.select(view.store.tipsetOrHead(at), quality, walk)) ?? null,
    }),
    method({
      ...mpoolPush,
      handler: (signed) => push(given(signed), false),
    }),
    method({
      ...mpoolPushUntrusted,
      handler: (signed) => push(given(signed), true),
    }),
    method({
      ...mpoolPushMessage,
      handler: async (message, spec, { signal }) => {
        const { signed, durable } = await start(given(message), spec, signal)
        await durable
        return signed
      },
    }),
    method({
      ...mpoolBatchPush,
      handler: (all) => pushAll(all, false),
    }),
    method({
      ...mpoolBatchPushUntrusted,
      handler: (all) => pushAll(all, true),
    }),
    method({
      ...mpoolBatchPushMessage,
      handler: async (all, spec, { signal }) => {
        const messages = all.map(given)
        messages.forEach(({ message }, i) => {
          assertRecipient(message, prefix, `message #${i} from ${message.from.toString(prefix)} with`)
        })
        return (await startAll(startEach(messages, spec, signal))).map(({ signed }) => signed)
      },
    }),
    method({
      ...mpoolGetNonce,
      handler: (account) => {
        if (account.isUndefined) throw new MempoolError('SENDER_UNKNOWN', 'GetActor called on undefined address')
        return pool.nonce(account)
      },
    }),
    method({
      ...mpoolClear,
      handler: (local) => pool.clear(local),
    }),
    method({
      ...mpoolGetConfig,
      handler: () => pool.config(),
    }),
    method({
      ...mpoolSetConfig,
      handler: (config) => pool.setConfig(config),
    }),
    method({
      ...mpoolCheckMessages,
      handler: (prototypes, { walk }) =>
        checkNew(
          pool,
          prototypes.map(({ message, validNonce }) => ({ message, anyNonce: !validNonce })),
          walk,
        ),
    }),
    method({
      ...mpoolCheckPendingMessages,
      handler: async (from, { walk }) => (await checkPending(pool, from, walk)) ?? null,
    }),
    method({
      ...mpoolCheckReplaceMessages,
      handler: (messages, { walk }) => checkReplacing(pool, messages.map(given), walk),
    }),
    channelMethod({
      ...mpoolSub,
      subscribe: (sink, call) => updates.on(sink, call),
    }),
  ]
}
