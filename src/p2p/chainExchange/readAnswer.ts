/**
 * Reads and checks answers, tipset by tipset: a liar is found out at its first lie.
 * @see lotus chain/exchange/client.go processResponse, validateCompressedIndices
 */

import { fromUtf8 } from '../../base/bytes.ts'
import type { BlockMessages } from '../../chain/blockMessages.ts'
import { MAJOR_ARRAY, MAJOR_TEXT, MAJOR_UINT } from '../../codec/cbor.ts'
import { decode } from '../../codec/description.ts'
import { createTipset, firstBlock, repeatedCid, sameCids, type Tipset, type TipsetKey } from '../../types/tipset.ts'
import type { FetchedTipset } from '../chainSource.ts'
import { P2pError } from '../errors.ts'
import type { StreamReader } from '../framing/streamReader.ts'
import { checkMessageRoots, expandMessages } from './compactMessages.ts'
import { MAX_TEXT_BYTES } from './limits.ts'
import {
  type CompactedMessages,
  type ExchangeTipset,
  exchangeTipset,
  STATUS_BAD_REQUEST,
  STATUS_GO_AWAY,
  STATUS_INTERNAL_ERROR,
  STATUS_NOT_FOUND,
  STATUS_OK,
  STATUS_PARTIAL,
} from './messages.ts'

/** What was asked, as far as the answer depends on it. */
export interface Expected {
  readonly length: number
  /** Of each tipset. */
  readonly maxTipsetBytes: number
}

const STATUS_NAMES: ReadonlyMap<number, string> = new Map([
  [STATUS_NOT_FOUND, 'not found'],
  [STATUS_GO_AWAY, 'go away'],
  [STATUS_INTERNAL_ERROR, 'peer errored'],
  [STATUS_BAD_REQUEST, 'request invalid'],
])

function bad(text: string): P2pError {
  return new P2pError('BAD_ANSWER', `Cannot use answer: ${text}`)
}

async function head(reader: StreamReader, major: number, what: string): Promise<number> {
  const got = await reader.cborHead()
  if (got.major !== major) throw new P2pError('MALFORMED', `Cannot read answer: no ${what}`)
  return got.argument
}

/**
 * Reads an answer and hands each tipset to `take`, until that has no use for more.
 * @returns whether these were all that was asked for, or the peer stopped early
 * @throws P2pError `PEER_REFUSED` (a status), `BAD_ANSWER`, `MALFORMED`; CodecError; what reading throws
 */
export async function readAnswer(
  reader: StreamReader,
  expected: Expected,
  take: (tipset: ExchangeTipset) => boolean,
): Promise<'complete' | 'partial'> {
  if ((await head(reader, MAJOR_ARRAY, 'array')) !== 3)
    throw new P2pError('MALFORMED', 'Cannot read answer: not three fields')
  const status = await head(reader, MAJOR_UINT, 'status')
  const textBytes = await head(reader, MAJOR_TEXT, 'text')
  if (textBytes > MAX_TEXT_BYTES) throw new P2pError('TOO_LARGE', `Cannot read answer: a text of ${textBytes} bytes`)
  const text = fromUtf8(await reader.bytes(textBytes))
  const count = await head(reader, MAJOR_ARRAY, 'chain')
  if (status !== STATUS_OK && status !== STATUS_PARTIAL) {
    throw new P2pError(
      'PEER_REFUSED',
      `${STATUS_NAMES.get(status) ?? `unrecognized response code: ${status}`}: ${text}`,
      { status },
    )
  }
  if (count === 0) throw new P2pError('PEER_REFUSED', 'got no chain in successful response')
  if (count > expected.length) throw bad(`got longer response (${count}) than requested (${expected.length})`)
  if (count < expected.length && status !== STATUS_PARTIAL) {
    throw new P2pError('PEER_REFUSED', `got less than requested without a proper status: ${status}`)
  }
  for (let i = 0; i < count; i++) {
    if (!take(decode(exchangeTipset, await reader.cborItem(expected.maxTipsetBytes)))) return 'partial'
  }
  return count < expected.length ? 'partial' : 'complete'
}

/**
 * The tipset at its place in the chain: what was asked for, or what the one before it names, in whatever order.
 * @param child - the tipset before it; undefined for the first, which must be `key`
 * @throws P2pError `BAD_ANSWER`; CodecError when the blocks make no tipset
 */
function linkedTipset(answer: ExchangeTipset, key: TipsetKey, child: Tipset | undefined): Tipset {
  const tipset = createTipset(answer.blocks)
  if (child === undefined) {
    if (!sameCids(key, tipset.key)) throw bad('returned chain head does not match request')
  } else if (!sameCids(firstBlock(child).parents, tipset.key)) {
    throw bad(`tipsets are not connected at height ${child.height}/${tipset.height}`)
  }
  return tipset
}

/**
 * The messages of a tipset's blocks.
 * @throws P2pError `BAD_ANSWER` when there are none, or they are not what the headers name
 */
export function checkedMessages(compacted: CompactedMessages | null, tipset: Tipset): BlockMessages[] {
  if (compacted === null) throw bad(`no messages included for tipset at height ${tipset.height}`)
  const messages = expandMessages(compacted, tipset.blocks.length)
  checkMessageRoots(tipset, messages)
  return messages
}

/**
 * What a tipset of an answer is, its messages with it when they were asked for.
 * @returns undefined below a child that names one of its parents twice: there is no such tipset, though others give one, in good faith
 */
export function fetchedTipset(
  answer: ExchangeTipset,
  key: TipsetKey,
  child: Tipset | undefined,
  withMessages: boolean,
): FetchedTipset | undefined {
  if (child !== undefined && repeatedCid(firstBlock(child).parents) !== undefined) return undefined
  const tipset = linkedTipset(answer, key, child)
  return { tipset, messages: withMessages ? checkedMessages(answer.messages, tipset) : undefined }
}
