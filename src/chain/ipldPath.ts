/**
 * The block at the end of a path through the store: `/ipfs/<cid>/<segment>…`, `/ipld/…` or `<cid>/…`. A segment is a key
 * of a map or an index of a list. `@H:`, `@Ha:`, `@Hi:`, `@Hu:` look a key up in a HAMT and `@A:` an index in an AMT, in
 * the layouts of actors v0 to v2 as in Lotus; `@state` reads an actor's state.
 * @see lotus node/impl/full/chain.go ChainGetNode, resolveOnce; go-ipld-legacy node.go ResolveLink
 */
import { utf8 } from '../base/bytes.ts'
import { errorMessage, PetrelError } from '../base/errors.ts'
import { type AnyValue, asLink, dagJson, readAny, writeAny, writeGoJson } from '../codec/anyCbor.ts'
import { type Cid, CODEC_CBOR, CODEC_DAG_CBOR, CODEC_RAW, createCid, HASH_SHA2_256, parseCid } from '../codec/cid.ts'
import { type Codec, decode, type Json, type JsonContext } from '../codec/description.ts'
import { parseGoUint } from '../codec/goUint.ts'
import { varintBytes } from '../codec/varint.ts'
import { sha256 } from '../crypto/hashes.ts'
import { Amt } from '../ipld/amt.ts'
import { type Blockstore, getBlock } from '../ipld/blockstore.ts'
import { Hamt } from '../ipld/hamt.ts'
import { rawParams } from '../state/params/rawParams.ts'
import { type ActorState, actorV5 } from '../types/actor.ts'
import { parseAddress } from '../types/address.ts'
import { ChainError } from './errors.ts'

/** A block that was found. */
export interface IpldObject {
  readonly cid: Cid
  /** DAG-JSON; of a raw block its text. */
  readonly json: Json
}

/** What walking needs. */
export interface IpldPathDeps {
  readonly blocks: Blockstore
  /** An actor's state as JSON. */
  readonly stateJson: (actor: ActorState, context: JsonContext) => Json
}

/** As Go prints bytes that are no text: with replacement characters. */
const plainText = new TextDecoder('utf-8', { ignoreBOM: true })

interface Node {
  readonly cid: Cid
  readonly data: Uint8Array
}

function refused(message: string, cause?: unknown): ChainError {
  return new ChainError('NOT_FOUND', message, {}, cause === undefined ? undefined : { cause })
}

/** Runs a step; what it fails with is told with what was tried. */
function trying<T>(what: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    // A missing block must be fetched, not explained.
    if (!(error instanceof PetrelError) || error.code === 'BLOCK_MISSING') throw error
    throw refused(`${what}: ${errorMessage(error)}`, error)
  }
}

function splitPath(path: string): { root: Cid; segments: string[] } {
  const invalid = (reason: string): ChainError =>
    refused(`parsing path: invalid path ${JSON.stringify(path)}: ${reason}`)
  let parts = path.split('/')
  if (parts[0] === '') {
    const [, namespace, root] = parts
    if (parts.length < 3) throw invalid("path does not begin with '/'")
    if (namespace !== 'ipfs' && namespace !== 'ipld') throw invalid(`unknown namespace ${JSON.stringify(namespace)}`)
    if (root === '') throw invalid('not enough path components')
    parts = parts.slice(2)
  }
  const [root = '', ...segments] = parts
  try {
    return { root: parseCid(root), segments: segments.filter((segment) => segment !== '') }
  } catch (cause) {
    throw invalid(errorMessage(cause))
  }
}

/** A value that is no block of its own becomes one, under its SHA-256. */
function wrapped(blocks: Blockstore, data: Uint8Array): Node {
  const cid = createCid(CODEC_DAG_CBOR, HASH_SHA2_256, sha256(data))
  blocks.put(cid, data)
  return { cid, data }
}

function nodeValue({ cid, data }: Node): AnyValue {
  if (cid.codec === CODEC_DAG_CBOR || cid.codec === CODEC_CBOR) return readAny(data)
  if (cid.codec === CODEC_RAW) return plainText.decode(data)
  throw new ChainError('NOT_SUPPORTED', `not supported: blocks of codec 0x${cid.codec.toString(16)}`)
}

const deferred: Codec<Uint8Array> = rawParams

