/** What the flows share: they run in Node, in Deno and in a page, so nothing here is a runtime's. */

/** What a flow is given. */
export interface FlowDeps {
  /** Sends FIL to an Ethereum address out of a funded account of the chain; resolves when the message is executed. */
  fund(address: string, attoFil: bigint): Promise<void>
  /** Tells what is done, for failures. */
  step(name: string): void
}

/** The number of `InvokeEVM`: what a transfer to an Ethereum address has to call. */
export const INVOKE_EVM = 3_844_450_837
export const CHAIN_ID = 31_415_926n
export const FIL: bigint = 10n ** 18n

/** Fails unless both are the same, compared as JSON. */
export function same(actual: unknown, expected: unknown, what: string): void {
  const [got, wanted] = [shown(actual), shown(expected)]
  if (got !== wanted) throw new RangeError(`${what}: expected ${wanted}, got ${got}`)
}

/** Fails unless it holds. */
export function holds(condition: boolean, what: string): void {
  if (!condition) throw new RangeError(what)
}

/** What a promise fails with. */
export async function failure(
  promise: Promise<unknown>,
): Promise<{ readonly message: string; readonly code?: unknown }> {
  try {
    await promise
  } catch (error) {
    return error as { message: string }
  }
  throw new RangeError('expected a failure')
}

/** The first value that a callback is given. */
export function first<T>(begin: (resolve: (value: T) => void) => unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    try {
      const begun = begin(resolve)
      if (begun instanceof Promise) begun.catch(reject)
    } catch (error) {
      reject(error as Error)
    }
  })
}

function shown(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) => (typeof one === 'bigint' ? one.toString() : one)) ?? 'undefined'
}
