/** The address map as rows: what the init actor's map gained, and each actor by Ethereum's 20 bytes. */
import type { ChainView } from '../chain/chainView.ts'
import type { StateTree } from '../state/stateTree.ts'
import { addressToEthAddress, maskedIdAddress } from '../types/ethAddress.ts'
import type { Row } from './indexStore.ts'
import { byteText } from './rowText.ts'

/** The states around a tipset's execution; both are shared. */
export interface ExecutedStates {
  readonly before: StateTree
  readonly after: StateTree
}

/** @param isFirst - all that there are, instead of what is new */
export function* addressRows(view: ChainView, { before, after }: ExecutedStates, isFirst: boolean): Iterable<Row> {
  for (const [address, actor] of isFirst ? after.addresses() : after.addressesSince(before)) {
    yield {
      address: view.addressText(address),
      actor,
      eth: byteText(addressToEthAddress(address) ?? maskedIdAddress(actor)),
    }
  }
}
