/**
 * Methods `GasEstimate…`.
 * @see lotus node/impl/full/gas.go
 */
import type { ChainView } from '../../chain/chainView.ts'
import { i64, u64 } from '../../codec/description.ts'
import { estimateFeeCap } from '../../mempool/gas/feeCap.ts'
import { estimateGasLimit } from '../../mempool/gas/gasLimit.ts'
import { estimateMessageGas, type MessageGasDeps } from '../../mempool/gas/messageGas.ts'
import { sendSpec } from '../../mempool/sendSpec.ts'
import { address } from '../../types/address.ts'
import { message } from '../../types/message.ts'
import { gas, tokenAmount } from '../../types/scalars.ts'
import { firstBlock, tipsetKey } from '../../types/tipset.ts'
import { type MethodRow, method, param } from '../method.ts'
import { withNumbers } from '../typedFailure.ts'
import { given, messageParam } from '../types/message.ts'

/** What the methods need. */
export interface GasMethodsDeps {
  readonly view: ChainView
  readonly gas: MessageGasDeps
}

const key = param('tipsetKey', tipsetKey)
const one = param('message', messageParam)

/** Rows of `GasEstimate…`. */
export function gasMethods({ view, gas: deps }: GasMethodsDeps): MethodRow[] {
  const at = (tipset: readonly never[] | Parameters<typeof view.store.tipsetOrHead>[0]) =>
    view.store.tipsetOrHead(tipset)
  return [
    method({
      name: 'GasEstimateGasLimit',
      perm: 'read',
      summary: 'Gas that a message uses after everything pending, without a margin.',
      params: [one, key],
      result: gas,
      handler: (asked, tipset) => withNumbers(() => estimateGasLimit(given(asked), at(tipset), deps)),
    }),
    method({
      name: 'GasEstimateGasPremium',
      perm: 'read',
      summary: 'A premium that gets a message included within some epochs.',
      params: [param('blocks', u64), param('sender', address), param('gasLimit', i64), key],
      result: tokenAmount,
      handler: (blocks, _sender, _gasLimit, tipset) => deps.premiums.estimate(blocks, at(tipset)),
    }),
    method({
      name: 'GasEstimateFeeCap',
      perm: 'read',
      summary: 'A fee cap that holds for some epochs of full blocks.',
      params: [one, param('maxQueueBlocks', i64), key],
      result: tokenAmount,
      handler: (asked, epochs, tipset) =>
        estimateFeeCap(firstBlock(at(tipset)).parentBaseFee, given(asked).gasPremium, epochs),
    }),
    method({
      name: 'GasEstimateMessageGas',
      perm: 'read',
      summary: 'The message with gas limit, premium and fee cap filled in.',
      params: [one, param('spec', sendSpec), key],
      result: message,
      handler: (asked, spec, tipset) => withNumbers(() => estimateMessageGas(given(asked), spec, at(tipset), deps)),
    }),
  ]
}
