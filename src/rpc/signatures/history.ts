/** Signatures of what an actor did, page by page: ours. */
import { type Codec, int, text } from '../../codec/description.ts'
import { type Address, address } from '../../types/address.ts'
import { type ChainEpoch, chainEpoch } from '../../types/scalars.ts'
import { type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'
import {
  type LogPage,
  logPage,
  type MessagePage,
  messagePage,
  type TransferPage,
  transferPage,
} from '../types/history.ts'

type PageParams = readonly [Param<Address>, Param<ChainEpoch>, Param<ChainEpoch>, Param<string>, Param<number>]

function pages<T>(name: string, what: string, result: Codec<T>): CallSignature<PageParams, T> {
  return callSignature({
    name,
    cost: 'scan',
    perm: 'read',
    summary:
      `${what}, oldest first, between two epochs (the upper one negative: up to the newest executed tipset), a page of at most ` +
      'so many (0: 1,000) behind the Position of the page before (empty: the first page). A Position whose tipset is no longer ' +
      'on the chain is refused. From the index where there is one, else as far back as state is kept, 100 tipsets a page.',
    params: [
      param('address', address),
      param('from', chainEpoch),
      param('to', chainEpoch),
      param('position', text),
      param('limit', int),
    ],
    result,
  })
}

/** Ours, not Lotus': messages' value, calls between actors, rewards and burns that lasted, attoFIL. */
export const chainListTransfers: CallSignature<PageParams, TransferPage> = pages(
  'ChainListTransfers',
  'Value that moved for good from or to an address',
  transferPage,
)

/** Ours: of messages on the chain only; calls between actors are not among them. */
export const chainListMessages: CallSignature<PageParams, MessagePage> = pages(
  'ChainListMessages',
  'Executed messages from or to an address with their receipts',
  messagePage,
)

/** Ours, kin of `eth_getLogs`: of one address whatever the topics, and in pages instead of a list with an upper bound. */
export const chainListLogs: CallSignature<PageParams, LogPage> = pages(
  'ChainListLogs',
  'Logs of a contract as eth_getLogs has them',
  logPage,
)
