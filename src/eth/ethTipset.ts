/**
 * Tipsets by Ethereum's block parameters.
 * @see lotus node/impl/eth/tipsetresolver.go
 */
import type { Steps } from '../base/steps.ts'
import type { ChainStore } from '../chain/chainStore.ts'
import { ChainError } from '../chain/errors.ts'
import { CodecError } from '../codec/errors.ts'
import { parseEthUint } from '../codec/goUint.ts'
import { CHAIN_FINALITY } from '../types/protocol.ts'
import type { Tipset } from '../types/tipset.ts'

/** Epochs behind the head that "safe" stands for. @see lotus build/buildconstants SafeHeightDistance */
const SAFE_DELAY = 200

/** A height beyond it is a negative one to the reference. */
const MAX_INT64 = (1n << 63n) - 1n

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
 * @param block - `latest`, `pending`, `safe`, `finalized`, or a height: decimal, or hexadecimal after `0x`
 * @param strict - a null round is refused instead of answered by the tipset before it
 * @param tags - default: distances from the head
 * @throws ChainError `NOT_SUPPORTED`, `INVALID_HEIGHT`, `NULL_ROUND`
 */
export function* ethTipset(store: ChainStore, block: string, strict: boolean, tags?: FinalityTags): Steps<Tipset> {
  switch (block) {
    case 'earliest':
      throw new ChainError('NOT_SUPPORTED', 'block param "earliest" is not supported')
    case 'pending':
      return store.head()
    case 'latest':
      return parentOf(store, store.head())
    case 'safe':
      return tags?.safe() ?? behind(store, SAFE_DELAY)
    case 'finalized':
      return tags?.finalized() ?? behind(store, CHAIN_FINALITY)
  }
  const number = parseHeight(block)
  const head = store.head()
  if (number <= MAX_INT64 && number > BigInt(head.height - 1)) {
    throw new ChainError('INVALID_HEIGHT', "requested a future epoch (beyond 'latest')")
  }
  if (number > MAX_INT64)
    throw new ChainError(
      'INVALID_HEIGHT',
      `failed to get tipset at height: ${strict ? number : BigInt.asIntN(64, number)}`,
    )
  const height = Number(number)
  const tipset = yield* store.findByHeight(height, head, 'previous')
  if (strict && tipset.height !== height) {
    throw new ChainError('NULL_ROUND', `requested epoch was a null round (${height})`, { epoch: height })
  }
  return tipset
}

/** The tipset whose result the head builds on; genesis itself while there is nothing else. */
function parentOf(store: ChainStore, head: Tipset): Tipset {
  return head.height === 0 ? head : store.parent(head)
}

function parseHeight(block: string): bigint {
  try {
    return parseEthUint(block)
  } catch (cause) {
    if (!(cause instanceof CodecError)) throw cause
    throw new ChainError('INVALID_HEIGHT', `failed to parse block number: ${cause.message}`, {}, { cause })
  }
}
