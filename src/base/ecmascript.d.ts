/**
 * Parts of the language and of WebAssembly's JavaScript interface that every runtime has and that the compiler's own
 * libraries do not list yet. Only additions that merge: every tsconfig includes this file.
 */

/** @see https://tc39.es/proposal-json-parse-with-source/ */
interface JSON {
  /** Stands for `text` in the output of `JSON.stringify`, digit for digit. */
  rawJSON(text: string): object
  isRawJSON(value: unknown): boolean
  parse<T>(
    text: string,
    reviver: (this: unknown, key: string, value: T, context: { source?: string }) => unknown,
  ): unknown
}

/** JavaScript promise integration: a WebAssembly call on a stack of its own. Absent where the engine lacks it. */
declare namespace WebAssembly {
  const promising: ((fn: CallableFunction) => (...args: unknown[]) => Promise<unknown>) | undefined
  const Suspending: (new (fn: (...args: never[]) => unknown) => object) | undefined
}
