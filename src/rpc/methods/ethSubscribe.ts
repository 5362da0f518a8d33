/**
 * Ethereum's subscriptions: eth_subscribe, eth_unsubscribe. Events are calls of the client's `eth_subscription`.
 * @see lotus node/impl/eth/events.go EthSubscribe, subscriptions.go
 */
import { errorMessage } from '../../base/errors.ts'
import type { Logger, Random } from '../../base/ports.ts'
import { bool, type Json, text } from '../../codec/description.ts'
import { ethHashOf } from '../../eth/ethTransactionOf.ts'
import type { SignedMessage } from '../../types/signedMessage.ts'
import { firstBlock, type Tipset, tipsetKeyText } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import type { EthReader } from '../ethReader.ts'
import { type CallContext, type MethodRow, method, param, rawMethod } from '../method.ts'
import { blockJson, logsOf } from '../types/eth.ts'
import { ethHash, hexBytes } from '../types/ethScalars.ts'
import { logFilter, matchesLog } from './ethEvents.ts'

const NOTIFICATION = 'eth_subscription'
const ID_BYTES = 32
/** Lotus fills only the first half of an id: a UUID. */
const RANDOM_BYTES = 16

/** What the methods need. */
export interface EthSubscribeDeps {
  readonly reader: EthReader
  /** Hears of every message that enters the pool; returns what ends that. */
  readonly onPoolMessage: (listener: (signed: SignedMessage) => void) => () => void
  readonly random: Random
  readonly log: Logger
}

type Send = (result: Json) => void

/** Rows of the subscriptions. */
export function ethSubscribeMethods(deps: EthSubscribeDeps): MethodRow[] {
  const { reader, random } = deps
  const active = new Map<string, () => void>()
  return [
    rawMethod({
      name: 'EthSubscribe',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'Subscribes to newHeads, newPendingTransactions or logs; WebSocket only.',
      aliases: ['eth_subscribe'],
      params: [param('eventType', text), param('params', logFilter)],
      result: ethHash,
      handler: (params, call) => {
        const { notify } = call
        if (notify === undefined) throw new RpcError('FAILED', "connection doesn't support callbacks")
        const id = new Uint8Array(ID_BYTES)
        random.fill(id.subarray(0, RANDOM_BYTES))
        const name = hexBytes(id)
        const stop = start(deps, params, call, (result) => notify(NOTIFICATION, { subscription: name, result }))
        const end = (): void => {
          active.delete(name)
          stop()
        }
        active.set(name, end)
        call.ended.addEventListener('abort', end, { once: true })
        return id
      },
    }),
    method({
      name: 'EthUnsubscribe',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'Ends a subscription; false when there is none.',
      aliases: ['eth_unsubscribe'],
      params: [param('id', ethHash)],
      result: bool,
      handler: (id) => {
        const end = active.get(hexBytes(id))
        end?.()
        return end !== undefined
      },
    }),
  ]

  function start(parts: EthSubscribeDeps, params: Json | undefined, call: CallContext, send: Send): () => void {
    const [kind, filter] = Array.isArray(params) ? params : []
    switch (kind) {
      case 'newHeads':
        return onExecuted(parts, async (tipset) => {
          send(blockJson(await reader.executed(tipset), reader.chainId, true, false))
        })
      case 'newPendingTransactions':
        return parts.onPoolMessage((signed) => {
          send(hexBytes(ethHashOf({ kind: 'signed', message: signed.message, signed }, reader.chainId)))
        })
      case 'logs': {
        const wanted = logFilter.fromJson(filter ?? {}, call.json)
        return onExecuted(parts, async (tipset) => {
          for (const logs of logsOf(await reader.executed(tipset), reader.chainId)) {
            for (const log of logs) if (matchesLog(wanted, log)) send(log.json)
          }
        })
      }
      default:
        throw new RpcError('FAILED', `unsupported event type: ${String(kind)}`)
    }
  }
}

/** Calls for the parents of each applied tipset, once each and in order: they have been executed by then. */
function onExecuted(deps: EthSubscribeDeps, visit: (tipset: Tipset) => Promise<void>): () => void {
  const { store } = deps.reader.view
  let last: string | undefined
  let stopped = false
  let queue: Promise<void> = Promise.resolve()
  const stop = store.onHeadChange((_, applied) => {
    for (const tipset of applied) {
      if (tipset.height === 0) continue
      const key = tipsetKeyText(firstBlock(tipset).parents)
      if (key === last) continue
      last = key
      const parent = store.parent(tipset)
      queue = queue
        .then(() => (stopped ? undefined : visit(parent)))
        .catch((error: unknown) => deps.log.warn('subscription: tipset left out', { message: errorMessage(error) }))
    }
  })
  return () => {
    stopped = true
    stop()
  }
}
