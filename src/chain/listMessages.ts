/**
 * Messages to or from an address.
 * @see lotus node/impl/full/state.go StateListMessages
 */
import type { Steps } from '../base/steps.ts'
import type { Cid } from '../codec/cid.ts'
import type { Address } from '../types/address.ts'
import { chainMessageCid } from '../types/chainMessage.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import type { Tipset } from '../types/tipset.ts'
import { type ChainView, resolveId } from './chainView.ts'
import { ChainError } from './errors.ts'

/**
 * CIDs of the executed messages between `from` and the height `toHeight`, newest tipset first. Addresses are compared as
 * they are written: the ID and the key form of one account do not match each other.
 * @param match - undefined addresses match all; one must be given
 * @throws ChainError `WRONG_MESSAGE` when neither is
 */
export function* listMessages(
  view: ChainView,
  match: { readonly to: Address; readonly from: Address },
  from: Tipset,
  toHeight: ChainEpoch,
): Steps<Cid[]> {
  const { to, from: sender } = match
  if (to.isUndefined && sender.isUndefined) {
    throw new ChainError('WRONG_MESSAGE', 'must specify at least To or From in message filter')
  }
  // An address that does not exist at the start cannot have messages before it.
  const known = resolveId(view.stateBefore(from), to.isUndefined ? sender : to)
  const out: Cid[] = []
  if (known === undefined) return out
  for (let tipset = from; tipset.height >= toHeight; tipset = view.store.parent(tipset)) {
    for (const sent of view.tipsetMessages(tipset)) {
      const { message } = sent
      const matches = (sender.isUndefined || sender.equals(message.from)) && (to.isUndefined || to.equals(message.to))
      if (matches) out.push(chainMessageCid(sent))
    }
    yield
    if (tipset.height === 0) break
  }
  return out
}
