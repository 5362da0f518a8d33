/** An execution's trace as lines of text, so that two nodes' traces can be laid side by side. */
import type { Json } from '../../src/codec/jsonText.ts'

type Fields = { readonly [name: string]: Json }

const fields = (value: Json | undefined): Fields => (value ?? {}) as Fields
const list = (value: Json | undefined): readonly Json[] => (value ?? []) as readonly Json[]

function say(...parts: (Json | undefined)[]): string {
  return parts.map((part) => (typeof part === 'string' ? part : String(part ?? 'null'))).join(' ')
}

/** The trace in a node's answer to `StateReplay`: the whole answer, its result, or the trace itself. */
export function traceOf(answer: Json): Json | undefined {
  const whole = fields(answer)
  const result = whole.result === undefined ? whole : fields(whole.result)
  return result.ExecutionTrace ?? (result.Msg === undefined ? undefined : (result as Json))
}

/** A line for the call, one for each charge, those of its calls, and one for what it leaves. @param trace - as Lotus writes it */
export function* traceLines(trace: Json, depth = 0): Generator<string> {
  const { Msg, MsgRct, GasCharges, Subcalls } = fields(trace)
  const message = fields(Msg)
  const receipt = fields(MsgRct)
  const indent = '  '.repeat(depth)
  yield indent + say('call', message.From, '->', message.To, 'method', message.Method, 'value', message.Value)
  yield indent + say('  params', message.Params, 'gas', message.GasLimit)
  for (const charge of list(GasCharges)) {
    const { Name, tg, cg, sg } = fields(charge)
    yield indent + say('  charge', Name, tg, '=', cg, '+', sg)
  }
  for (const call of list(Subcalls)) yield* traceLines(call, depth + 1)
  yield indent + say('  exit', receipt.ExitCode, 'return', receipt.Return)
}

/**
 * Two texts side by side around their first difference.
 * @param around - lines before and behind it
 * @param width - of a column
 * @returns undefined where they are equal
 */
export function sideBySide(
  own: readonly string[],
  other: readonly string[],
  around = 5,
  width = 70,
): string | undefined {
  const first = own.findIndex((line, i) => line !== other[i])
  const at = first >= 0 ? first : own.length < other.length ? own.length : -1
  if (at < 0) return undefined
  const cell = (line = ''): string => (line.length > width ? `${line.slice(0, width - 1)}…` : line.padEnd(width))
  const rows: string[] = []
  for (let i = Math.max(0, at - around); i <= Math.min(at + around, Math.max(own.length, other.length) - 1); i++) {
    const mark = own[i] === other[i] ? ' ' : i === at ? '>' : '|'
    rows.push(`${String(i + 1).padStart(6)} ${cell(own[i])} ${mark} ${cell(other[i])}`.trimEnd())
  }
  return rows.join('\n')
}
