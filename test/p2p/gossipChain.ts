/** The chain that gossip was recorded on, and validators on it. */
import { fromHex, toHex } from '../../src/base/bytes.ts'
import type { ChainView } from '../../src/chain/chainView.ts'
import type { VmHost } from '../../src/chain/vm.ts'
import { decode } from '../../src/codec/description.ts'
import { type BlockMsg, blockMsg } from '../../src/p2p/gossip/blockMsg.ts'
import { headerCid } from '../../src/types/blockHeader.ts'
import { readSharedZstd } from '../support/recorded.ts'
import { openRecordedView } from '../support/recordedView.ts'
import { VirtualTime } from '../support/virtualTime.ts'

/** A gossip message that Lotus sent. */
export interface WireGossip {
  readonly topic: string
  readonly data: Uint8Array
  readonly envelope: Uint8Array
  readonly id: Uint8Array
}

export function wireGossip(): WireGossip[] {
  const rows = readSharedZstd('data/golden/wire/p2p.jsonl.zst').trimEnd().split('\n')
  return rows
    .map((line) => JSON.parse(line) as Record<string, string>)
    .filter((row) => row.envelope !== undefined)
    .map((row) => ({
      topic: row.topic as string,
      data: fromHex(row.data as string),
      envelope: fromHex(row.envelope as string),
      id: fromHex(row.id as string),
    }))
}

/** The recorded blocks, in order of height. */
export function wireBlocks(): BlockMsg[] {
  const blocks = wireGossip().filter(({ topic }) => topic.includes('/blocks/'))
  return blocks.map(({ data }) => decode(blockMsg, data)).sort((a, b) => a.header.height - b.header.height)
}

/** The chain with its head at a block's parents, at the time of the block or so much later. */
export function chainBefore(
  block: BlockMsg,
  aheadMs = 0,
): {
  view: ChainView
  vm: VmHost
  executes: boolean
  time: VirtualTime
} {
  const opened = openRecordedView('wire')
  const { store } = opened.view
  store.setHead(store.tipset(block.header.parents))
  return { ...opened, time: new VirtualTime(block.header.timestamp * 1000 + aheadMs) }
}

export function nameOf(block: BlockMsg): string {
  return `${block.header.height} ${toHex(headerCid(block.header).digest.subarray(0, 4))}`
}
