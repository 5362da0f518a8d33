/** Texts that an engine's trap message contains (V8; SpiderMonkey and JavaScriptCore differ in words) and the reference's. */
const TRAPS: readonly (readonly [RegExp, string])[] = [
  [/unreachable/i, 'wasm `unreachable` instruction executed'],
  [/memory access out of bounds|out[- ]of[- ]bounds memory access|index out of bounds/i, 'out of bounds memory access'],
  [/table (index|access)|out[- ]of[- ]bounds.*table/i, 'undefined element: out of bounds table access'],
  [/(divide|remainder|division|modulo) by zero/i, 'integer divide by zero'],
  [/divide result unrepresentable|integer overflow|division result/i, 'integer overflow'],
  [/float unrepresentable|invalid conversion|out[- ]of[- ]bounds.*(float|trunc)/i, 'invalid conversion to integer'],
  [/signature mismatch|null function|indirect call/i, 'indirect call type mismatch'],
]

/**
 * The text of a trap as wasmtime words it: it shows in messages' backtraces, never in receipts.
 * @see wasmtime crates/environ/src/trap_encoding.rs
 */
export function trapText(engineText: string): string {
  for (const [pattern, text] of TRAPS) if (pattern.test(engineText)) return `wasm trap: ${text}`
  return `wasm trap: ${engineText}`
}

/**
 * Whether an error says that the thread's stack is used up: V8 and JavaScriptCore throw a RangeError, SpiderMonkey its own
 * kind; V8's regular expressions say it in a SyntaxError. Plain comparisons only: there is hardly any stack left here.
 */
export function isStackExhausted(error: unknown): boolean {
  if (error instanceof RangeError) return error.message.includes('call stack')
  if (!(error instanceof Error)) return false
  return error.message.endsWith('Stack overflow') || error.message.endsWith('too much recursion')
}
