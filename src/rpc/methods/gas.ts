/**
 * Methods `GasEstimate…`.
 * @see lotus node/impl/full/gas.go
 */
import type { ChainView } from '../../chain/chainView.ts'
import { estimateFeeCap } from '../../mempool/gas/feeCap.ts'
import { estimateGasLimit } from '../../mempool/gas/gasLimit.ts'
import { estimateMessageGas, type MessageGasDeps } from '../../mempool/gas/messageGas.ts'
import { firstBlock } from '../../types/tipset.ts'
import { type MethodRow, method } from '../method.ts'
import {
  gasEstimateFeeCap,
  gasEstimateGasLimit,
  gasEstimateGasPremium,
  gasEstimateMessageGas,
} from '../signatures/gas.ts'
import { withNumbers } from '../typedFailure.ts'
import { given } from '../types/message.ts'

/** What the methods need. */
export interface GasMethodsDeps {
  readonly view: ChainView
  readonly gas: MessageGasDeps
}

/** Rows of `GasEstimate…`. */
export function gasMethods({ view, gas: deps }: GasMethodsDeps): MethodRow[] {
  const at = (tipset: readonly never[] | Parameters<typeof view.store.tipsetOrHead>[0]) =>
    view.store.tipsetOrHead(tipset)
  return [
    method({
      ...gasEstimateGasLimit,
      handler: (asked, tipset, { signal }) =>
        withNumbers(() => estimateGasLimit(given(asked), at(tipset), { ...deps, signal })),
    }),
    method({
      ...gasEstimateGasPremium,
      handler: (blocks, _sender, _gasLimit, tipset, { walk }) => walk(deps.premiums.findPremium(blocks, at(tipset))),
    }),
    method({
      ...gasEstimateFeeCap,
      handler: (asked, epochs, tipset) =>
        estimateFeeCap(firstBlock(at(tipset)).parentBaseFee, given(asked).gasPremium, epochs),
    }),
    method({
      ...gasEstimateMessageGas,
      handler: (asked, spec, tipset, { signal, walk }) =>
        withNumbers(() => estimateMessageGas(given(asked), spec, at(tipset), { ...deps, signal, walk })),
    }),
  ]
}
