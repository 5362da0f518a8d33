/** `MpoolExplain`: ours. */
import { ChainError } from '../../chain/errors.ts'
import { loadSought, NO_LOOKBACK_LIMIT, searchMessage } from '../../chain/searchMessage.ts'
import type { WaitDeps } from '../../chain/waitMessage.ts'
import type { Cid } from '../../codec/cid.ts'
import { type ExplainDeps, heldUpBy } from '../../mempool/explainMessage.ts'
import type { MessagePool } from '../../mempool/messagePool.ts'
import { type Message, messageCid } from '../../types/message.ts'
import { signedMessageCid } from '../../types/signedMessage.ts'
import { type MethodRow, method } from '../method.ts'
import { mpoolExplain } from '../signatures/mpoolExplain.ts'
import type { Explanation } from '../types/explanation.ts'

/** What the method needs. */
export interface MpoolExplainDeps {
  readonly pool: MessagePool
  readonly search: WaitDeps
  readonly baseFeeAfterHead: ExplainDeps['baseFeeAfterHead']
}

const NOWHERE = { from: null, nonce: null, message: null, height: null, exitCode: null, reasons: [] } as const

/** The row. */
export function mpoolExplainMethods({ pool, search, baseFeeAfterHead }: MpoolExplainDeps): MethodRow[] {
  const { addressPrefix } = search.view.network

  async function explain(one: Cid): Promise<Explanation> {
    const { messages } = pool.pending()
    const pending = messages.find((each) => signedMessageCid(each).equals(one) || messageCid(each.message).equals(one))
    return pending === undefined ? await onChain(one) : await waiting(signedMessageCid(pending), pending.message)
  }

  async function waiting(message: Cid, sought: Message): Promise<Explanation> {
    const reasons = await heldUpBy(sought, { pool, baseFeeAfterHead, addressPrefix })
    const [first] = reasons
    const text = first === undefined ? 'waits for the next blocks, nothing holds it up' : `waits: ${first.text}`
    return { ...NOWHERE, state: 'pending', text, from: sought.from, nonce: sought.nonce, message, reasons }
  }

  async function onChain(one: Cid): Promise<Explanation> {
    let sought: ReturnType<typeof loadSought>
    try {
      sought = loadSought(search.view, one)
    } catch (error) {
      if (!(error instanceof ChainError) || error.code !== 'NOT_FOUND') throw error
      const text = 'unknown: this node has never seen it; push it again, or ask the node that it was sent by'
      return { ...NOWHERE, state: 'unknown', text }
    }
    const { from, nonce } = sought.message.message
    const known = { ...NOWHERE, from, nonce }
    try {
      const options = { limit: NO_LOOKBACK_LIMIT, allowReplaced: true }
      const found = await searchMessage(sought, search.view.store.head(), options, search)
      if (found === undefined) return { ...known, ...(await lost(sought.message.message)) }
      const { height } = found.tipset
      const { exitCode } = found.receipt
      const executed = `executed in epoch ${height} with exit code ${exitCode}`
      const text = found.cid.equals(one) ? executed : `replaced by ${found.cid}, which was ${executed}`
      const state = found.cid.equals(one) ? 'executed' : 'replaced'
      return { ...known, state, text, message: found.cid, height, exitCode }
    } catch (error) {
      if (!(error instanceof ChainError) || error.code !== 'MESSAGE_REPLACED') throw error
      return {
        ...known,
        state: 'replaced',
        text: `another message of its sender took nonce ${nonce}: it can never be executed`,
      }
    }
  }

  /** Seen before, and neither pending nor executed. */
  async function lost(sought: Message): Promise<Pick<Explanation, 'state' | 'text' | 'message'>> {
    const other = pool.pendingOf(sought.from).find(({ message }) => message.nonce === sought.nonce)
    if (other !== undefined) {
      return { state: 'replaced', text: `replaced by ${other.cid}, which is pending`, message: other.cid }
    }
    const text = 'not pending: it left the pool, or came with a block that was reverted; push it again'
    return { state: 'unknown', text, message: null }
  }

  return [method({ ...mpoolExplain, handler: explain })]
}
