/**
 * Methods `trace_…`.
 * @see lotus node/impl/eth/trace.go
 */

import { EMPTY_BYTES } from '../../base/bytes.ts'
import { PetrelError } from '../../base/errors.ts'
import { finish, type Steps } from '../../base/steps.ts'
import { stateRootAfter } from '../../chain/recordedState.ts'
import type { InvocResult } from '../../chain/vm.ts'
import type { Cid } from '../../codec/cid.ts'
import type { Json } from '../../codec/description.ts'
import { CodecError } from '../../codec/errors.ts'
import { parseGoUint } from '../../codec/goUint.ts'
import { ethAddressOf, NOBODY } from '../../eth/ethActorAddress.ts'
import { ethBlockHash } from '../../eth/ethIndex.ts'
import { type EthTrace, EthTraceBuilder } from '../../eth/ethTraces.ts'
import { BlockMissing } from '../../ipld/errors.ts'
import { addressToId, isIdAddress } from '../../types/address.ts'
import type { ChainEpoch } from '../../types/scalars.ts'
import { SYSTEM_ID } from '../../types/singletons.ts'
import { type Tipset, tipsetKeyText } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import type { EthReader, Locate, Walking } from '../ethReader.ts'
import { MAX_EVENT_RANGE, MAX_TRACES } from '../limits.ts'
import { type MethodRow, method } from '../method.ts'
import {
  ethTraceBlock,
  ethTraceFilter,
  ethTraceReplayBlockTransactions,
  ethTraceTransaction,
} from '../signatures/ethTrace.ts'
import { traceJson } from '../types/eth.ts'
import { hexBytes, hexNumber, parseEthHash } from '../types/ethScalars.ts'
import { matchesTrace } from '../types/traceFilter.ts'

/** Epochs behind the latest block. @see lotus ethtypes.SafeEpochDelay */
const SAFE_DELAY = 30

/** The traces of one transaction. */
interface Traced {
  readonly hash: Uint8Array
  readonly traces: readonly EthTrace[]
}

/** A trace with its place. */
interface PlacedTrace {
  readonly trace: EthTrace
  readonly json: Json
}

/** A trace beside its bytes, and a level of its address, bytes (measured: 1,100 with two levels). */
const TRACE_BYTES = 1100
const LEVEL_BYTES = 10

function tracedBytes(all: readonly Traced[]): number {
  let bytes = 0
  for (const { traces } of all) {
    bytes += TRACE_BYTES
    for (const trace of traces) {
      bytes += TRACE_BYTES + LEVEL_BYTES * trace.traceAddress.length
      if (trace.type === 'call') bytes += trace.input.length + trace.output.length
      else bytes += trace.init.length + trace.code.length
    }
  }
  return bytes
}

