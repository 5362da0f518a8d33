/**
 * Methods `trace_…`.
 * @see lotus node/impl/eth/trace.go
 */
import { EMPTY_BYTES } from '../../base/bytes.ts'
import { type Json, json, list, text } from '../../codec/description.ts'
import { ethAddressOf, NOBODY } from '../../eth/ethActorAddress.ts'
import { ethBlockHash } from '../../eth/ethIndex.ts'
import { type EthTrace, EthTraceBuilder } from '../../eth/ethTraces.ts'
import { addressToId, isIdAddress } from '../../types/address.ts'
import { SYSTEM_ID } from '../../types/singletons.ts'
import type { Tipset } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import type { EthReader, Located } from '../ethReader.ts'
import { type MethodRow, method, param } from '../method.ts'
import { traceJson } from '../types/eth.ts'
import { ethHash, hexBytes } from '../types/ethScalars.ts'

/** The traces of one transaction. */
interface Traced {
  readonly hash: Uint8Array
  readonly traces: readonly EthTrace[]
}

/** Rows of `trace_…`. @param locate - finds a transaction on the chain */
export function traceMethods(
  reader: EthReader,
  locate: (hash: Uint8Array) => Promise<Located | undefined>,
): MethodRow[] {
  const builder = new EthTraceBuilder(reader.view.codes)
  const traced = async (tipset: Tipset): Promise<Traced[]> => {
    const { trace, root } = await reader.vm.compute(tipset, tipset.height, [])
    const tree = reader.view.stateTree(root)
    return trace
      .filter(({ msg }) => !(isIdAddress(msg.from) && addressToId(msg.from) === SYSTEM_ID))
      .map(({ msg, msgCid, executionTrace }) => ({
        hash: reader.hashOfMessage(msgCid),
        traces: builder.build(executionTrace, ethAddressOf(tree, msg.from) ?? NOBODY),
      }))
  }
  const blockTraces = (tipset: Tipset, transactions: readonly Traced[]): Json[] => {
    const blockHash = hexBytes(ethBlockHash(tipset))
    return transactions.flatMap(({ hash, traces }, transactionPosition) =>
      traces.map((one) => ({
        ...traceJson(one),
        blockHash,
        blockNumber: tipset.height,
        transactionHash: hexBytes(hash),
        transactionPosition,
      })),
    )
  }
  const blockNumber = param('blockNumber', text)
  return [
    method({
      name: 'EthTraceBlock',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'All calls of a block.',
      aliases: ['trace_block'],
      params: [blockNumber],
      result: json,
      handler: async (one) => {
        const tipset = reader.tipset(one, true)
        return blockTraces(tipset, await traced(tipset))
      },
    }),
    method({
      name: 'EthTraceReplayBlockTransactions',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: "A block's transactions executed again, with their calls.",
      aliases: ['trace_replayBlockTransactions'],
      params: [blockNumber, param('traceTypes', list(text))],
      result: json,
      handler: async (one, kinds) => {
        if (kinds.length !== 1 || kinds[0] !== 'trace') throw new RpcError('FAILED', "only 'trace' is supported")
        return (await traced(reader.tipset(one, true))).map(({ hash, traces }) => ({
          output: hexBytes(outputOf(traces[0])),
          stateDiff: null,
          trace: traces.map(traceJson),
          transactionHash: hexBytes(hash),
          vmTrace: null,
        }))
      },
    }),
    method({
      name: 'EthTraceTransaction',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'All calls of a transaction.',
      aliases: ['trace_transaction'],
      params: [param('hash', ethHash)],
      result: json,
      handler: async (hash) => {
        const at = await locate(hash)
        if (at === undefined) throw new RpcError('FAILED', `transaction not found: ${hexBytes(hash)}`)
        const { tipset } = at.executed
        const wanted = hexBytes(hash)
        return blockTraces(tipset, await traced(tipset)).filter(
          (one) => (one as { transactionHash: string }).transactionHash === wanted,
        )
      },
    }),
  ]
}

function outputOf(trace: EthTrace | undefined): Uint8Array {
  if (trace === undefined) return EMPTY_BYTES
  return trace.type === 'call' ? trace.output : trace.code
}
