/** What a sheet asks of the node about a message and an address: each part on its own, so that what comes late holds nothing up. */

import {
  addressToEthAddress,
  type Cid,
  equalTipsetKeys,
  firstBlock,
  parseAddress,
  parseCid,
  type TipsetKey,
  toHex,
} from 'petrel'
import type { TipsetView } from '../chainWindow.ts'
import type { MonitorNode } from '../methods.ts'
import type { Found } from '../tracker.ts'
import { findMessage } from '../tracks.ts'
import { type SeenTransfer, seenTransfers, TransferLog } from '../watch.ts'
import { actorKind, CONTRACT } from './actorKinds.ts'
import { type Replay, replayOf } from './callTree.ts'

/** Transfers of all addresses that are kept while one's are looked for. */
const KEPT_TRANSFERS = 20_000

/** Where a message is. */
export interface MessageFate {
  readonly found: Found | undefined
  /** As the node explains it; undefined: it cannot. */
  readonly explanation: { readonly text: string; readonly command: string | undefined } | undefined
}

export async function messageFate(node: MonitorNode, head: TipsetKey, cid: Cid): Promise<MessageFate> {
  const [found, explained] = await Promise.all([
    findMessage(node, head, cid),
    node.MpoolExplain(cid).catch(() => undefined),
  ])
  const explanation =
    explained === undefined ? undefined : { text: explained.text, command: explained.reasons[0]?.command }
  return { found, explanation }
}

/** The message's execution again. @param found - where it was executed: the tipset that committed to its receipt */
export async function messageReplay(node: MonitorNode, { tipset, cid }: Found): Promise<Replay> {
  // The tipset below it holds the message.
  const { parents } = firstBlock(await node.ChainGetTipSet(tipset))
  return replayOf(await node.StateReplay(parents, parseCid(cid)))
}

/** What the message moved, the calls that it made included. */
export async function messageTransfers(node: MonitorNode, { tipset, cid }: Found): Promise<SeenTransfer[]> {
  const { parents } = firstBlock(await node.ChainGetTipSet(tipset))
  const all = seenTransfers(await node.ChainGetTransfers(parents))
  return all.filter(({ message, value }) => message === cid && value > 0n)
}

/** An actor as the state has it. */
export interface ActorDetails {
  readonly balance: bigint
  readonly nonce: bigint
  /** With the letter f. */
  readonly id: string | undefined
  readonly robust: string | undefined
  /** `0x…`; undefined: it has none. */
  readonly eth: string | undefined
  readonly kind: string | undefined
  readonly code: string
  /** Bytes of a contract's program, at the head; undefined: it is none. */
  readonly programBytes: number | undefined
}

/** @throws RpcClientError `REMOTE`: there is no such actor */
export async function actorDetails(node: MonitorNode, at: TipsetKey, text: string): Promise<ActorDetails> {
  const address = parseAddress(text)
  const actor = await node.StateGetActor(address, at)
  const [id, kind] = await Promise.all([
    node.StateLookupID(address, at).catch(() => undefined),
    actorKind(node, actor.code, at).catch(() => undefined),
  ])
  const robust = text.startsWith('f0')
    ? await node.StateLookupRobustAddress(address, at).catch(() => undefined)
    : address
  const delegated = actor.delegatedAddress ?? robust ?? address
  const eth = addressToEthAddress(delegated)
  return {
    balance: actor.balance,
    nonce: actor.nonce,
    id: id?.toString('f'),
    robust: robust?.toString('f'),
    eth: eth === undefined ? undefined : `0x${toHex(eth)}`,
    kind,
    code: actor.code.toString(),
    programBytes: kind === CONTRACT && eth !== undefined ? await programBytes(node, eth) : undefined,
  }
}

function programBytes(node: MonitorNode, eth: Uint8Array): Promise<number | undefined> {
  return node.EthGetCode(eth, 'latest').then(
    ({ length }) => length,
    () => undefined,
  )
}

/** Epochs back in which an address' transfers are looked for. */
export const TRANSFER_EPOCHS = 60

/** Newest first. @param tipsets - the newest part of the chain, oldest first. @param names - of the address, with the letter f */
export async function addressTransfers(
  node: MonitorNode,
  tipsets: readonly TipsetView[],
  names: readonly string[],
): Promise<SeenTransfer[]> {
  const log = new TransferLog(KEPT_TRANSFERS)
  let position = tipsets[Math.max(0, tipsets.length - TRANSFER_EPOCHS)]?.key ?? []
  while (position.length > 0) {
    const step = await node.ChainGetTransfersSince(position, 1, 0)
    log.apply(step.reverted, step.applied)
    if (step.applied.length === 0 || equalTipsetKeys(step.position, position)) break
    position = step.position
  }
  const found = new Map(names.flatMap((name) => log.of(name)).map((transfer) => [transfer.id, transfer]))
  return [...found.values()].sort((a, b) => b.height - a.height)
}
