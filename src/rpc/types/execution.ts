/**
 * JSON forms of executed messages and their traces. Output only; field order is Go's.
 * @see lotus chain/types/execresult.go; api/api_full.go InvocResult, MsgGasCost, ComputeStateOutput
 */

import { concatBytes, utf8 } from '../../base/bytes.ts'
import type { ComputeOutput, ComputePrinter, GasCost, InvocResult } from '../../chain/vm.ts'
import { bigInt } from '../../codec/bigInteger.ts'
import type { Cid } from '../../codec/cid.ts'
import {
  bytes,
  type Codec,
  cid,
  type JsonContext,
  jsonOnly,
  list,
  nullable,
  struct,
  text,
} from '../../codec/description.ts'
import { type Json, jsonInteger, stringifyJson } from '../../codec/jsonText.ts'
import { chargeTotal, type GasCharge, roundUpGas } from '../../fvm/gas/charge.ts'
import type { ExecutionTrace, IpldOperation, TraceMessage } from '../../fvm/trace.ts'
import { actorV5 } from '../../types/actor.ts'
import { message } from '../../types/message.ts'
import { receiptV1 } from '../../types/receipt.ts'
import { RpcError } from '../errors.ts'

function outputOnly<T>(name: string, toJson: (value: T, context: JsonContext) => Json): Codec<T> {
  return jsonOnly<T>(name, toJson, () => notInput(name), { type: 'object', title: name })
}

function notInput(name: string): never {
  throw new RpcError('FAILED', `not supported: ${name} is output only`)
}

function traceMessageJson(value: TraceMessage, context: JsonContext): Json {
  return {
    From: value.from.toString(context.addressPrefix),
    To: value.to.toString(context.addressPrefix),
    Value: value.value.toString(),
    Method: jsonInteger(value.method),
    Params: bytes.toJson(value.params, context),
    ParamsCodec: value.paramsCodec,
    GasLimit: jsonInteger(value.gasLimit),
    ReadOnly: value.readOnly,
  }
}

/** A saturated charge is above what a number prints with all its digits. */
function exact(gas: number): number | bigint {
  return Number.isSafeInteger(gas) ? gas : BigInt(gas)
}

/** Short keys as Lotus has them: total, compute, storage gas, time taken (not measured: 0). */
function gasTraceJson(charge: GasCharge): Json {
  return {
    Name: charge.name,
    tg: exact(chargeTotal(charge)),
    cg: exact(roundUpGas(charge.compute)),
    sg: exact(roundUpGas(charge.storage)),
    tt: 0,
  }
}

function ipldOpJson(op: IpldOperation, context: JsonContext): Json {
  return { Op: op.op, Cid: cid.toJson(op.cid, context), Size: op.size }
}

function traceJson(trace: ExecutionTrace, context: JsonContext): Json {
  const { msgRct, invokedActor } = trace
  const out: { [key: string]: Json } = {
    Msg: traceMessageJson(trace.msg, context),
    MsgRct: {
      ExitCode: msgRct.exitCode,
      Return: bytes.toJson(msgRct.return, context),
      ReturnCodec: msgRct.returnCodec,
    },
  }
  if (invokedActor !== null) {
    out.InvokedActor = { Id: jsonInteger(invokedActor.id), State: actorV5.toJson(invokedActor.state, context) }
  }
  out.GasCharges = trace.gasCharges.length === 0 ? null : trace.gasCharges.map(gasTraceJson)
  out.Subcalls = trace.subcalls.length === 0 ? null : trace.subcalls.map((subcall) => traceJson(subcall, context))
  if (trace.logs.length > 0) out.Logs = trace.logs
  if (trace.ipldOps.length > 0) out.IpldOps = trace.ipldOps.map((op) => ipldOpJson(op, context))
  return out
}

/** A call with its charges, subcalls and block operations. */
const executionTrace: Codec<ExecutionTrace> = outputOnly('types.ExecutionTrace', traceJson)

const optionalCid: Codec<Cid | null> = nullable(cid)

/** What a message paid, attoFIL but for `GasUsed`; `Message` is null for implicit ones. @see lotus api/api_full.go MsgGasCost */
const gasCost: Codec<GasCost> = struct<GasCost>('api.MsgGasCost', [
  ['message', 'Message', optionalCid],
  ['gasUsed', 'GasUsed', bigInt],
  ['baseFeeBurn', 'BaseFeeBurn', bigInt],
  ['overEstimationBurn', 'OverEstimationBurn', bigInt],
  ['minerPenalty', 'MinerPenalty', bigInt],
  ['minerTip', 'MinerTip', bigInt],
  ['refund', 'Refund', bigInt],
  ['totalCost', 'TotalCost', bigInt],
])

