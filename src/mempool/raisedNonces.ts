import { unlessThrown } from '../base/errors.ts'
import type { Steps } from '../base/steps.ts'
import { BlockMissing } from '../ipld/errors.ts'
import { type Address, isIdAddress } from '../types/address.ts'
import type { Nonce } from '../types/scalars.ts'
import type { Tipset } from '../types/tipset.ts'
import { MempoolError } from './errors.ts'
import type { ActorReader, MempoolChain, SenderState } from './ports.ts'

/**
 * The chain of a node that executes nothing: what it calls the state after a tipset is the one before it, and a sender whose message
 * stands in the tipset would seem to have a gap. So nonces are raised by the tipset's own messages.
 */
export function raisedNonces(chain: MempoolChain): MempoolChain {
  let last: { readonly tipset: Tipset; readonly nonces: ReadonlyMap<string, Nonce> } | undefined
  return {
    ...chain,
    stateAfter: async (tipset) => {
      const before = await chain.stateAfter(tipset)
      if (last?.tipset !== tipset) {
        // They come with the head, unless nobody has them.
        const nonces = unlessThrown(() => noncesAfter(chain, tipset), BlockMissing)
        if (nonces === undefined) return before
        last = { tipset, nonces }
      }
      return raised(before, last.nonces)
    },
  }
}

/** By key address: the nonce behind a sender's last message. */
function noncesAfter(chain: MempoolChain, tipset: Tipset): ReadonlyMap<string, Nonce> {
  const nonces = new Map<string, Nonce>()
  for (const { message } of chain.tipsetMessages(tipset)) {
    const { from, nonce } = message
    const key = isIdAddress(from) ? unlessThrown(() => chain.keyAddressAtFinality(from, tipset), MempoolError) : from
    if (key !== undefined && nonce >= (nonces.get(key.key) ?? 0n)) nonces.set(key.key, nonce + 1n)
  }
  return nonces
}

function raised(before: ActorReader, nonces: ReadonlyMap<string, Nonce>): ActorReader {
  const raise = <T extends SenderState>(state: T | undefined, address: Address): T | undefined => {
    const nonce = nonces.get(address.key)
    return state === undefined || nonce === undefined || nonce <= state.nonce ? state : { ...state, nonce }
  }
  return {
    actor: (address) => raise(before.actor(address), address),
    checkedActor: (address) => raise(before.checkedActor(address), address),
    *senders(): Steps<(address: Address) => SenderState | undefined> {
      const of = yield* before.senders()
      return (address) => raise(of(address), address)
    },
  }
}
