/**
 * JSON forms of executed messages and their traces. Output only; field order is Go's.
 * @see lotus chain/types/execresult.go; api/api_full.go InvocResult, MsgGasCost, ComputeStateOutput
 */

import { utf8 } from '../../base/bytes.ts'
import type { ComputeOutput, GasCost, InvocResult, PrintedOutput, ResultPrinter } from '../../chain/vm.ts'
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
import { type Json, jsonInteger } from '../../codec/jsonText.ts'
import { JsonWriter, printedText, printOf, withCommas, withPrint } from '../../codec/jsonWriter.ts'
import { chargeTotal, type GasCharge, roundUpGas } from '../../fvm/gas/charge.ts'
import type { ExecutionTrace, IpldOperation, TraceMessage } from '../../fvm/trace.ts'
import { actorV5 } from '../../types/actor.ts'
import { address } from '../../types/address.ts'
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

/**
 * Charges that were printed of late, by their amounts: traces of like messages are the same ones over and over, and numbers take long
 * to print. Of a tipset of 600 calls of a contract 89 % are here.
 */
const printedCharges: (GasCharge | undefined)[] = Array.from({ length: 4096 }, () => undefined)
const chargeTexts: string[] = Array.from({ length: 4096 }, () => '')

function chargeText(charge: GasCharge): string {
  const { name, compute, storage } = charge
  const slot = (compute ^ (compute >>> 12) ^ (storage >>> 5)) & 4095
  const known = printedCharges[slot]
  if (
    known === charge ||
    (known !== undefined && known.compute === compute && known.storage === storage && known.name === name)
  ) {
    return chargeTexts[slot] as string
  }
  // Names are the machine's own words: nothing in them needs escaping. In one piece: it is read character by character.
  const text = [
    `{"Name":"${name}","tg":${exact(chargeTotal(charge))},"cg":${exact(roundUpGas(compute))}`,
    `,"sg":${exact(roundUpGas(storage))},"tt":0}`,
  ].join('')
  printedCharges[slot] = charge
  chargeTexts[slot] = text
  return text
}

const printAddress = printOf(address)
const printBytes = printOf(bytes)
const printCid = printOf(cid)
const printActor = printOf(actorV5)

function printTrace(out: JsonWriter, trace: ExecutionTrace, context: JsonContext): void {
  const { msg, msgRct, invokedActor, gasCharges, subcalls, logs, ipldOps } = trace
  out.raw('{"Msg":{"From":')
  printAddress(out, msg.from, context)
  out.raw(',"To":')
  printAddress(out, msg.to, context)
  out.raw(',"Value":')
  out.quoted(msg.value.toString())
  out.raw(',"Method":')
  out.raw(msg.method.toString())
  out.raw(',"Params":')
  printBytes(out, msg.params, context)
  out.raw(',"ParamsCodec":')
  out.raw(String(msg.paramsCodec))
  out.raw(',"GasLimit":')
  out.raw(msg.gasLimit.toString())
  out.raw(msg.readOnly ? ',"ReadOnly":true},"MsgRct":{"ExitCode":' : ',"ReadOnly":false},"MsgRct":{"ExitCode":')
  out.raw(String(msgRct.exitCode))
  out.raw(',"Return":')
  printBytes(out, msgRct.return, context)
  out.raw(',"ReturnCodec":')
  out.raw(String(msgRct.returnCodec))
  out.raw('}')
  if (invokedActor !== null) {
    out.raw(',"InvokedActor":{"Id":')
    out.raw(invokedActor.id.toString())
    out.raw(',"State":')
    printActor(out, invokedActor.state, context)
    out.raw('}')
  }
  out.raw(gasCharges.length === 0 ? ',"GasCharges":null' : ',"GasCharges":[')
  for (let i = 0; i < gasCharges.length; i++) {
    if (i > 0) out.raw(',')
    out.raw(chargeText(gasCharges[i] as GasCharge))
  }
  if (gasCharges.length > 0) out.raw(']')
  out.raw(subcalls.length === 0 ? ',"Subcalls":null' : ',"Subcalls":[')
  for (let i = 0; i < subcalls.length; i++) {
    if (i > 0) out.raw(',')
    printTrace(out, subcalls[i] as ExecutionTrace, context)
  }
  if (subcalls.length > 0) out.raw(']')
  if (logs.length > 0) {
    out.raw(',"Logs":')
    out.json(logs)
  }
  for (let i = 0; i < ipldOps.length; i++) {
    const { op, cid: block, size } = ipldOps[i] as IpldOperation
    out.raw(i === 0 ? ',"IpldOps":[{"Op":"' : ',{"Op":"')
    out.raw(op)
    out.raw('","Cid":')
    printCid(out, block, context)
    out.raw(',"Size":')
    out.raw(String(size))
    out.raw('}')
  }
  out.raw(ipldOps.length === 0 ? '}' : ']}')
}

/** A call with its charges, subcalls and block operations. */
const executionTrace: Codec<ExecutionTrace> = outputOnly('types.ExecutionTrace', withPrint(traceJson, printTrace))

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

const printResult = printOf(invocResult)
const printOutput = printOf(computeOutput)

/** JSON text of an executed message, the same as {@link invocResult} gives. */
export function invocResultText(value: InvocResult, context: JsonContext): string {
  return printedText(printResult, value, context)
}

/** JSON text of a computation, the same as {@link computeOutput} gives. */
export function computeOutputText(value: ComputeOutput, context: JsonContext): string {
  return printedText(printOutput, value, context)
}

/** Prints a computation message by message: no trace outlives its message then, and garbage that dies young costs little. */
export function resultPrinter(context: JsonContext): ResultPrinter {
  const out = new JsonWriter()
  return (result) => {
    printResult(out, result, context)
    return out.take()
  }
}

/** JSON of a computation whose results are printed, UTF-8, in pieces: no copy of them is made. */
export function printedOutput({ root, results }: PrintedOutput): readonly Uint8Array[] {
  const begin = `{"Root":{"/":"${root}"},"Trace":`
  if (results.length === 0) return [utf8(`${begin}null}`)]
  return [utf8(`${begin}[`), ...withCommas(results), utf8(']}')]
}
