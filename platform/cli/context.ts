/** What every command gets: streams, the repo, a connection that is opened on first use, and where its result goes. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { errorMessage } from '../../src/base/errors.ts'
import { type Json, stringifyJson } from '../../src/codec/jsonText.ts'
import { parseAddress } from '../../src/types/address.ts'
import { parseEthAddress } from '../../src/types/ethAddress.ts'
import { parseFil } from '../../src/types/fil.ts'
import { Home } from '../server/home.ts'
import type { ProgramIo } from '../server/programIo.ts'
import { CliError } from './errors.ts'
import { createRpcClient, findEndpoint, type RpcClient, repoPath } from './rpcClient.ts'

/** What a command gets of the program: streams, node, result. */
export interface CliContext {
  /** With `--json` what goes to `out` is not printed. */
  readonly io: ProgramIo
  /** Value of the global `--repo`. */
  readonly repo: () => string | undefined
  /** A client of the user's node. */
  readonly node: () => Promise<RpcClient>
  /** The command's data: printed as one JSON document with `--json`, else not at all. */
  readonly result: (value: Json) => void
  /** What is done, should the command fail before it has a result: stands beside the message with `--json`. */
  readonly done: (fields: Readonly<Record<string, Json>>) => void
  /** For a command whose data has no end: what it gives is one document a line with `--json`, and nothing else is printed. */
  readonly stream: () => (value: Json) => void
  readonly isJson: () => boolean
}

/** A context, and what ends its output. */
export interface OpenContext {
  readonly context: CliContext
  /** With `--json`: what a command said that has no data, as `{"message": …}`, and what it has done. */
  finish(): void
}

/** A context for one run of the program; nothing is opened before a command asks for it. */
export function createCliContext(io: ProgramIo, program: Command): OpenContext {
  const repo = (): string | undefined => program.opts<{ repo?: string }>().repo
  const isJson = (): boolean => program.opts<{ json?: boolean }>().json === true
  let said = ''
  let answered = false
  let sent: Readonly<Record<string, Json>> = {}
  const own: ProgramIo = {
    ...io,
    out: (text) => {
      if (isJson()) said += text
      else io.out(text)
    },
  }
  const result = (value: Json): void => {
    if (!isJson()) return
    answered = true
    io.out(`${stringifyJson(value, 2)}\n`)
  }
  const stream = (): ((value: Json) => void) => {
    answered = true
    return (value) => {
      if (isJson()) io.out(`${stringifyJson(value)}\n`)
    }
  }
  return {
    context: {
      io: own,
      repo,
      node: async () => createRpcClient(await findEndpoint(io, repo()), io.signal),
      result,
      done: (fields) => {
        sent = fields
      },
      stream,
      isJson,
    },
    finish: () => {
      if (!answered && said.trim() !== '') result({ message: said.trim(), ...sent })
    },
  }
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

/**
 * An address from the command line, `0x…` translated to f410 (or f0); a node takes both network letters.
 * @throws CliError `USAGE`
 */
export function addressArgument(text: string, what = 'address'): string {
  try {
    if (text.startsWith('0x')) return parseEthAddress(text).toString()
    parseAddress(text)
    return text
  } catch (error) {
    throw new CliError('USAGE', `${what}: ${errorMessage(error)}: ${text}`)
  }
}

/**
 * An amount from the command line, attoFIL as decimal text.
 * @throws CliError `USAGE`
 */
export function filArgument(text: string, what = 'amount'): string {
  try {
    return parseFil(text).toString()
  } catch (error) {
    throw new CliError('USAGE', `${what}: ${errorMessage(error)}`)
  }
}

/** The home that the command line names. */
export function homeOf({ io, repo }: CliContext): Home {
  return new Home(resolve(repoPath(io, repo())))
}
