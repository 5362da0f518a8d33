/**
 * The base fee over hours and days: samples at fixed epochs, so that those which are known stay of use as the head moves. They
 * are the node's word: headers between them are not fetched, so nothing links them.
 */
import { firstBlock, RpcClientError, type TipsetKey } from 'petrel'
import type { TipsetView } from './chainWindow.ts'
import type { Session } from './session.ts'

/** Spans that the chart offers. */
export const FEE_SPANS = { '1h': 3600, '24h': 86_400, '7d': 604_800 } as const
export type FeeSpan = keyof typeof FEE_SPANS

/** One sample. */
export interface FeePoint {
  readonly height: number
  /** Unix seconds. */
  readonly timestamp: number
  /** AttoFIL per unit of gas. */
  readonly baseFee: bigint
}

/** Samples of one span. */
const SAMPLES = 144
/** Asked for at once. */
const AT_ONCE = 12

function epochsOf(span: FeeSpan, blockDelay: number): number {
  return Math.ceil(FEE_SPANS[span] / blockDelay)
}

/** Heights that are sampled, oldest first: multiples of the step, which do not move with the head. */
export function sampledHeights(head: number, epochs: number): number[] {
  const step = Math.max(1, Math.ceil(epochs / SAMPLES))
  const first = Math.max(0, Math.ceil((head - epochs) / step) * step)
  const out: number[] = []
  for (let height = first; height < head; height += step) out.push(height)
  return out
}

/** The samples that are here, and the asking for those that are not. */
export class FeeHistory {
  readonly #points = new Map<number, FeePoint>()
  #isLoading = false
  #error: string | undefined

  /** Why samples are missing; undefined: none is, or they are on their way. */
  get error(): string | undefined {
    return this.#error
  }

  clear(): void {
    this.#points.clear()
    this.#error = undefined
  }

  /** Oldest first, the head last. @param window - of the newest part of the chain, oldest first */
  points(span: FeeSpan, blockDelay: number, window: readonly TipsetView[]): FeePoint[] {
    const head = window.at(-1)
    if (head === undefined) return []
    const epochs = epochsOf(span, blockDelay)
    const lowest = window[0]?.height ?? 0
    const heights = sampledHeights(head.height, epochs).filter((height) => height < lowest)
    const sampled = heights.flatMap((height) => this.#points.get(height) ?? [])
    return [...sampled, ...window.filter(({ height }) => height >= head.height - epochs)]
  }

  /** Fetches what is missing. @param changed - more is there */
  async load(
    { node, info, connection }: Session,
    span: FeeSpan,
    window: readonly TipsetView[],
    changed: () => void,
  ): Promise<void> {
    const head = window.at(-1)
    // A light node would have to fetch it all.
    if (this.#isLoading || head === undefined || connection.isLight === true) return
    this.#isLoading = true
    const lowest = window[0]?.height ?? 0
    const missing = sampledHeights(head.height, epochsOf(span, info.blockDelay)).filter(
      (height) => height < lowest && !this.#points.has(height),
    )
    try {
      // The newest first: they stand beside what is known.
      for (let left = missing.reverse(); left.length > 0; left = left.slice(AT_ONCE)) {
        await Promise.all(left.slice(0, AT_ONCE).map((height) => this.#ask(node, height, head.key)))
        changed()
      }
      this.#error = undefined
    } catch (error) {
      if (!(error instanceof RpcClientError)) throw error
      if (error.code === 'REMOTE') this.#error = error.message
      changed()
    } finally {
      this.#isLoading = false
    }
  }

  async #ask(node: Session['node'], height: number, head: TipsetKey): Promise<void> {
    const { timestamp, parentBaseFee } = firstBlock(await node.ChainGetTipSetByHeight(height, head))
    this.#points.set(height, { height, timestamp, baseFee: parentBaseFee })
  }
}
