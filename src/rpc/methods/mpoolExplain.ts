/** `MpoolExplain`: ours. */
import type { Walk } from '../../base/steps.ts'
import { ChainError } from '../../chain/errors.ts'
import { loadSought, NO_LOOKBACK_LIMIT, searchByCid } from '../../chain/searchMessage.ts'
import type { WaitDeps } from '../../chain/waitMessage.ts'
import type { Cid } from '../../codec/cid.ts'
import { type ExplainDeps, heldUpBy } from '../../mempool/explainMessage.ts'
import type { MessagePool } from '../../mempool/messagePool.ts'
import { type ChainMessage, chainMessageCid } from '../../types/chainMessage.ts'
import { type Message, messageCid } from '../../types/message.ts'
import { signedMessageCid } from '../../types/signedMessage.ts'
import { type CallContext, type MethodRow, method } from '../method.ts'
import { mpoolExplain } from '../signatures/mpoolExplain.ts'
import type { Explanation } from '../types/explanation.ts'

/** What the method needs. */
export interface MpoolExplainDeps {
  readonly pool: MessagePool
  readonly search: WaitDeps
  readonly baseFeeAfterHead: ExplainDeps['baseFeeAfterHead']
}

const NOWHERE = { from: null, nonce: null, message: null, height: null, exitCode: null, reasons: [] } as const

/** A message is asked for by its CID with or without its signature. */
function names(cid: Cid, found: ChainMessage): boolean {
  return chainMessageCid(found).equals(cid) || messageCid(found.message).equals(cid)
}

/** The row. */
export function mpoolExplainMethods({ pool, search, baseFeeAfterHead }: MpoolExplainDeps): MethodRow[] {
  const { addressPrefix } = search.view.network

  async function explain(cid: Cid, { walk }: CallContext): Promise<Explanation> {
    const { messages } = pool.pending()
    const pending = messages.find((each) => signedMessageCid(each).equals(cid) || messageCid(each.message).equals(cid))
    return pending === undefined ? await onChain(cid, walk) : await waiting(signedMessageCid(pending), pending.message)
  }

  async function waiting(message: Cid, sought: Message): Promise<Explanation> {
    const reasons = await heldUpBy(sought, { pool, baseFeeAfterHead, addressPrefix })
    const [first] = reasons
    const text = first === undefined ? 'waits for the next blocks, nothing holds it up' : `waits: ${first.text}`
    return { ...NOWHERE, state: 'pending', text, from: sought.from, nonce: sought.nonce, message, reasons }
  }

  async function onChain(cid: Cid, walk: Walk): Promise<Explanation> {
    let sought: ReturnType<typeof loadSought>
    try {
      sought = loadSought(search.view, cid)
    } catch (error) {
      if (!(error instanceof ChainError) || error.code !== 'NOT_FOUND') throw error
      const text = 'unknown: this node has never seen it; push it again, or ask the node that it was sent by'
      return { ...NOWHERE, state: 'unknown', text }
    }
    const { from, nonce } = sought.message.message
    const known = { ...NOWHERE, from, nonce }
    try {
      const options = { limit: NO_LOOKBACK_LIMIT, allowReplaced: true, walk }
      const found = await searchByCid(cid, search.view.store.head(), options, search)
      if (found === undefined)
        return { ...known, ...(included(cid, sought.message.message) ?? lost(sought.message.message)) }
      const { height } = found.tipset
      const { exitCode } = found.receipt
      const executed = `executed in epoch ${height} with exit code ${exitCode}`
      const isItself = found.cid.equals(cid) || names(cid, loadSought(search.view, found.cid).message)
      const text = isItself ? executed : `replaced by ${found.cid}, which was ${executed}`
      return { ...known, state: isItself ? 'executed' : 'replaced', text, message: found.cid, height, exitCode }
    } catch (error) {
      if (!(error instanceof ChainError) || error.code !== 'MESSAGE_REPLACED') throw error
      return {
        ...known,
        state: 'replaced',
        text: `another message of its sender took nonce ${nonce}: it can never be executed`,
      }
    }
  }

  /** In the head's blocks: it left the pool, and the tipset above executes it. */
  function included(
    cid: Cid,
    { from, nonce }: Message,
  ): (Partial<Explanation> & Pick<Explanation, 'state' | 'text'>) | undefined {
    const { view } = search
    const head = view.store.head()
    const inBlock = view
      .tipsetMessages(head)
      .find(({ message }) => message.nonce === nonce && message.from.equals(from))
    if (inBlock === undefined) return undefined
    const { height } = head
    const isIncluded = `included in epoch ${height}; the next block executes it`
    const isItself = names(cid, inBlock)
    const message = chainMessageCid(inBlock)
    const text = isItself ? isIncluded : `replaced by ${message}, which is ${isIncluded}`
    return { state: isItself ? 'included' : 'replaced', text, message, height }
  }

  /** Seen before, and neither pending nor on the chain. */
  function lost({ from, nonce }: Message): Partial<Explanation> & Pick<Explanation, 'state' | 'text'> {
    const other = pool.pendingOf(from).find(({ message }) => message.nonce === nonce)
    if (other !== undefined) {
      return { state: 'replaced', text: `replaced by ${other.cid}, which is pending`, message: other.cid }
    }
    const text = 'not pending: it left the pool, or came with a block that was reverted; push it again'
    return { state: 'unknown', text }
  }

  return [method({ ...mpoolExplain, handler: explain })]
}
