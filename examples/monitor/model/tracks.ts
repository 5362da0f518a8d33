/** The tracked messages as they stand. */
import { type Cid, messageCid, parseCid, RpcClientError, revertReason, type TipsetKey, type TokenAmount } from 'petrel'
import type { TipsetView } from './chainWindow.ts'
import type { Source } from './evidence.ts'
import type { MonitorNode } from './methods.ts'
import type { Pool } from './pool.ts'
import type { Session } from './session.ts'
import { type Found, type MessageStage, type SenderNonce, stageOf, type TrackerView } from './tracker.ts'

/** Epochs back in which messages are looked for. */
const SEARCH_EPOCHS = 2000

/** A tracked message as it stands. */
export interface TrackRow {
  readonly cid: string
  readonly stage: MessageStage
  readonly source: Source
  readonly sender: SenderNonce | undefined
  readonly value: TokenAmount | undefined
  readonly to: string | undefined
}

/** What stages are made from, besides the node. */
export interface TrackDeps extends Pick<TrackerView, 'inclusion' | 'confirmations' | 'finalDepth'> {
  readonly head: TipsetView
  readonly pool: Pool
}

/** A row for each tracked message. */
export class Tracks {
  readonly #rows = new Map<string, TrackRow>()

  /** @param word - of a message that was not asked for yet */
  row(cid: string, word: Source): TrackRow {
    return (
      this.#rows.get(cid) ?? {
        cid,
        stage: { at: 'searching' },
        source: word,
        sender: undefined,
        value: undefined,
        to: undefined,
      }
    )
  }

  clear(): void {
    this.#rows.clear()
  }

  drop(cid: string): void {
    this.#rows.delete(cid)
  }

  async read(session: Session, deps: TrackDeps, cids: readonly string[]): Promise<void> {
    await Promise.all(cids.map((cid) => this.#readOne(session, deps, cid)))
  }

  async #readOne({ node, evidence }: Session, deps: TrackDeps, text: string): Promise<void> {
    const known = await withMessage(node, deps.pool, this.row(text, evidence.word))
    try {
      const stage = await stageOf(text, known.sender, {
        ...deps,
        head: deps.head.height,
        find: () => findMessage(node, deps.head.key, parseCid(text)),
      })
      const source = 'tipset' in stage ? evidence.source(stage.tipset) : evidence.word
      this.#rows.set(text, { ...known, stage, source })
    } catch (error) {
      if (!(error instanceof RpcClientError)) throw error
    }
  }
}

/** Sender, nonce and value: of the pool, else asked for once. */
async function withMessage(node: MonitorNode, pool: Pool, row: TrackRow): Promise<TrackRow> {
  if (row.sender !== undefined) return row
  const { cid } = row
  const message = pool.find(cid)?.message.message ?? (await node.ChainGetMessage(parseCid(cid)).catch(() => undefined))
  if (message === undefined) return row
  return {
    ...row,
    sender: { from: message.from.toString('f'), nonce: message.nonce },
    value: message.value,
    to: message.to.toString('f'),
  }
}

/**
 * Where a message was executed, as the node says; undefined: nowhere that it knows of.
 * @param from - the head of the chain that is looked through
 */
export async function findMessage(node: MonitorNode, from: TipsetKey, cid: Cid): Promise<Found | undefined> {
  try {
    const found = await node.StateSearchMsg(from, cid, SEARCH_EPOCHS, true)
    if (found === null) return undefined
    const { message, height, tipset, receipt } = found
    const isSame = message.equals(cid) || (await isUnsignedForm(node, cid, message))
    return {
      cid: (isSame ? cid : message).toString(),
      height,
      tipset,
      exitCode: receipt.exitCode,
      reason: receipt.exitCode === 0 ? undefined : revertReason(receipt),
      gasUsed: receipt.gasUsed,
    }
  } catch (error) {
    // A node that never saw the message cannot look for it.
    if (error instanceof RpcClientError && error.code === 'REMOTE') return undefined
    throw error
  }
}

/** A signed message was asked for by the CID that it has without its signature. */
async function isUnsignedForm(node: MonitorNode, asked: Cid, found: Cid): Promise<boolean> {
  return messageCid(await node.ChainGetMessage(found)).equals(asked)
}
