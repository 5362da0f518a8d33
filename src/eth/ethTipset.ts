/**
 * Tipsets by Ethereum's block parameters.
 * @see lotus node/impl/eth/tipsetresolver.go
 */
import type { ChainStore } from '../chain/chainStore.ts'
import { ChainError } from '../chain/errors.ts'
import { CHAIN_FINALITY } from '../types/protocol.ts'
import type { Tipset } from '../types/tipset.ts'

/** Epochs behind the head that "safe" stands for. @see lotus build/buildconstants SafeHeightDistance */
const SAFE_DELAY = 200

/** What the tags about finality stand for. */
export interface FinalityTags {
  safe(): Tipset
  finalized(): Tipset
}

function behind(store: ChainStore, distance: number): Tipset {
  const head = store.head()
  return store.tipsetByHeight(Math.max(0, head.height - distance), head, 'previous')
}

/**
 * @param block - `latest`, `pending`, `safe`, `finalized`, or a height in hexadecimal
 * @param strict - a null round is refused instead of answered by the tipset before it
 * @param tags - default: distances from the head
 * @throws ChainError `NOT_SUPPORTED`, `INVALID_HEIGHT`, `NULL_ROUND`
 */
export function ethTipset(store: ChainStore, block: string, strict: boolean, tags?: FinalityTags): Tipset {
  switch (block) {
    case 'earliest':
      throw new ChainError('NOT_SUPPORTED', 'block param "earliest" is not supported')
    case 'pending':
      return store.head()
    case 'latest':
      return store.parent(store.head())
    case 'safe':
      return tags?.safe() ?? behind(store, SAFE_DELAY)
    case 'finalized':
      return tags?.finalized() ?? behind(store, CHAIN_FINALITY)
  }
  if (!/^0x[0-9a-fA-F]{1,13}$/.test(block)) {
    throw new ChainError('INVALID_HEIGHT', `failed to parse block number: cannot parse ${block}`)
  }
  const height = Number(block)
  const head = store.head()
  if (height > head.height - 1) {
    throw new ChainError('INVALID_HEIGHT', "requested a future epoch (beyond 'latest')")
  }
  const tipset = store.tipsetByHeight(height, head, 'previous')
  if (strict && tipset.height !== height) {
    throw new ChainError('NULL_ROUND', `requested epoch was a null round (${height})`, { epoch: height })
  }
  return tipset
}
