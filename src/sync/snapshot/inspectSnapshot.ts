/** What a snapshot holds, and whether a node can start from it. */

import type { ArchiveStore } from '../../archive/carStore.ts'
import type { Cid } from '../../codec/cid.ts'
import { decode } from '../../codec/description.ts'
import { CodecError } from '../../codec/errors.ts'
import { type Blockstore, getBlock, hasBlock } from '../../ipld/blockstore.ts'
import { IpldError } from '../../ipld/errors.ts'
import { type BlockHeader, blockHeader } from '../../types/blockHeader.ts'
import { createTipset, firstBlock, type Tipset, type TipsetKey } from '../../types/tipset.ts'
import { SnapshotError } from './errors.ts'
import { type F3DataHeader, readF3Data } from './f3Data.ts'
import { readMetadata } from './metadata.ts'

/** Tipsets looked at between two pauses. */
const SLICE_TIPSETS = 2000

/** What {@link inspectSnapshot} tells. */
export interface SnapshotInfo {
  /** 1, or 2 with a metadata block. */
  readonly version: 1 | 2
  readonly head: Tipset
  readonly genesis: BlockHeader
  readonly genesisCid: Cid
  readonly tipsets: number
  readonly headers: number
  /** Tipsets from the head down whose parent state's root is there, and the height of the last of them. */
  readonly states: { readonly tipsets: number; readonly lowest: number }
  /** The same of messages. */
  readonly messages: { readonly tipsets: number; readonly lowest: number }
  readonly f3: F3DataHeader | undefined
}

/** How it goes about it. */
export interface InspectOptions {
  /** Now and then: the height that was reached; lets others run, throws to end it. */
  readonly pause?: (height: number) => Promise<void>
}

/**
 * Follows the headers from the head to genesis: every one must be there.
 * @throws SnapshotError `INVALID_SNAPSHOT` when a header is missing or is none
 */
export async function inspectSnapshot(store: ArchiveStore, options: InspectOptions = {}): Promise<SnapshotInfo> {
  const metadata = readMetadata(store, store.roots)
  if (store.roots.length === 0) throw new SnapshotError('INVALID_SNAPSHOT', 'Cannot use snapshot: it has no roots')
  const key: TipsetKey = metadata?.headTipsetKey ?? store.roots
  const head = loadTipset(store, key)
  const states = { tipsets: 0, lowest: head.height }
  const messages = { tipsets: 0, lowest: head.height }
  let tipset = head
  let tipsets = 0
  let headers = 0
  let hasStates = true
  let hasMessages = true
  for (;;) {
    tipsets++
    headers += tipset.blocks.length
    const { height } = tipset
    hasStates &&= hasBlock(store, firstBlock(tipset).parentStateRoot)
    if (hasStates) {
      states.tipsets++
      states.lowest = height
    }
    hasMessages &&= tipset.blocks.every((block) => hasBlock(store, block.messages))
    if (hasMessages) {
      messages.tipsets++
      messages.lowest = height
    }
    if (height === 0) break
    const parent = loadTipset(store, firstBlock(tipset).parents)
    if (parent.height >= height)
      throw new SnapshotError('INVALID_SNAPSHOT', `Cannot use snapshot: heights do not fall at ${height}`)
    tipset = parent
    if (tipsets % SLICE_TIPSETS === 0) await options.pause?.(tipset.height)
  }
  const genesis = firstBlock(tipset)
  const f3 = metadata?.f3Data === undefined ? undefined : readF3Header(store, metadata.f3Data)
  const genesisCid = tipset.key[0] as Cid
  return { version: metadata === undefined ? 1 : 2, head, genesis, genesisCid, tipsets, headers, states, messages, f3 }
}

function loadTipset(store: Blockstore, key: TipsetKey): Tipset {
  try {
    return createTipset(key.map((cid) => decode(blockHeader, getBlock(store, cid))))
  } catch (cause) {
    if (cause instanceof IpldError && cause.code === 'NOT_INDEXED') throw cause
    if (!(cause instanceof IpldError || cause instanceof CodecError)) throw cause
    const message = `Cannot use snapshot: no tipset ${key.join(', ')} in it: ${cause.message}`
    throw new SnapshotError('INVALID_SNAPSHOT', message, {}, { cause })
  }
}

function readF3Header(store: Blockstore, f3Data: Cid): F3DataHeader | undefined {
  let found: F3DataHeader | undefined
  readF3Data(store, f3Data, {
    header: (header) => {
      found = header
    },
    certificate: () => undefined,
  })
  return found
}

/**
 * Whether a node of that network can start from it.
 * @throws SnapshotError `WRONG_NETWORK`; `INVALID_SNAPSHOT` when the state of the head or of genesis is missing
 */
export function assertUsable(
  store: Blockstore,
  info: SnapshotInfo,
  network: { readonly name: string; readonly genesisCid: Cid | null },
): void {
  const { genesisCid } = network
  if (genesisCid !== null && !genesisCid.equals(info.genesisCid)) {
    const message = `Cannot use snapshot: its genesis is ${info.genesisCid}, that of ${network.name} is ${genesisCid}`
    throw new SnapshotError('WRONG_NETWORK', message)
  }
  if (info.states.tipsets > 0 && hasBlock(store, info.genesis.parentStateRoot)) return
  const which = info.states.tipsets === 0 ? 'head' : 'genesis'
  throw new SnapshotError('INVALID_SNAPSHOT', `Cannot use snapshot: the state of its ${which} is not in it`)
}
