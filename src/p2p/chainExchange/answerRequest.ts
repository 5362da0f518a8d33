/**
 * Answers to chain exchange requests, with Lotus' statuses and texts.
 * @see lotus chain/exchange/server.go validateRequest, serviceRequest, collectChainSegment
 */
import { errorMessage } from '../../base/errors.ts'
import type { Steps } from '../../base/steps.ts'
import { CborWriter } from '../../codec/cborWriter.ts'
import type { Cid } from '../../codec/cid.ts'
import type { Blockstore } from '../../ipld/blockstore.ts'
import type { NodeCache } from '../../ipld/nodeCache.ts'
import { type BlockHeader, blockHeader } from '../../types/blockHeader.ts'
import { firstBlock, type Tipset, type TipsetKey } from '../../types/tipset.ts'
import { P2pError } from '../errors.ts'
import { compactedMessagesCbor } from './compactMessages.ts'
import { MAX_LENGTH } from './limits.ts'
import {
  type ExchangeRequest,
  OPTION_HEADERS,
  OPTION_MESSAGES,
  STATUS_BAD_REQUEST,
  STATUS_INTERNAL_ERROR,
  STATUS_OK,
  STATUS_PARTIAL,
} from './messages.ts'

/** What is answered from; a ChainStore is one. */
export interface ExchangeChain {
  readonly blocks: Blockstore
  header(cid: Cid): BlockHeader
  tipset(key: TipsetKey): Tipset
}

/** An answer, as the CBOR of its head and of each tipset. */
export interface EncodedAnswer {
  readonly head: Uint8Array
  readonly tipsets: readonly Uint8Array[]
}

/** An answer without a chain. */
export function refusal(status: number, text: string): EncodedAnswer {
  return encodeAnswer(status, text, [])
}

function encodeAnswer(status: number, text: string, tipsets: readonly Uint8Array[]): EncodedAnswer {
  const writer = new CborWriter(64 + text.length)
  writer.array(3)
  writer.uint(status)
  writer.text(text)
  writer.array(tipsets.length)
  return { head: writer.finish(), tipsets }
}

function objection(request: ExchangeRequest): string | undefined {
  if ((request.options & (OPTION_HEADERS | OPTION_MESSAGES)) === 0n) return 'no options set'
  if (request.length > BigInt(MAX_LENGTH)) return `request length over maximum allowed (${MAX_LENGTH})`
  if (request.length === 0n) return 'invalid request length of zero'
  if (request.head.length === 0) return 'no cids in request'
  return undefined
}

/**
 * The answer to a request, a tipset in each step.
 * @param limit - bytes: the answer ends before the tipset that exceeds them, unless it is the first
 * @param known - tipsets as they were sent before
 */
export function* answerRequest(
  chain: ExchangeChain,
  request: ExchangeRequest,
  limit: () => number,
  known?: NodeCache,
): Steps<EncodedAnswer> {
  const wrong = objection(request)
  if (wrong !== undefined) return refusal(STATUS_BAD_REQUEST, wrong)
  const tipsets: Uint8Array[] = []
  let sizeBytes = 0
  try {
    for (let key: TipsetKey = request.head; ; ) {
      const tipset = loadTipset(chain, key)
      const encoded = encodedTipset(chain, tipset, request.options, known)
      sizeBytes += encoded.length
      if (tipsets.length > 0 && sizeBytes > limit()) break
      tipsets.push(encoded)
      if (tipsets.length >= Number(request.length) || tipset.height === 0) break
      key = firstBlock(tipset).parents
      yield
    }
  } catch (error) {
    return refusal(STATUS_INTERNAL_ERROR, errorMessage(error))
  }
  const status = tipsets.length < Number(request.length) ? STATUS_PARTIAL : STATUS_OK
  return encodeAnswer(status, '', tipsets)
}

function encodedTipset(chain: ExchangeChain, tipset: Tipset, options: bigint, known?: NodeCache): Uint8Array {
  const key = `${options} ${tipset.key.map((cid) => cid.key).join()}`
  const before = known?.get(key)
  if (before !== undefined) return before as Uint8Array
  const encoded = encodeTipset(chain, tipset, options)
  known?.keep(key, encoded, encoded.length)
  return encoded
}

function encodeTipset(chain: ExchangeChain, tipset: Tipset, options: bigint): Uint8Array {
  const writer = new CborWriter(4096)
  writer.array(2)
  if ((options & OPTION_HEADERS) === 0n) writer.array(0)
  else {
    writer.array(tipset.blocks.length)
    for (const block of tipset.blocks) blockHeader.write(writer, block)
  }
  if ((options & OPTION_MESSAGES) === 0n) writer.null()
  else writer.raw(gatherMessages(chain, tipset))
  return writer.finish()
}

function gatherMessages(chain: ExchangeChain, tipset: Tipset): Uint8Array {
  try {
    return compactedMessagesCbor(chain.blocks, tipset.blocks)
  } catch (error) {
    throw new P2pError('BAD_ANSWER', `gather messages failed: ${errorMessage(error)}`, {}, { cause: error })
  }
}

function loadTipset(chain: ExchangeChain, key: TipsetKey): Tipset {
  try {
    return chain.tipset(key)
  } catch (error) {
    const text = `failed loading tipset {${key.map(String).join(',')}}: ${reason(chain, key, error)}`
    throw new P2pError('BAD_ANSWER', text, {}, { cause: error })
  }
}

/** Lotus says which block it was. */
function reason(chain: ExchangeChain, key: TipsetKey, error: unknown): string {
  for (const cid of key) {
    try {
      chain.header(cid)
    } catch (cause) {
      return `get block ${cid}: ${errorMessage(cause)}`
    }
  }
  return errorMessage(error)
}
