/** Signatures of `Mpool…`. */
import { MAX_CHECKED_MESSAGES } from '../../base/bounds.ts'
import { atMost } from '../../codec/atMost.ts'
import type { Cid } from '../../codec/cid.ts'
import { bool, type Codec, cid, jsonOnly, list, listOrEmpty, nullable, struct } from '../../codec/description.ts'
import { wrongJson } from '../../codec/goJson.ts'
import { type MessageCheck, type MessagePrototype, messageCheck, messagePrototype } from '../../mempool/checkStatus.ts'
import { type MempoolConfig, mempoolConfig } from '../../mempool/config.ts'
import type { MempoolUpdate } from '../../mempool/pendingMessages.ts'
import { type SendSpec, sendSpec } from '../../mempool/sendSpec.ts'
import { type Address, address } from '../../types/address.ts'
import type { Message } from '../../types/message.ts'
import { type Nonce, nonce } from '../../types/scalars.ts'
import { type SignedMessage, signedMessage } from '../../types/signedMessage.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { nothing, type Param, param } from '../method.ts'
import {
  type CallSignature,
  type ChannelSignature,
  callSignature,
  channelSignature,
  SIGNER_MAY_ASK,
} from '../signature.ts'
import { messageParam, type OutgoingMessage, outgoingMessageParam, signedMessageParam } from '../types/message.ts'

/** `{Type: 0 add | 1 remove, Message}`. Output only. */
const update: Codec<MempoolUpdate> = struct<MempoolUpdate>('api.MpoolUpdate', [
  [
    'type',
    'Type',
    jsonOnly<'add' | 'remove'>(
      'api.MpoolChange',
      (value) => (value === 'add' ? 0 : 1),
      (json) => (json === 1 ? 'remove' : 'add'),
      { type: 'integer' },
    ),
  ],
  ['message', 'Message', signedMessage],
])

export const mpoolPending: CallSignature<readonly [Param<TipsetKey>], SignedMessage[]> = callSignature({
  name: 'MpoolPending',
  cost: 'scan',
  perm: 'read',
  summary: 'Messages waiting to be included. With a tipset: as they were when it was the head.',
  params: [param('tipsetKey', tipsetKey)],
  result: listOrEmpty(signedMessage),
})

export const mpoolPush: CallSignature<readonly [Param<SignedMessage | null>], Cid> = callSignature({
  name: 'MpoolPush',
  perm: 'write',
  summary: 'Takes a signed message and sends it to the network.',
  params: [param('signedMessage', signedMessageParam)],
  result: cid,
})

export const mpoolGetNonce: CallSignature<readonly [Param<Address>], Nonce> = callSignature({
  name: 'MpoolGetNonce',
  perm: 'read',
  summary: 'Next nonce of a sender, pending messages included.',
  params: [param('address', address)],
  result: nonce,
})

export const mpoolSub: ChannelSignature<[], MempoolUpdate> = channelSignature({
  name: 'MpoolSub',
  perm: 'read',
  summary: 'Additions to the pool and removals from it, as they happen.',
  params: [],
  result: update,
})

const ticketQuality: Codec<number> = jsonOnly<number>(
  'float64',
  (value) => value,
  (json) => {
    if (json === undefined || json === null) return 0
    if (typeof json !== 'number' && typeof json !== 'bigint') throw wrongJson(json, 'float64')
    const value = Number(json)
    if (!Number.isFinite(value)) throw wrongJson(json, 'float64')
    return value
  },
  { type: 'number' },
)

const checks: Codec<MessageCheck[][]> = listOrEmpty(listOrEmpty(messageCheck))

const signed: Param<SignedMessage | null> = param('signedMessage', signedMessageParam)

const signedList = param('signedMessages', listOrEmpty(signedMessageParam))

const key = param('tipsetKey', tipsetKey)

export const mpoolSelect: CallSignature<readonly [Param<TipsetKey>, Param<number>], SignedMessage[] | null> =
  callSignature({
    name: 'MpoolSelect',
    cost: 'scan',
    perm: 'read',
    summary: 'Messages that a block on top of a tipset would take, by ticket quality (0 to 1).',
    params: [key, param('ticketQuality', ticketQuality)],
    result: nullable(listOrEmpty(signedMessage)),
  })

