/** Signatures of `Mpool…`. */
import type { Cid } from '../../codec/cid.ts'
import { type Codec, cid, jsonOnly, listOrEmpty, struct } from '../../codec/description.ts'
import type { MempoolUpdate } from '../../mempool/pendingMessages.ts'
import { type Address, address } from '../../types/address.ts'
import { type Nonce, nonce } from '../../types/scalars.ts'
import { type SignedMessage, signedMessage } from '../../types/signedMessage.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { type Param, param } from '../method.ts'
import { type CallSignature, type ChannelSignature, callSignature, channelSignature } from '../signature.ts'
import { signedMessageParam } from '../types/message.ts'

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
