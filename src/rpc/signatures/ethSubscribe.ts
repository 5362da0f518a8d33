/** Signatures: Ethereum's subscriptions. */
import { bool, text } from '../../codec/description.ts'
import { type Param, param } from '../method.ts'
import { type CallSignature, callSignature, type RawSignature, rawSignature } from '../signature.ts'
import { ethHash, ethSubscriptionId } from '../types/ethScalars.ts'
import { type LogFilter, logFilter } from '../types/logFilter.ts'

export const ethSubscribe: RawSignature<readonly [Param<string>, Param<LogFilter>], Uint8Array> = rawSignature({
  name: 'EthSubscribe',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'Subscribes to newHeads, newPendingTransactions or logs; WebSocket only.',
  aliases: ['eth_subscribe'],
  params: [param('eventType', text), param('params', logFilter)],
  result: ethHash,
})

export const ethUnsubscribe: CallSignature<readonly [Param<Uint8Array>], boolean> = callSignature({
  name: 'EthUnsubscribe',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'Ends a subscription; false when there is none.',
  aliases: ['eth_unsubscribe'],
  params: [param('id', ethSubscriptionId)],
  result: bool,
})
