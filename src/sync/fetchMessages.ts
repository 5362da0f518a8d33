/**
 * Messages of tipsets whose headers are here.
 * @see lotus chain/sync.go iterFullTipsets, fetchMessages, checkMsgMeta
 */
import { type BlockMessages, storeBlockMessages } from '../chain/blockMessages.ts'
import type { ChainView } from '../chain/chainView.ts'
import { type Blockstore, OverlayBlockstore } from '../ipld/blockstore.ts'
import { BlockMissing } from '../ipld/errors.ts'
import type { ChainSource, FetchedTipset } from '../p2p/chainSource.ts'
import type { Misbehaviour, PeerName } from '../p2p/peerLinks.ts'
import type { BlockHeader } from '../types/blockHeader.ts'
import { BLOCK_MESSAGE_LIMIT } from '../types/protocol.ts'
import { equalTipsetKeys, type Tipset } from '../types/tipset.ts'
import { SyncError } from './errors.ts'
import { FETCH_ATTEMPTS } from './limits.ts'

/** Where messages are kept, whence they come, and who hears of a peer that sent wrong ones. */
export interface MessageDeps {
  readonly view: ChainView
  readonly source: ChainSource
  readonly report: (peer: PeerName, what: Misbehaviour) => void
}

/** Whether all messages of a block are here. */
export function hasMessages(view: ChainView, header: BlockHeader): boolean {
  try {
    view.blockMessages(header)
    return true
  } catch (error) {
    if (error instanceof BlockMissing) return false
    throw error
  }
}

/**
 * Stores a block's messages if they are those that its header names.
 * @returns what is wrong with them; nothing is stored then
 */
export function keepMessages(store: Blockstore, header: BlockHeader, messages: BlockMessages): string | undefined {
  const tooMany = countError(messages)
  if (tooMany !== undefined) return tooMany
  const written = new OverlayBlockstore(store)
  const root = storeBlockMessages(written, messages)
  if (!root.equals(header.messages)) {
    return `messages did not match msgmeta root in header (${header.messages.toString()} != ${root.toString()})`
  }
  written.flush(root)
  return undefined
}

function countError({ bls, signed }: BlockMessages): string | undefined {
  const count = bls.length + signed.length
  return count > BLOCK_MESSAGE_LIMIT ? `block has too many messages (${count})` : undefined
}

/**
 * Fetches and stores the messages of some tipsets, as many as a peer gives at a time.
 * @param tipsets - consecutive, newest first
 * @throws SyncError `MESSAGES_INVALID` when all that came was wrong; P2pError when nobody answers
 */
export async function fetchMessages(
  deps: MessageDeps,
  tipsets: readonly Tipset[],
  options: { readonly prefer: PeerName | undefined; readonly signal: AbortSignal },
): Promise<void> {
  const { view, source, report } = deps
  const { signal, prefer } = options
  let failures = 0
  for (let done = 0; done < tipsets.length; ) {
    signal.throwIfAborted()
    const head = tipsets[done] as Tipset
    // With their headers, so that the answer names its peer: wrong messages are proven by them.
    const request = { head: head.key, length: tipsets.length - done, messages: true }
    const { peer, tipsets: fetched } = await source.fetch(
      request,
      prefer === undefined || failures > 0 ? { signal } : { prefer, signal },
    )
    const { kept, wrong } = keepWindow(view, tipsets.slice(done), fetched)
    done += kept
    if (wrong === undefined && kept > 0) continue
    report(peer, { fault: 'FALSE_ANSWER', reason: `messages: ${wrong ?? 'none'}` })
    if (++failures === FETCH_ATTEMPTS) {
      throw new SyncError('MESSAGES_INVALID', `failed to fetch messages: ${wrong ?? 'none came'}`)
    }
  }
}

/**
 * Stores what is right from the start of a window.
 * @throws SyncError `MESSAGES_INVALID` when a block has more messages than it may: its maker's fault, not the answer's
 */
function keepWindow(
  view: ChainView,
  tipsets: readonly Tipset[],
  fetched: readonly FetchedTipset[],
): { kept: number; wrong: string | undefined } {
  const count = Math.min(tipsets.length, fetched.length)
  for (let i = 0; i < count; i++) {
    const { key, blocks } = tipsets[i] as Tipset
    const { tipset, messages } = fetched[i] as FetchedTipset
    if (!equalTipsetKeys(tipset.key, key)) return { kept: i, wrong: 'another tipset than asked for' }
    for (const [j, block] of blocks.entries()) {
      const own = messages?.[j]
      const tooMany = own === undefined ? undefined : countError(own)
      if (tooMany !== undefined) throw new SyncError('MESSAGES_INVALID', tooMany)
      const wrong = own === undefined ? 'no messages' : keepMessages(view.store.blocks, block, own)
      if (wrong !== undefined) return { kept: i, wrong }
    }
  }
  return { kept: count, wrong: undefined }
}