/** A HAMT key or an AMT index of a segment; undefined: a segment of the data model. */
function treeValue(store: Blockstore, root: Cid, segment: string): Uint8Array | undefined {
  const mark = /^@(Ha|Hi|Hu|H|A):/.exec(segment)
  if (mark === null) return undefined
  const text = segment.slice(mark[0].length)
  if (mark[1] === 'A') {
    const index = Number(wholeNumber(text, 'parsing amt index'))
    const found = trying('resolve amt', () => Amt.load(store, root, deferred, { v0: true }).get(index))
    if (found === undefined) throw refused('resolve amt: not found')
    return found
  }
  const key = hamtKey(mark[1] as string, text)
  const found = trying('resolve hamt', () => Hamt.load(store, root, deferred, { pointerMaps: true }).get(key))
  if (found === undefined) throw refused('resolve hamt: not found')
  return found
}

function wholeNumber(text: string, what: string): bigint {
  const value = trying(what, () => parseGoUint(text.replace(/^[+-]/, ''), 10))
  return text.startsWith('-') ? -value : value
}

/** Signed keys are zigzag varints, as Go's `binary.PutVarint` writes them. */
function hamtKey(kind: string, text: string): Uint8Array {
  if (kind === 'Ha') return trying('parsing addr', () => parseAddress(text)).bytes
  if (kind === 'H') return utf8(text)
  const number = wholeNumber(text, kind === 'Hi' ? 'parsing int64' : 'parsing uint64')
  if (kind === 'Hu') return varintBytes(number)
  return varintBytes(number < 0n ? -2n * number - 1n : 2n * number)
}

/** One step: a link with what is left of the path, or a value that was made a block. */
function step(
  node: Node,
  segments: readonly string[],
  deps: IpldPathDeps,
  context: JsonContext,
): { next: Node | Cid; rest: readonly string[] } {
  const [segment = '', ...rest] = segments
  if (segment === '@state') {
    const actor = trying('unmarshalling actor struct for @state', () => decode(actorV5, node.data))
    return { next: wrapped(deps.blocks, writeGoJson(deps.stateJson(actor, context))), rest }
  }
  const found = treeValue(deps.blocks, node.cid, segment)
  if (found !== undefined) {
    const value = trying('failed to decode cbor object', () => readAny(found))
    return { next: asLink(value) ?? wrapped(deps.blocks, writeAny(value)), rest }
  }
  return follow(nodeValue(node), segments)
}

/** Goes down through maps and lists to a link. */
function follow(start: AnyValue, segments: readonly string[]): { next: Cid; rest: readonly string[] } {
  let value = start
  for (const [i, segment] of segments.entries()) {
    const link = asLink(value)
    if (link !== undefined) return { next: link, rest: segments.slice(i) }
    const at = `error traversing segement ${JSON.stringify(segment)} on node at ${JSON.stringify(segments.slice(0, i).join('/'))}`
    if (Array.isArray(value)) {
      if (!/^\d+$/.test(segment)) {
        throw refused(`${at}: the segment cannot be parsed as a number and the node is a list`)
      }
      if (Number(segment) >= value.length) throw refused(`${at}: array index out of range`)
      value = value[Number(segment)]
    } else if (value !== null && typeof value === 'object' && !(value instanceof Uint8Array)) {
      if (!Object.hasOwn(value, segment)) throw refused(`${at}: no such link found`)
      value = (value as Record<string, unknown>)[segment]
    } else {
      const place = JSON.stringify(segments.slice(0, i).join('/'))
      throw refused(`error traversing at ${place}: tried to resolve through object that had no links`)
    }
  }
  const link = asLink(value)
  if (link === undefined) throw refused('non-link found at given path')
  return { next: link, rest: [] }
}

/**
 * @throws ChainError `NOT_FOUND` for a path that leads nowhere, `NOT_SUPPORTED`; CodecError; BlockMissing
 */
export function ipldAt(path: string, deps: IpldPathDeps, context: JsonContext): IpldObject {
  const load = (cid: Cid): Node => ({ cid, data: getBlock(deps.blocks, cid) })
  const { root, segments } = splitPath(path)
  let node = load(root)
  let rest: readonly string[] = segments
  while (rest.length > 0) {
    const found = step(node, rest, deps, context)
    node = 'data' in found.next ? found.next : load(found.next)
    rest = found.rest
  }
  return { cid: node.cid, json: dagJson(nodeValue(node)) }
}
