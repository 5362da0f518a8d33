/** Signatures: `Gas…`. */
import { i64, u64 } from '../../codec/description.ts'
import { type SendSpec, sendSpec } from '../../mempool/sendSpec.ts'
import { type Address, address } from '../../types/address.ts'
import { type Message, message } from '../../types/message.ts'
import { gas, tokenAmount } from '../../types/scalars.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'
import { messageParam } from '../types/message.ts'

const key = param('tipsetKey', tipsetKey)

const draft = param('message', messageParam)

export const gasEstimateGasLimit: CallSignature<readonly [Param<Message | null>, Param<TipsetKey>], bigint> =
  callSignature({
    name: 'GasEstimateGasLimit',
    cost: 'execute',
    perm: 'read',
    summary: 'Gas that a message uses after everything pending, without a margin.',
    params: [draft, key],
    result: gas,
  })

export const gasEstimateGasPremium: CallSignature<
  readonly [Param<bigint>, Param<Address>, Param<bigint>, Param<TipsetKey>],
  bigint
> = callSignature({
  name: 'GasEstimateGasPremium',
  cost: 'scan',
  perm: 'read',
  summary: 'A premium that gets a message included within some epochs.',
  params: [param('blocks', u64), param('sender', address), param('gasLimit', i64), key],
  result: tokenAmount,
})

export const gasEstimateFeeCap: CallSignature<
  readonly [Param<Message | null>, Param<bigint>, Param<TipsetKey>],
  bigint
> = callSignature({
  name: 'GasEstimateFeeCap',
  perm: 'read',
  summary: 'A fee cap that holds for some epochs of full blocks.',
  params: [draft, param('maxQueueBlocks', i64), key],
  result: tokenAmount,
})

export const gasEstimateMessageGas: CallSignature<
  readonly [Param<Message | null>, Param<SendSpec>, Param<TipsetKey>],
  Message
> = callSignature({
  name: 'GasEstimateMessageGas',
  cost: 'execute',
  perm: 'read',
  summary: 'The message with gas limit, premium and fee cap filled in.',
  params: [draft, param('spec', sendSpec), key],
  result: message,
})