/** Rows of `trace_…`. */
export function traceMethods(reader: EthReader, locate: Locate): MethodRow[] {
  const { store } = reader.view
  const builder = new EthTraceBuilder(reader.view.codes)
  const traced = async (tipset: Tipset, call: Walking): Promise<readonly Traced[]> => {
    // A client asks for one transaction after the other.
    const key = `traced ${tipsetKeyText(tipset.key)}`
    const known = store.cache.get(key) as readonly Traced[] | undefined
    if (known !== undefined) return known
    const made = await traceAnew(tipset, call)
    store.cache.keep(key, made, tracedBytes(made))
    return made
  }
  const traceAnew = async (tipset: Tipset, call: Walking): Promise<readonly Traced[]> => {
    const { trace } = await reader.vm.compute(tipset, tipset.height, [], call.signal)
    // What a computation writes is not kept: above the head nobody has this state yet.
    return await call.walk(tracesOf(trace, await stateRootAfter(tipset, store, reader.vm, call)))
  }
  /** A message a step: whom it is from is read of the state, and it itself for its hash. */
  function* tracesOf(trace: readonly InvocResult[], root: Cid): Steps<Traced[]> {
    const tree = reader.view.stateTree(root)
    const made: Traced[] = []
    for (const { msg, msgCid, executionTrace } of trace) {
      yield
      if (isIdAddress(msg.from) && addressToId(msg.from) === SYSTEM_ID) continue
      const traces = builder.build(executionTrace, ethAddressOf(tree, msg.from) ?? NOBODY)
      made.push({ hash: reader.hashOfMessage(msgCid), traces })
    }
    return made
  }
  const blockTraces = async (tipset: Tipset, call: Walking): Promise<PlacedTrace[]> => {
    const blockHash = hexBytes(ethBlockHash(tipset))
    return (await traced(tipset, call)).flatMap(({ hash, traces }, transactionPosition) =>
      traces.map((trace) => ({
        trace,
        json: {
          ...traceJson(trace),
          blockHash,
          blockNumber: tipset.height,
          transactionHash: hexBytes(hash),
          transactionPosition,
        },
      })),
    )
  }
  /** undefined: a null round. */
  const blockAt = async (height: ChainEpoch, call: Walking): Promise<PlacedTrace[] | undefined> => {
    try {
      return await blockTraces(await call.walk(reader.tipset(hexNumber(height), true)), call)
    } catch (error) {
      if (error instanceof RpcError && error.code === 'NULL_ROUND') return undefined
      if (error instanceof BlockMissing || !(error instanceof PetrelError)) throw error
      throw new RpcError('FAILED', `cannot get trace for block ${height}: ${error.message}`, { cause: error })
    }
  }
  const heightOf = (block: string, name: string): ChainEpoch => {
    const head = store.head()
    switch (block) {
      case 'earliest':
        throw new RpcError('FAILED', `cannot parse ${name}: block param "earliest" is not supported`)
      case 'pending':
        return head.height
      case 'latest':
        return finish(reader.tipset('latest', false)).height
      case 'safe':
        return head.height - 1 - SAFE_DELAY
    }
    try {
      return Number(parseGoUint(block.replaceAll('0x', ''), 16))
    } catch (error) {
      if (!(error instanceof CodecError)) throw error
      throw new RpcError('FAILED', `cannot parse ${name}: cannot parse fromBlock: ${error.message}`)
    }
  }
  return [
    method({
      ...ethTraceBlock,
      handler: async (block, call) =>
        (await blockTraces(await call.walk(reader.tipset(block, true)), call)).map((of) => of.json),
    }),
    method({
      ...ethTraceReplayBlockTransactions,
      handler: async (block, kinds, call) => {
        if (kinds.length !== 1 || kinds[0] !== 'trace') throw new RpcError('FAILED', "only 'trace' is supported")
        return (await traced(await call.walk(reader.tipset(block, true)), call)).map(({ hash, traces }) => ({
          output: hexBytes(outputOf(traces[0])),
          stateDiff: null,
          // Nothing appended is null to Go.
          trace: traces.length === 0 ? null : traces.map(traceJson),
          transactionHash: hexBytes(hash),
          vmTrace: null,
        }))
      },
    }),
    method({
      ...ethTraceTransaction,
      handler: async (name, call) => {
        const hash = parsedHash(name)
        const at = await locate(hash, call)
        if (at === undefined) {
          const isPending = reader.pendingMessage(hash) !== undefined
          throw new RpcError('FAILED', isPending ? 'no trace for pending transactions' : 'transaction not found')
        }
        const wanted = hexBytes(hash)
        return (await blockTraces(at.tipset, call))
          .map((of) => of.json)
          .filter((trace) => (trace as { transactionHash: string }).transactionHash === wanted)
      },
    }),
    method({
      ...ethTraceFilter,
      handler: async (filter, call) => {
        const from = heightOf(filter.fromBlock, 'fromBlock')
        const to = heightOf(filter.toBlock, 'toBlock')
        if (to - from > MAX_EVENT_RANGE) {
          const text = `block range exceeds maximum of ${MAX_EVENT_RANGE} (got ${to - from})`
          throw new RpcError('BLOCK_RANGE_EXCEEDED', text)
        }
        const { count, after } = filter
        if (count !== undefined && count > MAX_TRACES) {
          const text = `invalid response count, requested ${count}, maximum supported is ${MAX_TRACES}`
          throw new RpcError('FAILED', text)
        }
        const out: Json[] = []
        let skip = after
        for (let height = from; height <= to && out.length < (count ?? Number.POSITIVE_INFINITY); height++) {
          for (const { trace, json: placed } of (await blockAt(height, call)) ?? []) {
            if (!matchesTrace(filter, trace) || skip-- > 0n) continue
            if (count !== undefined && out.length >= count) break
            out.push(placed)
            if (count === undefined && out.length > MAX_TRACES) {
              const text = `too many results, maximum supported is ${MAX_TRACES}, try paginating requests with After and Count`
              throw new RpcError('FAILED', text)
            }
          }
        }
        return out
      },
    }),
  ]
}

function parsedHash(text: string): Uint8Array {
  try {
    return parseEthHash(text)
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    throw new RpcError('FAILED', `cannot parse eth hash: ${error.message}`, { cause: error })
  }
}

function outputOf(trace: EthTrace | undefined): Uint8Array {
  if (trace === undefined) return EMPTY_BYTES
  return trace.type === 'call' ? trace.output : trace.code
}
