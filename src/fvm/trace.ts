/**
 * What a message did, call by call: the plain form of Lotus' execution traces.
 * @see ref-fvm fvm/src/trace/mod.rs ExecutionEvent; lotus chain/types/execresult.go ExecutionTrace
 */
import { EMPTY_BYTES } from '../base/bytes.ts'
import type { Cid } from '../codec/cid.ts'
import type { ActorState } from '../types/actor.ts'
import type { Address } from '../types/address.ts'
import type { ActorId, ExitCode, MethodNum, TokenAmount } from '../types/scalars.ts'
import type { GasCharge } from './gas/charge.ts'

/** The call as it was asked for. */
export interface TraceMessage {
  /** An f0 address. */
  readonly from: Address
  /** As the caller wrote it. */
  readonly to: Address
  readonly value: TokenAmount
  readonly method: MethodNum
  readonly params: Uint8Array
  /** 0: no parameters. */
  readonly paramsCodec: number
  /** Whole gas that the call had at its start. */
  readonly gasLimit: bigint
  readonly readOnly: boolean
}

/** How the call ended, and what it returned. */
export interface TraceReturn {
  readonly exitCode: ExitCode
  readonly return: Uint8Array
  /** 0: nothing returned. */
  readonly returnCodec: number
}

/** The receiver as it was found. */
export interface InvokedActor {
  readonly id: ActorId
  /** Before the call's value was transferred. */
  readonly state: ActorState
}

/** A block that the call opened or linked. */
export interface IpldOperation {
  /** Get: a block opened; Put: a block linked. */
  readonly op: 'Get' | 'Put'
  readonly cid: Cid
  /** Bytes. */
  readonly size: number
}

/** One call with the calls that it made; still written to while it runs. */
export interface ExecutionTrace {
  msg: TraceMessage
  msgRct: TraceReturn
  /** FVM 3, 4; null when the call ended before its receiver was loaded. */
  invokedActor: InvokedActor | null
  /** This call's own charges, in order. */
  gasCharges: GasCharge[]
  subcalls: ExecutionTrace[]
  logs: string[]
  /** FVM 4. */
  ipldOps: IpldOperation[]
}

/** Bytes of the parameters and results in a trace. */
export function traceBytes({ msg, msgRct, subcalls }: ExecutionTrace): number {
  let bytes = msg.params.length + msgRct.return.length
  for (const subcall of subcalls) bytes += traceBytes(subcall)
  return bytes
}

const NOT_RETURNED: TraceReturn = { exitCode: 0, return: EMPTY_BYTES, returnCodec: 0 }

/** A call that has begun. */
export function createTrace(msg: TraceMessage): ExecutionTrace {
  return { msg, msgRct: NOT_RETURNED, invokedActor: null, gasCharges: [], subcalls: [], logs: [], ipldOps: [] }
}
