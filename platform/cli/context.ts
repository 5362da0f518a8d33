/** What every command gets: streams, the repo, and a connection that is opened on first use. */
import type { Command } from 'commander'
import type { ProgramIo } from '../server/programIo.ts'
import { CliError } from './errors.ts'
import { createRpcClient, findEndpoint, type RpcClient } from './rpcClient.ts'

export interface CliContext {
  readonly io: ProgramIo
  /** Value of the global `--repo`. */
  readonly repo: () => string | undefined
  /** A client of the user's node. */
  readonly node: () => Promise<RpcClient>
}

export function createCliContext(io: ProgramIo, program: Command): CliContext {
  const repo = (): string | undefined => program.opts<{ repo?: string }>().repo
  return { io, repo, node: async () => createRpcClient(await findEndpoint(io, repo()), io.signal) }
}

/**
 * A whole number from the command line.
 * @throws CliError `USAGE`
 */
export function wholeNumber(text: string, what: string): number {
  const value = Number(text)
  if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(value))
    throw new CliError('USAGE', `${what}: "${text}" is no whole number`)
  return value
}

/**
 * Hexadecimal from the command line, as base64 for JSON.
 * @throws CliError `USAGE`
 */
export function hexToBase64(text: string, what: string): string {
  if (!/^(0x)?([0-9a-fA-F]{2})*$/.test(text)) throw new CliError('USAGE', `${what}: "${text}" is not hexadecimal`)
  return Buffer.from(text.replace(/^0x/, ''), 'hex').toString('base64')
}

/** Lower-case hexadecimal of JSON's base64 or null. */
export function base64ToHex(text: string | null): string {
  return Buffer.from(text ?? '', 'base64').toString('hex')
}
