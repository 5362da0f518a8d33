/**
 * The one error base. Every layer has a subclass of its own with a closed union of codes; callers branch on `code`,
 * never on the text.
 */

/** Plain data that goes with an error: numbers, names, CIDs as text. Never key material, never block contents. */
export type ErrorInfo = Readonly<Record<string, unknown>>

/** Base of every error that Petrel throws on purpose. */
export class PetrelError<Code extends string = string> extends Error {
  readonly code: Code
  readonly info: ErrorInfo

  /**
   * @param code - the layer's own code
   * @param message - "Cannot do X: what was wrong, expected E, got A", or the reference's own text where clients read it
   * @param info - plain data
   * @param options - `cause`: what was caught
   */
  constructor(code: Code, message: string, info: ErrorInfo = {}, options?: { cause?: unknown }) {
    super(message, options)
    this.name = new.target.name
    this.code = code
    this.info = info
  }
}

/** Codes of {@link BaseError}. */
export type BaseErrorCode = 'INVALID_ENCODING' | 'OUT_OF_RANGE' | 'CLOSED' | 'UNREACHABLE'

/** Errors of the lowest layer: text encodings and integer ranges. */
export class BaseError extends PetrelError<BaseErrorCode> {}

/** Makes a switch over a union fail to compile when a case is missing. */
export function assertNever(value: never): never {
  throw new BaseError('UNREACHABLE', `Cannot continue: unexpected value ${String(value)}`)
}

/**
 * What `run` gives; undefined where it throws an error of the class that says so. Any other error goes on: it is a fault, no answer.
 * @param expected - `Error` only for libraries that have no class of their own
 */
export function unlessThrown<T>(run: () => T, expected: abstract new (...args: never[]) => Error): T | undefined {
  try {
    return run()
  } catch (error) {
    if (error instanceof expected) return undefined
    throw error
  }
}

/** The text of anything that was thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
