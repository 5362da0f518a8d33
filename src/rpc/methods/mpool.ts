/**
 * Methods `Mpool…`.
 * @see lotus node/impl/full/mpool.go
 */
import type { ChainView } from '../../chain/chainView.ts'
import type { Cid } from '../../codec/cid.ts'
import { bool, type Codec, cid, jsonOnly, list, listOrEmpty, nullable, wrongJson } from '../../codec/description.ts'
import { type MessageCheck, messageCheck, messagePrototype } from '../../mempool/checkStatus.ts'
import { mempoolConfig } from '../../mempool/config.ts'
import { MempoolError } from '../../mempool/errors.ts'
import type { MessagePool } from '../../mempool/messagePool.ts'
import { checkNew, checkPending, checkReplacing } from '../../mempool/poolChecks.ts'
import { assertRecipient } from '../../mempool/sanityCheck.ts'
import type { MessageSender, StartedSend } from '../../mempool/sendMessage.ts'
import { type SendSpec, sendSpec } from '../../mempool/sendSpec.ts'
import { address } from '../../types/address.ts'
import { type SignedMessage, signedMessage, signedMessageCid } from '../../types/signedMessage.ts'
import { tipsetKey } from '../../types/tipset.ts'
import { channelMethod, type MethodRow, method, nothing, param } from '../method.ts'
import { mpoolGetNonce, mpoolPending, mpoolPush, mpoolSub } from '../signatures/mpool.ts'
import {
  given,
  messageParam,
  type OutgoingMessage,
  outgoingMessageParam,
  signedMessageParam,
} from '../types/message.ts'

/** What the methods need. */
export interface MpoolMethodsDeps {
  readonly view: ChainView
  readonly pool: MessagePool
  readonly sender: MessageSender
}

const ticketQuality: Codec<number> = jsonOnly<number>(
  'float64',
  (value) => value,
  (json) => {
    if (json === undefined || json === null) return 0
    const value = Number(json)
    if ((typeof json !== 'number' && typeof json !== 'bigint') || !Number.isFinite(value)) {
      throw wrongJson(json, 'float64')
    }
    return value
  },
  { type: 'number' },
)

const checks: Codec<MessageCheck[][]> = listOrEmpty(listOrEmpty(messageCheck))
const signed = param('signedMessage', signedMessageParam)
const signedList = param('signedMessages', listOrEmpty(signedMessageParam))
const key = param('tipsetKey', tipsetKey)

