/**
 * Ethereum's subscriptions: eth_subscribe, eth_unsubscribe. Events are calls of the client's `eth_subscription`.
 * @see lotus node/impl/eth/events.go EthSubscribe, subscriptions.go
 */
import { MAX_CHANNELS } from '../../base/bounds.ts'
import type { Logger, Random } from '../../base/ports.ts'
import { whenAborted } from '../../base/waiting.ts'
import type { Json } from '../../codec/description.ts'
import { wrongJson } from '../../codec/goJson.ts'
import { ethHashOf } from '../../eth/ethTransactionOf.ts'
import type { SignedMessage } from '../../types/signedMessage.ts'
import { tipsetKeyText } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import { randomFilterId } from '../ethFilters.ts'
import type { EthReader } from '../ethReader.ts'
import { ExecutedFeed, type ExecutedVisit, each, oncePerStep } from '../executedTipsets.ts'
import { type CallContext, type MethodRow, method, rawMethod } from '../method.ts'
import { ethSubscribe, ethUnsubscribe } from '../signatures/ethSubscribe.ts'
import { blockJson, type LogJson, printedLogs } from '../types/eth.ts'
import { hexBytes } from '../types/ethScalars.ts'
import { logFilter, matchesNew } from '../types/logFilter.ts'

const NOTIFICATION = 'eth_subscription'

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
  const { reader, random, log } = deps
  const feed = new ExecutedFeed(reader.view.store, log)
  const blockOf = oncePerStep(async (executed, call) => blockJson(await reader.block(executed, call), true, false))
  const logsOf = oncePerStep(async (executed, call) =>
    (await call.walk(printedLogs(await reader.block(executed, call)))).flat(),
  )
  const active = new Map<string, () => void>()
  /** Subscriptions by what ends with their connection. */
  const counts = new WeakMap<AbortSignal, number>()
  return [
    rawMethod({
      ...ethSubscribe,
      handler: (params, call) => {
        const [kind] = Array.isArray(params) ? params : []
        if (kind !== undefined && kind !== null && typeof kind !== 'string') {
          throw new RpcError('FAILED', `decoding params: ${wrongJson(kind, 'string').message}`)
        }
        const { notify } = call
        if (notify === undefined) throw new RpcError('FAILED', "connection doesn't support callbacks")
        const { ended } = call
        const count = counts.get(ended) ?? 0
        if (count >= MAX_CHANNELS) {
          throw new RpcError('FAILED', `too many subscriptions on this connection, at most ${MAX_CHANNELS}`)
        }
        const id = randomFilterId(random)
        const name = hexBytes(id)
        const stop = start(params, call, (result) => notify(NOTIFICATION, { subscription: name, result }))
        let stopListening = (): void => undefined
        const end = (): void => {
          if (!active.delete(name)) return
          counts.set(ended, (counts.get(ended) ?? 1) - 1)
          stopListening()
          stop()
        }
        active.set(name, end)
        counts.set(ended, count + 1)
        stopListening = whenAborted(ended, end)
        return id
      },
    }),
    method({
      ...ethUnsubscribe,
      handler: (id) => {
        const end = active.get(hexBytes(id))
        end?.()
        return end !== undefined
      },
    }),
  ]

  function start(params: Json | undefined, call: CallContext, send: Send): () => void {
    const [kind, filter] = Array.isArray(params) ? params : []
    switch (kind) {
      case 'newHeads':
        return onNewParents(feed, async (change, ended) => {
          await call.walk(each([await blockOf(change, call)], send), ended)
        })
      case 'newPendingTransactions':
        return deps.onPoolMessage((signed) => {
          send(hexBytes(ethHashOf({ kind: 'signed', message: signed.message, signed }, reader.chainId)))
        })
      case 'logs': {
        const wanted = logFilter.fromJson(filter ?? {}, call.json)
        return feed.on(async (change, ended) => {
          const tell = (logged: LogJson): void => {
            if (matchesNew(wanted, logged)) send(change.isReverted ? { ...logged.json, removed: true } : logged.json)
          }
          await call.walk(each(await logsOf(change, call), tell), ended)
        })
      }
      default:
        throw new RpcError('FAILED', `unsupported event type: ${String(kind)}`)
    }
  }
}

/** Blocks whose result is known, once each: several tipsets may follow the same parents. */
function onNewParents(feed: ExecutedFeed, visit: ExecutedVisit): () => void {
  let last: string | undefined
  return feed.on(async (change, ended) => {
    const key = tipsetKeyText(change.executed.key)
    if (change.isReverted || key === last) return
    last = key
    await visit(change, ended)
  })
}
