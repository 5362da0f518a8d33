/** What a person looks for: an epoch, a CID, a transaction hash, an address. */
import { type Cid, fromHex, parseCid, RpcClientError, type TipsetKey } from 'petrel'
import { MonitorError } from '../errors.ts'
import type { MonitorNode } from '../methods.ts'
import { readAddress } from '../watch.ts'

/** What the sheet shows. Addresses with the letter f. */
export type Thing =
  | { readonly kind: 'tipset'; readonly key: TipsetKey }
  | { readonly kind: 'block'; readonly cid: Cid }
  | { readonly kind: 'message'; readonly cid: Cid }
  | { readonly kind: 'address'; readonly address: string }

type Query =
  | { readonly kind: 'epoch'; readonly height: number }
  | { readonly kind: 'cids'; readonly cids: readonly [Cid, ...Cid[]] }
  | { readonly kind: 'hash'; readonly hash: Uint8Array }
  | { readonly kind: 'address'; readonly address: string }

/** @throws CodecError when it is none of them; MonitorError `NOT_FOUND` when it is empty */
export function readQuery(text: string): Query {
  const given = text.trim()
  if (given === '')
    throw new MonitorError('NOT_FOUND', 'an epoch, a CID, a transaction or an address can be looked for')
  // Digits as they are shown, with a space between groups.
  const digits = given.replace(/[\s,']/g, '')
  if (/^\d{1,12}$/.test(digits)) return { kind: 'epoch', height: Number(digits) }
  if (/^0x[0-9a-f]{64}$/i.test(given)) return { kind: 'hash', hash: fromHex(given.slice(2).toLowerCase()) }
  if (/^(bafy|bafk|baf2)/i.test(given)) {
    const [first = '', ...rest] = given.split(/[\s,]+/)
    return { kind: 'cids', cids: [parseCid(first), ...rest.map((other) => parseCid(other))] }
  }
  return { kind: 'address', address: readAddress(given).toString('f') }
}

/**
 * Finds what a query means on the chain that the head ends.
 * @throws CodecError, RpcClientError; MonitorError `NOT_FOUND`
 */
export async function findThing(node: MonitorNode, head: TipsetKey, text: string): Promise<Thing> {
  const query = readQuery(text)
  switch (query.kind) {
    case 'address':
      return query
    case 'epoch':
      return { kind: 'tipset', key: (await node.ChainGetTipSetByHeight(query.height, head)).key }
    case 'hash': {
      const cid = await node.EthGetMessageCidByTransactionHash(query.hash)
      if (cid === null) throw new MonitorError('NOT_FOUND', 'the node knows no transaction by this hash')
      return { kind: 'message', cid }
    }
    case 'cids': {
      const [cid, ...more] = query.cids
      if (more.length > 0) return { kind: 'tipset', key: query.cids }
      // A block is asked for first: to a message's CID a node answers at once that it is none.
      if (await isThere(() => node.ChainGetBlock(cid))) return { kind: 'block', cid }
      if (await isThere(() => node.ChainGetMessage(cid))) return { kind: 'message', cid }
      throw new MonitorError('NOT_FOUND', 'the node knows neither a block nor a message by this CID')
    }
  }
}

async function isThere(ask: () => Promise<unknown>): Promise<boolean> {
  try {
    await ask()
    return true
  } catch (error) {
    if (error instanceof RpcClientError && error.code === 'REMOTE') return false
    throw error
  }
}
