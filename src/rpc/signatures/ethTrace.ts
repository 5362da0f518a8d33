/** Signatures: Ethereum's traces. */
import { type Json, json, list, text } from '../../codec/description.ts'
import { type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'
import { type TraceFilter, traceFilter } from '../types/traceFilter.ts'

const blockNumber: Param<string> = param('blkNum', text)

export const ethTraceBlock: CallSignature<readonly [Param<string>], Json> = callSignature({
  name: 'EthTraceBlock',
  cost: 'execute',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'All calls of a block.',
  aliases: ['trace_block'],
  params: [blockNumber],
  result: json,
})

export const ethTraceReplayBlockTransactions: CallSignature<readonly [Param<string>, Param<string[]>], Json> =
  callSignature({
    name: 'EthTraceReplayBlockTransactions',
    cost: 'execute',
    perm: 'read',
    versions: ['v1', 'v2'],
    summary: "A block's transactions executed again, with their calls.",
    aliases: ['trace_replayBlockTransactions'],
    params: [blockNumber, param('traceTypes', list(text))],
    result: json,
  })

export const ethTraceTransaction: CallSignature<readonly [Param<string>], Json> = callSignature({
  name: 'EthTraceTransaction',
  cost: 'execute',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'All calls of a transaction.',
  aliases: ['trace_transaction'],
  params: [param('txHash', text)],
  result: json,
})

export const ethTraceFilter: CallSignature<readonly [Param<TraceFilter>], Json> = callSignature({
  name: 'EthTraceFilter',
  cost: 'execute',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'Calls in a range of blocks, by caller and callee.',
  aliases: ['trace_filter'],
  params: [param('filter', traceFilter)],
  result: json,
})
