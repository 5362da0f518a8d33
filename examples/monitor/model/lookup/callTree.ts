/**
 * The calls that a message made, out of the answer to `StateReplay`.
 * @see lotus chain/types/execresult.go ExecutionTrace; api/api_full.go InvocResult
 */
import type { Json } from 'petrel'

/** One call. */
export interface Call {
  /** As the node prints them. */
  readonly from: string
  readonly to: string
  /** AttoFIL. */
  readonly value: bigint
  readonly method: number
  readonly exitCode: number
  readonly calls: readonly Call[]
}

/** What a replay says. */
export interface Replay {
  readonly call: Call
  readonly exitCode: number
  readonly gasUsed: bigint
  /** AttoFIL: all that the gas cost. */
  readonly cost: bigint
  /** Why it failed; empty: it did not, or nobody says. */
  readonly error: string
}

type Fields = Readonly<Record<string, Json | undefined>>

function fields(value: Json | undefined): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
const whole = (value: Json | undefined): bigint => {
  const given = typeof value === 'number' || typeof value === 'bigint' ? String(value) : text(value)
  return /^-?\d+$/.test(given) ? BigInt(given) : 0n
}

function callOf(value: Json | undefined): Call {
  const { Msg, MsgRct, Subcalls } = fields(value)
  const message = fields(Msg)
  return {
    from: text(message.From),
    to: text(message.To),
    value: whole(message.Value),
    method: Number(whole(message.Method)),
    exitCode: Number(whole(fields(MsgRct).ExitCode)),
    calls: Array.isArray(Subcalls) ? Subcalls.map(callOf) : [],
  }
}

/** Of an answer to `StateReplay`; what it lacks is empty. */
export function replayOf(answer: Json): Replay {
  const { MsgRct, GasCost, ExecutionTrace, Error: error } = fields(answer)
  const receipt = fields(MsgRct)
  return {
    call: callOf(ExecutionTrace),
    exitCode: Number(whole(receipt.ExitCode)),
    gasUsed: whole(receipt.GasUsed),
    cost: whole(fields(GasCost).TotalCost),
    error: text(error),
  }
}

/** Calls of a tree, itself included. */
export function countCalls({ calls }: Call): number {
  return calls.reduce((sum, call) => sum + countCalls(call), 1)
}
