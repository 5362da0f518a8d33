/**
 * Methods that search events: eth_getLogs, GetActorEventsRaw.
 * @see lotus node/impl/eth/events.go, node/impl/full/actor_events.go
 */
import { toHex } from '../../base/bytes.ts'
import { resolveId } from '../../chain/chainView.ts'
import { type Codec, cid, type Json, json, jsonField, jsonOnly } from '../../codec/description.ts'
import { CodecError } from '../../codec/errors.ts'
import { executedTipsetsBetween } from '../../eth/eventSearch.ts'
import { type Address, address, idAddress } from '../../types/address.ts'
import { chainMessageCid } from '../../types/chainMessage.ts'
import { type ActorEvent, eventEntry } from '../../types/event.ts'
import { type Tipset, tipsetKey } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import type { EthReader } from '../ethReader.ts'
import { type MethodRow, method, param } from '../method.ts'
import { logsOf } from '../types/eth.ts'
import { ethAddress, ethHash, hexBytes } from '../types/ethScalars.ts'

/** Stands for "up to the head". */
const TO_HEAD = -1

/** Which logs are wanted. */
export interface LogFilter {
  readonly fromBlock: string | undefined
  readonly toBlock: string | undefined
  readonly blockHash: Uint8Array | undefined
  /** Hexadecimal; empty: all. */
  readonly addresses: ReadonlySet<string>
  /** By position; undefined: any. */
  readonly topics: readonly (ReadonlySet<string> | undefined)[]
}

function isObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function asList(value: Json | undefined): Json[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value]
}

/** A filter of logs. */
export const logFilter: Codec<LogFilter> = jsonOnly<LogFilter>(
  'ethtypes.EthFilterSpec',
  () => null,
  (given, context) => {
    if (!isObject(given)) throw new CodecError('INVALID_JSON', 'Cannot read filter: expected an object')
    const textOf = (name: string): string | undefined => {
      const value = jsonField(given, name)
      return typeof value === 'string' && value !== '' ? value : undefined
    }
    const hash = jsonField(given, 'blockHash')
    return {
      fromBlock: textOf('fromBlock'),
      toBlock: textOf('toBlock'),
      blockHash: hash === undefined || hash === null ? undefined : ethHash.fromJson(hash, context),
      addresses: new Set(asList(jsonField(given, 'address')).map((one) => hexBytes(ethAddress.fromJson(one, context)))),
      topics: asList(jsonField(given, 'topics')).map((one) => {
        const any = asList(one)
        return any.length === 0 ? undefined : new Set(any.map((topic) => hexBytes(ethHash.fromJson(topic, context))))
      }),
    }
  },
  { type: 'object' },
)

function heightOf(block: string | undefined, name: string, latest: number): number {
  if (block === undefined || block === 'latest') return latest
  if (block === 'earliest') return 0
  if (!block.startsWith('0x')) throw new RpcError('FAILED', `${name} is not a hex`)
  if (!/^0x[0-9a-fA-F]{1,13}$/.test(block)) throw new RpcError('FAILED', 'invalid epoch')
  return Number(block)
}

const WRAPPED = 'failed to get events for filter: failed to parse eth filter spec: '

function tipsetsOf(reader: EthReader, filter: LogFilter): Tipset[] {
  const { store } = reader.view
  if (filter.blockHash !== undefined) return [reader.tipsetOfHash(filter.blockHash)]
  const head = store.head().height
  const from = heightOf(filter.fromBlock, 'FromBlock', head)
  const to = heightOf(filter.toBlock, 'ToBlock', TO_HEAD)
  if (to !== TO_HEAD && from > to) {
    const text = `invalid epoch range: to block (${to}) must be after from block (${from})`
    throw new RpcError('FAILED', `${WRAPPED}${text}`)
  }
  return executedTipsetsBetween(store, from, to === TO_HEAD ? head : to)
}

/** Which events are wanted. */
interface EventFilter {
  readonly addresses: readonly Address[]
  /** By key: any of these pairs of codec and value (hexadecimal). */
  readonly fields: ReadonlyMap<string, ReadonlySet<string>>
  readonly fromHeight: number | undefined
  readonly toHeight: number | undefined
  readonly key: ReturnType<typeof tipsetKey.fromJson>
}