/** Rows of `Mpool…`. */
export function mpoolMethods({ view, pool, sender }: MpoolMethodsDeps): MethodRow[] {
  const prefix = view.network.addressPrefix

  async function push(one: SignedMessage, untrusted: boolean): Promise<Cid> {
    assertSane(one)
    return await pool.push(one, { untrusted })
  }

  function assertSane(one: SignedMessage): void {
    const { from, nonce: number, to } = one.message
    if (to.isUndefined || from.isUndefined) return
    const name = `message ${signedMessageCid(one)} from ${from.toString(prefix)} with nonce ${number}`
    assertRecipient(one.message, prefix, name)
  }

  /** All are checked for sense before the first is pushed; a failure ends it, what was pushed stays. One flush for all. */
  async function pushAll(all: readonly (SignedMessage | null)[], untrusted: boolean): Promise<Cid[]> {
    const messages = all.map(given)
    messages.forEach(assertSane)
    const pushed = await startAll(messages, (one) => pool.reserve(one, { untrusted }))
    return pushed.map((one) => one.cid)
  }

  /** Starts one after the other and waits for all that were started, also when one cannot be. */
  async function startAll<M, S extends { readonly durable: Promise<void> }>(
    messages: readonly M[],
    start: (message: M) => Promise<S>,
  ): Promise<S[]> {
    const release = pool.holdFlush()
    const started: S[] = []
    try {
      for (const one of messages) started.push(await start(one))
    } finally {
      release()
      await Promise.all(started.map(({ durable }) => durable))
    }
    return started
  }

  async function start(one: OutgoingMessage, spec: SendSpec): Promise<StartedSend> {
    if (one.hasValue || one.message.from.isUndefined) return await sender.start(one.message, spec)
    throw new MempoolError('MESSAGE_INVALID', "'Value' cannot be nil")
  }

  return [
    method({
      ...mpoolPending,
      handler: (at) => (at.length === 0 ? [...pool.pending().messages] : pool.pendingAt(view.store.tipset(at))),
    }),
    method({
      name: 'MpoolSelect',
      perm: 'read',
      summary: 'Messages that a block on top of a tipset would take, by ticket quality (0 to 1).',
      params: [key, param('ticketQuality', ticketQuality)],
      result: nullable(listOrEmpty(signedMessage)),
      handler: async (at, quality) => (await pool.select(view.store.tipsetOrHead(at), quality)) ?? null,
    }),
    method({
      ...mpoolPush,
      handler: (one) => push(given(one), false),
    }),
    method({
      name: 'MpoolPushUntrusted',
      perm: 'write',
      summary: 'Takes a signed message of a stranger: at most 100 pending for its sender.',
      params: [signed],
      result: cid,
      handler: (one) => push(given(one), true),
    }),
    method({
      name: 'MpoolPushMessage',
      perm: 'sign',
      summary: 'Prices, numbers, signs and pushes a message.',
      params: [param('message', outgoingMessageParam), param('spec', sendSpec)],
      result: signedMessage,
      handler: async (one, spec) => {
        const { signed, durable } = await start(given(one), spec)
        await durable
        return signed
      },
    }),
    method({
      name: 'MpoolBatchPush',
      perm: 'write',
      summary: 'Takes several signed messages.',
      params: [signedList],
      result: list(cid),
      handler: (all) => pushAll(all, false),
    }),
    method({
      name: 'MpoolBatchPushUntrusted',
      perm: 'write',
      summary: 'Takes several signed messages of strangers.',
      params: [signedList],
      result: list(cid),
      handler: (all) => pushAll(all, true),
    }),
    method({
      name: 'MpoolBatchPushMessage',
      perm: 'sign',
      summary: 'Prices, numbers, signs and pushes several messages.',
      params: [param('messages', listOrEmpty(outgoingMessageParam)), param('spec', sendSpec)],
      result: list(signedMessage),
      handler: async (all, spec) => {
        const messages = all.map(given)
        messages.forEach(({ message }, i) => {
          assertRecipient(message, prefix, `message #${i} from ${message.from.toString(prefix)} with`)
        })
        return (await startAll(messages, (one) => start(one, spec))).map(({ signed }) => signed)
      },
    }),
    method({
      ...mpoolGetNonce,
      handler: (one) => {
        if (one.isUndefined) throw new MempoolError('SENDER_UNKNOWN', 'GetActor called on undefined address')
        return pool.nonce(one)
      },
    }),
    method({
      name: 'MpoolClear',
      perm: 'write',
      summary: "Empties the pool; true: of the node's own messages too.",
      params: [param('local', bool)],
      result: nothing,
      handler: (local) => pool.clear(local),
    }),
    method({
      name: 'MpoolGetConfig',
      perm: 'read',
      summary: "The pool's settings.",
      params: [],
      result: mempoolConfig,
      handler: () => pool.config(),
    }),
    method({
      name: 'MpoolSetConfig',
      perm: 'admin',
      summary: "Changes the pool's settings.",
      params: [param('config', mempoolConfig)],
      result: nothing,
      handler: (config) => pool.setConfig(config),
    }),
    method({
      name: 'MpoolCheckMessages',
      perm: 'read',
      summary: 'Checks messages without pushing them.',
      params: [param('prototypes', listOrEmpty(messagePrototype))],
      result: checks,
      handler: (prototypes) =>
        checkNew(
          pool,
          prototypes.map(({ message, validNonce }) => ({ message, anyNonce: !validNonce })),
        ),
    }),
    method({
      name: 'MpoolCheckPendingMessages',
      perm: 'read',
      summary: 'Checks what a sender has pending; null when that is nothing.',
      params: [param('from', address)],
      result: nullable(checks),
      handler: async (from) => (await checkPending(pool, from)) ?? null,
    }),
    method({
      name: 'MpoolCheckReplaceMessages',
      perm: 'read',
      summary: 'Checks pending messages with replacements in their place.',
      params: [param('messages', listOrEmpty(messageParam))],
      result: checks,
      handler: (messages) => checkReplacing(pool, messages.map(given)),
    }),
    channelMethod({
      ...mpoolSub,
      subscribe: (sink) => pool.subscribe((one) => sink.value(one)),
    }),
  ]
}
