import { PetrelError } from '../../src/base/errors.ts'

/** Codes of {@link CliError}: what the user wrote, the connection, the node's answer. */
export type CliErrorCode = 'USAGE' | 'CONNECTION' | 'RPC' | 'FAILED'

/** A command that failed; printed as one line. Exit code 2 for `USAGE`, else 1. */
export class CliError extends PetrelError<CliErrorCode> {}
