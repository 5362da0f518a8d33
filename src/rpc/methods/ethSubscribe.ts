/**
 * Ethereum's subscriptions: eth_subscribe, eth_unsubscribe. Events are calls of the client's `eth_subscription`.
 * @see lotus node/impl/eth/events.go EthSubscribe, subscriptions.go
 */
import { MAX_CHANNELS } from '../../base/bounds.ts'
import type { Logger, Random } from '../../base/ports.ts'
import type { Steps } from '../../base/steps.ts'
import { whenAborted } from '../../base/waiting.ts'
import type { Json } from '../../codec/description.ts'
import { wrongJson } from '../../codec/goJson.ts'
import { ethHashOf } from '../../eth/ethTransactionOf.ts'
import type { SignedMessage } from '../../types/signedMessage.ts'
import { tipsetKeyText } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import { randomFilterId } from '../ethFilters.ts'
import type { EthReader } from '../ethReader.ts'
import { type ExecutedChange, ExecutedFeed, each } from '../executedTipsets.ts'
import { type CallContext, type MethodRow, method, rawMethod } from '../method.ts'
import { ethSubscribe, ethUnsubscribe } from '../signatures/ethSubscribe.ts'
import { Telling } from '../telling.ts'
import { blockJson, type LogJson, printedLogs } from '../types/eth.ts'
import { hexBytes } from '../types/ethScalars.ts'
import { assertTopics, logFilter, matchesNew } from '../types/logFilter.ts'

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

/** A block whose result is known. */
interface NewHead {
  /** Of the tipset that it is. */
  readonly key: string
  readonly json: Json
}

/** What a step of the chain logged, or took back. */
interface NewLogs {
  readonly logs: readonly LogJson[]
  readonly isReverted: boolean
}

/** Rows of the subscriptions. */
export function ethSubscribeMethods(deps: EthSubscribeDeps): MethodRow[] {
  const { reader, random, log } = deps
  const feed = new ExecutedFeed(reader.view.store, log)
  const listen = (tell: (change: ExecutedChange) => void): (() => void) => feed.steps(tell)
  const heads = new Telling<ExecutedChange, NewHead>({
    ...{ listen, log },
    make: async ({ executed, isReverted }, call) =>
      isReverted
        ? undefined
        : { key: tipsetKeyText(executed.key), json: blockJson(await reader.block(executed, call), true, false) },
  })
  const logs = new Telling<ExecutedChange, NewLogs>({
    ...{ listen, log },
    make: async ({ executed, isReverted }, call) => ({
      logs: (await call.walk(printedLogs(await reader.block(executed, call)))).flat(),
      isReverted,
    }),
  })
  const transactions = new Telling<SignedMessage, Json>({
    ...{ listen: deps.onPoolMessage, log },
    make: (signed) => hexBytes(ethHashOf({ kind: 'signed', message: signed.message, signed }, reader.chainId)),
  })
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
        const uncount = call.subscribed?.()
        const send: Send = (result) => notify(NOTIFICATION, { subscription: name, result })
        // Of one that has missed something nobody can tell its client: its connection ends.
        const close = (): void => call.disconnect?.('the node has more to tell than it can')
        let stop: () => void
        try {
          stop = start(params, call, send, close)
        } catch (error) {
          uncount?.()
          throw error
        }
        let stopListening = (): void => undefined
        const end = (): void => {
          if (!active.delete(name)) return
          counts.set(ended, (counts.get(ended) ?? 1) - 1)
          stopListening()
          stop()
          uncount?.()
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

  function start(params: Json | undefined, call: CallContext, send: Send, close: () => void): () => void {
    const [kind, filter] = Array.isArray(params) ? params : []
    switch (kind) {
      case 'newHeads': {
        // Once each: several tipsets may follow the same parents.
        let last: string | undefined
        const value = ({ key, json }: NewHead): void => {
          if (key !== last) send(json)
          last = key
        }
        return heads.on({ value, close }, call)
      }
      case 'newPendingTransactions':
        return transactions.on({ value: send, close }, call)
      case 'logs': {
        const wanted = logFilter.fromJson(filter ?? {}, call.json)
        assertTopics(wanted)
        const unwant = call.wants?.(wanted.bytes)
        const value = ({ logs, isReverted }: NewLogs): Steps<void> =>
          each(logs, (logged) => {
            if (matchesNew(wanted, logged)) send(isReverted ? { ...logged.json, removed: true } : logged.json)
          })
        const stop = logs.on({ value, close }, call)
        return () => {
          stop()
          unwant?.()
        }
      }
      default:
        throw new RpcError('FAILED', `unsupported event type: ${String(kind)}`)
    }
  }
}