/** A message, its receipt and its trace, as StateCall, StateReplay and StateCompute give them; `Duration` is in nanoseconds. */
export const invocResult: Codec<InvocResult> = struct<InvocResult>('api.InvocResult', [
  ['msgCid', 'MsgCid', cid],
  ['msg', 'Msg', message],
  ['msgRct', 'MsgRct', receiptV1],
  ['gasCost', 'GasCost', gasCost],
  ['executionTrace', 'ExecutionTrace', executionTrace],
  ['error', 'Error', text],
  [
    'duration',
    'Duration',
    jsonOnly<number>(
      'time.Duration',
      (value) => value,
      () => 0,
      { type: 'integer' },
    ),
  ],
])

/** State root after the messages of a tipset and what each of them did. @see lotus api/api_full.go ComputeStateOutput */
export const computeOutput: Codec<ComputeOutput> = struct<ComputeOutput>('api.ComputeStateOutput', [
  ['root', 'Root', cid],
  ['trace', 'Trace', list(invocResult) as Codec<readonly InvocResult[]>],
])

function chargeText(charge: GasCharge): string {
  // Names are the machine's own words: nothing in them needs escaping.
  return `{"Name":"${charge.name}","tg":${exact(chargeTotal(charge))},"cg":${exact(roundUpGas(charge.compute))},"sg":${exact(roundUpGas(charge.storage))},"tt":0}`
}

function writeTrace(out: string[], trace: ExecutionTrace, context: JsonContext): void {
  const { msg, msgRct, invokedActor, gasCharges, subcalls, logs, ipldOps } = trace
  const prefix = context.addressPrefix
  const params = JSON.stringify(bytes.toJson(msg.params, context))
  const returned = JSON.stringify(bytes.toJson(msgRct.return, context))
  out.push(
    `{"Msg":{"From":"${msg.from.toString(prefix)}","To":"${msg.to.toString(prefix)}","Value":"${msg.value}",`,
    `"Method":${msg.method},"Params":${params},"ParamsCodec":${msg.paramsCodec},`,
    `"GasLimit":${msg.gasLimit},"ReadOnly":${msg.readOnly}},`,
    `"MsgRct":{"ExitCode":${msgRct.exitCode},"Return":${returned},"ReturnCodec":${msgRct.returnCodec}}`,
  )
  if (invokedActor !== null) {
    const state = stringifyJson(actorV5.toJson(invokedActor.state, context))
    out.push(`,"InvokedActor":{"Id":${invokedActor.id},"State":${state}}`)
  }
  for (let i = 0; i < gasCharges.length; i++) {
    out.push(i === 0 ? ',"GasCharges":[' : ',', chargeText(gasCharges[i] as GasCharge))
  }
  out.push(gasCharges.length === 0 ? ',"GasCharges":null' : ']')
  for (let i = 0; i < subcalls.length; i++) {
    out.push(i === 0 ? ',"Subcalls":[' : ',')
    writeTrace(out, subcalls[i] as ExecutionTrace, context)
  }
  out.push(subcalls.length === 0 ? ',"Subcalls":null' : ']')
  if (logs.length > 0) out.push(`,"Logs":${JSON.stringify(logs)}`)
  if (ipldOps.length > 0) {
    const ops = ipldOps.map(({ op, cid: block, size }) => `{"Op":"${op}","Cid":{"/":"${block}"},"Size":${size}}`)
    out.push(`,"IpldOps":[${ops.join(',')}]`)
  }
  out.push('}')
}

/**
 * JSON text of an executed message, the same as {@link invocResult} gives. Traces hold up to thousands of charges: text
 * put together directly takes a third of the time of building objects for `JSON.stringify`.
 */
export function invocResultText(value: InvocResult, context: JsonContext): string {
  const out = [
    `{"MsgCid":{"/":"${value.msgCid}"},"Msg":${stringifyJson(message.toJson(value.msg, context))},` +
      `"MsgRct":${stringifyJson(receiptV1.toJson(value.msgRct, context))},` +
      `"GasCost":${stringifyJson(gasCost.toJson(value.gasCost, context))},"ExecutionTrace":`,
  ]
  writeTrace(out, value.executionTrace, context)
  out.push(`,"Error":${JSON.stringify(value.error)},"Duration":${value.duration}}`)
  // One piece of text: as thousands that are put together at the end, those of a full tipset outlive several collections.
  return out.join('')
}

const COMMA = utf8(',')

function outputStart(root: Cid): string {
  return `{"Root":{"/":"${root}"},"Trace":`
}

/** JSON text of a computation, the same as {@link computeOutput} gives. */
export function computeOutputText({ root, trace }: ComputeOutput, context: JsonContext): string {
  const results = trace.map((result) => invocResultText(result, context)).join(',')
  return `${outputStart(root)}${trace.length === 0 ? 'null' : `[${results}]`}}`
}

/** Prints a computation message by message: no trace outlives its message then, and garbage that dies young costs little. */
export function computePrinter(context: JsonContext): ComputePrinter {
  return {
    result: (result) => utf8(invocResultText(result, context)),
    output: (root, results) => {
      if (results.length === 0) return utf8(`${outputStart(root)}null}`)
      const list = results.flatMap((result, i) => (i === 0 ? [result] : [COMMA, result]))
      return concatBytes(utf8(`${outputStart(root)}[`), ...list, utf8(']}'))
    },
  }
}
