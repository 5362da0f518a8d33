/** The command line: every command, what goes wrong as one line, the exit code. */
import { Command, CommanderError } from 'commander'
import { errorMessage } from '../../src/base/errors.ts'
import type { ProgramIo } from '../server/programIo.ts'
import { addActorsCommands } from './commands/actors.ts'
import { addAuthCommands } from './commands/auth.ts'
import { addBackupCommands } from './commands/backup.ts'
import { addChainCommands } from './commands/chain.ts'
import { addCheckpointCommands } from './commands/checkpoint.ts'
import { addCompletionCommand } from './commands/completion.ts'
import { addDoctorCommand } from './commands/doctor.ts'
import { addEvmCommands } from './commands/evm.ts'
import { addIndexCommands } from './commands/indexBackfill.ts'
import { addInfoCommands } from './commands/info.ts'
import { addLogCommands } from './commands/log.ts'
import { addMpoolCommands } from './commands/mpool.ts'
import { addMsigCommands } from './commands/msig.ts'
import { addNetCommands } from './commands/net.ts'
import { addPaychCommands } from './commands/paych.ts'
import { addProofsCommands } from './commands/proofs.ts'
import { addSendCommand } from './commands/send.ts'
import { addSnapshotCommands } from './commands/snapshot.ts'
import { addStateCommands } from './commands/state.ts'
import { addSyncCommands } from './commands/sync.ts'
import { addTransfersCommand } from './commands/transfers.ts'
import { addVersionCommand } from './commands/version.ts'
import { addWalletCommands } from './commands/wallet.ts'
import { type CliContext, createCliContext } from './context.ts'
import { CliError } from './errors.ts'

/** Adds commands that run a node in this process (`daemon`, `devnet`, …). */
export type AddNodeCommands = (program: Command, context: CliContext) => void

/** What {@link runCli} takes. */
export interface CliOptions {
  readonly io: ProgramIo
  readonly version: string
  readonly addNodeCommands?: AddNodeCommands
}

/** The command tree, and what ends a command's output. */
export interface Program {
  readonly program: Command
  readonly finish: () => void
}

/** All commands, ready to parse; what is wrong is thrown, not printed. */
export function createProgram({ io, version, addNodeCommands }: CliOptions): Program {
  const program = new Command('petrel')
    .description('A Filecoin node')
    .option('--repo <folder>', 'home of the node (default: $PETREL_HOME or ~/.petrel)')
    .option('--force-send', 'send messages although checks fail')
    .option('--json', 'print the result as one JSON document; of a stream, one a line')
    .version(version, '--version', 'print the version of this program')
    .configureOutput({ writeOut: io.out, writeErr: () => undefined })
    .exitOverride()
    .showSuggestionAfterError(false)
  const { context, finish } = createCliContext(io, program)
  addNodeCommands?.(program, context)
  addSyncCommands(program, context)
  addChainCommands(program, context)
  addWalletCommands(program, context)
  addSendCommand(program, context)
  addMpoolCommands(program, context)
  addStateCommands(program, context)
  addNetCommands(program, context)
  addAuthCommands(program, context)
  addActorsCommands(program, context)
  addCheckpointCommands(program, context)
  addProofsCommands(program, context)
  addSnapshotCommands(program, context)
  addIndexCommands(program, context)
  addBackupCommands(program, context)
  addDoctorCommand(program, context)
  addTransfersCommand(program, context)
  addVersionCommand(program, context, version)
  addMsigCommands(program, context)
  addPaychCommands(program, context)
  addEvmCommands(program, context)
  addInfoCommands(program, context)
  addLogCommands(program, context)
  addCompletionCommand(program, context)
  quiet(program, io)
  return { program, finish }
}

/**
 * Refuses a command that is none, also where help is asked of it.
 * @throws CliError `USAGE`
 */
function checkCommands(program: Command, args: readonly string[]): void {
  let command = program
  for (let i = 0; i < args.length && command.commands.length > 0; i++) {
    const word = args[i] as string
    if (word === '--') return
    if (word.startsWith('-')) {
      const option = [...program.options, ...command.options].find(({ short, long }) => short === word || long === word)
      if (option?.required === true) i++
      continue
    }
    if (word === 'help') return
    const child = command.commands.find((candidate) => candidate.name() === word || candidate.aliases().includes(word))
    if (child === undefined) {
      // A command of its own that takes arguments: `daemon`, which has `daemon stop` below it.
      if (command !== program && command.registeredArguments.length > 0) return
      throw new CliError('USAGE', `unknown command '${word}'; see ${fullName(command)} --help`)
    }
    command = child
  }
}

function fullName(command: Command): string {
  return command.parent === null ? command.name() : `${fullName(command.parent)} ${command.name()}`
}

const OK = 0
const FAILED = 1
const MISUSED = 2

/** Subcommands do not inherit output and exit settings that were made after them. */
function quiet(command: Command, io: ProgramIo): void {
  for (const child of command.commands) {
    child
      .configureOutput({ writeOut: io.out, writeErr: () => undefined })
      .exitOverride()
      .showSuggestionAfterError(false)
    quiet(child, io)
  }
}

/**
 * Runs one command line.
 * @param args - without the program's own name
 * @returns exit code: 0; 1 failed, 2 not understood, both after one line `ERROR: …` on the error stream
 */
export async function runCli(args: readonly string[], options: CliOptions): Promise<number> {
  const { program, finish } = createProgram(options)
  try {
    if (args.length === 0) {
      options.io.out(program.helpInformation())
      return OK
    }
    checkCommands(program, args)
    await program.parseAsync(args as string[], { from: 'user' })
    finish()
    return OK
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return OK
    if (error instanceof CommanderError && error.code === 'commander.help') {
      options.io.err('ERROR: which command? see --help\n')
      return MISUSED
    }
    finish()
    options.io.err(
      `ERROR: ${errorMessage(error)
        .replace(/^error: /, '')
        .replace(/\s*\n\s*/g, ' ')}\n`,
    )
    const misused = error instanceof CommanderError || (error instanceof CliError && error.code === 'USAGE')
    return misused ? MISUSED : FAILED
  }
}
