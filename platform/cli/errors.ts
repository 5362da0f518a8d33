import { PetrelError } from '../../src/base/errors.ts'

/** Codes of {@link CliError}: what the user wrote, the connection, the node's answer. */
export type CliErrorCode = 'USAGE' | 'CONNECTION' | 'RPC' | 'FAILED'

/** A command that failed; printed as one line. Exit code 2 for `USAGE`, else 1. */
export class CliError extends PetrelError<CliErrorCode> {}

/** The number of what a node answers that does not know a method. */
export const METHOD_NOT_FOUND = -32601

/** Whether the node does not have the method that was called: not every make has all of Lotus' methods. */
export function isMethodMissing(error: unknown): boolean {
  return error instanceof CliError && error.info.code === METHOD_NOT_FOUND
}