export const mpoolPushUntrusted: CallSignature<readonly [Param<SignedMessage | null>], Cid> = callSignature({
  name: 'MpoolPushUntrusted',
  perm: 'write',
  summary: 'Takes a signed message of a stranger: at most 100 pending for its sender.',
  params: [signed],
  result: cid,
})

export const mpoolPushMessage: CallSignature<readonly [Param<OutgoingMessage | null>, Param<SendSpec>], SignedMessage> =
  callSignature({
    name: 'MpoolPushMessage',
    perm: 'sign',
    noDeadline: SIGNER_MAY_ASK,
    summary: 'Prices, numbers, signs and pushes a message.',
    params: [param('message', outgoingMessageParam), param('spec', sendSpec)],
    result: signedMessage,
  })

export const mpoolBatchPush: CallSignature<readonly [Param<(SignedMessage | null)[]>], Cid[]> = callSignature({
  name: 'MpoolBatchPush',
  perm: 'write',
  summary: 'Takes several signed messages.',
  params: [signedList],
  result: list(cid),
})

export const mpoolBatchPushUntrusted: CallSignature<readonly [Param<(SignedMessage | null)[]>], Cid[]> = callSignature({
  name: 'MpoolBatchPushUntrusted',
  perm: 'write',
  summary: 'Takes several signed messages of strangers.',
  params: [signedList],
  result: list(cid),
})

export const mpoolBatchPushMessage: CallSignature<
  readonly [Param<(OutgoingMessage | null)[]>, Param<SendSpec>],
  SignedMessage[]
> = callSignature({
  name: 'MpoolBatchPushMessage',
  perm: 'sign',
  noDeadline: SIGNER_MAY_ASK,
  summary: 'Prices, numbers, signs and pushes several messages.',
  params: [param('messages', listOrEmpty(outgoingMessageParam)), param('spec', sendSpec)],
  result: list(signedMessage),
})

export const mpoolClear: CallSignature<readonly [Param<boolean>], void> = callSignature({
  name: 'MpoolClear',
  perm: 'write',
  summary: "Empties the pool; true: of the node's own messages too.",
  params: [param('local', bool)],
  result: nothing,
})

export const mpoolGetConfig: CallSignature<readonly [], MempoolConfig> = callSignature({
  name: 'MpoolGetConfig',
  perm: 'read',
  summary: "The pool's settings.",
  params: [],
  result: mempoolConfig,
})

export const mpoolSetConfig: CallSignature<readonly [Param<MempoolConfig>], void> = callSignature({
  name: 'MpoolSetConfig',
  perm: 'admin',
  summary: "Changes the pool's settings.",
  params: [param('config', mempoolConfig)],
  result: nothing,
})

export const mpoolCheckMessages: CallSignature<readonly [Param<MessagePrototype[]>], MessageCheck[][]> = callSignature({
  name: 'MpoolCheckMessages',
  cost: 'scan',
  perm: 'read',
  summary: 'Checks messages without pushing them.',
  params: [param('prototypes', atMost(listOrEmpty(messagePrototype), MAX_CHECKED_MESSAGES))],
  result: checks,
})

export const mpoolCheckPendingMessages: CallSignature<readonly [Param<Address>], MessageCheck[][] | null> =
  callSignature({
    name: 'MpoolCheckPendingMessages',
    cost: 'scan',
    perm: 'read',
    summary: 'Checks what a sender has pending; null when that is nothing.',
    params: [param('from', address)],
    result: nullable(checks),
  })

export const mpoolCheckReplaceMessages: CallSignature<readonly [Param<(Message | null)[]>], MessageCheck[][]> =
  callSignature({
    name: 'MpoolCheckReplaceMessages',
    cost: 'scan',
    perm: 'read',
    summary: 'Checks pending messages with replacements in their place.',
    params: [param('messages', atMost(listOrEmpty(messageParam), MAX_CHECKED_MESSAGES))],
    result: checks,
  })