const eventFilter: Codec<EventFilter> = jsonOnly<EventFilter>(
  'types.ActorEventFilter',
  () => null,
  (given, context) => {
    const object = isObject(given) ? given : {}
    const height = (name: string): number | undefined => {
      const value = jsonField(object, name)
      return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined
    }
    const fields = jsonField(object, 'fields')
    return {
      addresses: asList(jsonField(object, 'addresses')).map((one) => address.fromJson(one, context)),
      fields: new Map(
        Object.entries(isObject(fields) ? fields : {}).map(([key, any]) => [
          key,
          new Set(asList(any).map((one) => fieldText(one, context))),
        ]),
      ),
      fromHeight: height('fromHeight'),
      toHeight: height('toHeight'),
      key: tipsetKey.fromJson(jsonField(object, 'tipsetKey'), context),
    }
  },
  { type: 'object' },
)

function fieldText(one: Json, context: Parameters<typeof eventEntry.fromJson>[1]): string {
  const { codec, value } = eventEntry.fromJson(one, context)
  return `${codec}/${toHex(value)}`
}

function matches(event: ActorEvent, filter: EventFilter): boolean {
  for (const [key, values] of filter.fields) {
    const hit = event.entries.some((entry) => entry.key === key && values.has(`${entry.codec}/${toHex(entry.value)}`))
    if (!hit) return false
  }
  return true
}

/** Whether a log is wanted: by emitter, and by topics in their positions. */
export function matchesLog(
  filter: LogFilter,
  log: { readonly address: Uint8Array; readonly topics: readonly Uint8Array[] },
): boolean {
  if (filter.addresses.size > 0 && !filter.addresses.has(hexBytes(log.address))) return false
  return filter.topics.every((any, i) => {
    const topic = log.topics[i]
    return any === undefined || (topic !== undefined && any.has(hexBytes(topic)))
  })
}

/** Rows of the searches of events. */
export function eventMethods(reader: EthReader): MethodRow[] {
  const { view, chainId } = reader
  return [
    method({
      name: 'EthGetLogs',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'Logs of contracts in a range of blocks.',
      aliases: ['eth_getLogs'],
      params: [param('filter', logFilter)],
      result: json,
      handler: async (filter) => {
        const out: Json[] = []
        for (const tipset of tipsetsOf(reader, filter)) {
          for (const logs of logsOf(await reader.executed(tipset), chainId)) {
            for (const log of logs) if (matchesLog(filter, log)) out.push(log.json)
          }
        }
        return out
      },
    }),
    method({
      name: 'GetActorEventsRaw',
      perm: 'read',
      versions: ['v1'],
      summary: 'Events of actors in a range of epochs; null when there are none.',
      params: [param('filter', eventFilter)],
      result: json,
      handler: async (filter, call) => {
        const head = view.store.head().height
        const tipsets =
          filter.key.length > 0
            ? [view.store.tipset(filter.key)]
            : executedTipsetsBetween(view.store, filter.fromHeight ?? head, filter.toHeight ?? head)
        const out: Json[] = []
        for (const tipset of tipsets) {
          const executed = await reader.executed(tipset)
          const wanted = filter.addresses.map((one) => resolveId(executed.tree, one))
          for (const { message, events } of executed.messages) {
            for (const event of events) {
              if (wanted.length > 0 && !wanted.includes(event.emitter)) continue
              if (!matches(event, filter)) continue
              const emitter = executed.tree.getActor(event.emitter)?.delegatedAddress ?? idAddress(event.emitter)
              out.push({
                entries: event.entries.map((one) => eventEntry.toJson(one, call.json)),
                emitter: address.toJson(emitter, call.json),
                reverted: false,
                height: tipset.height,
                tipsetKey: tipsetKey.toJson(tipset.key, call.json),
                msgCid: cid.toJson(chainMessageCid(message), call.json),
              })
            }
          }
        }
        return out.length === 0 ? null : out
      },
    }),
  ]
}
