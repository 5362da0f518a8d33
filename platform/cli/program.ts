/** The command line: every command, what goes wrong as one line, the exit code. */
import { Command, CommanderError } from 'commander'
import { errorMessage } from '../../src/base/errors.ts'
import type { ProgramIo } from '../server/programIo.ts'
import { addActorsCommands } from './commands/actors.ts'
import { addAuthCommands } from './commands/auth.ts'
import { addChainCommands } from './commands/chain.ts'
import { addCheckpointCommands } from './commands/checkpoint.ts'
import { addMpoolCommands } from './commands/mpool.ts'
import { addNetCommands } from './commands/net.ts'
import { addProofsCommands } from './commands/proofs.ts'
import { addSendCommand } from './commands/send.ts'
import { addSnapshotCommands } from './commands/snapshot.ts'
import { addStateCommands } from './commands/state.ts'
import { addSyncCommands } from './commands/sync.ts'
import { addVersionCommand } from './commands/version.ts'
import { addWalletCommands } from './commands/wallet.ts'
import { type CliContext, createCliContext } from './context.ts'

/** Adds commands that run a node in this process (`daemon`, `devnet`, …). */
export type AddNodeCommands = (program: Command, context: CliContext) => void

/** What {@link runCli} takes. */
export interface CliOptions {
  readonly io: ProgramIo
  readonly version: string
  readonly addNodeCommands?: AddNodeCommands
}

function createProgram({ io, version, addNodeCommands }: CliOptions): Command {
  const program = new Command('petrel')
    .description('A Filecoin node')
    .option('--repo <folder>', 'home of the node (default: $PETREL_HOME or ~/.petrel)')
    .option('--force-send', 'send messages although checks fail')
    .version(version, '--version', 'print the version of this program')
    .configureOutput({ writeOut: io.out, writeErr: () => undefined })
    .exitOverride()
    .showSuggestionAfterError(false)
  const context = createCliContext(io, program)
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
  addVersionCommand(program, context, version)
  quiet(program, io)
  return program
}

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
 * @returns exit code: 0, or 1 after one line `ERROR: …` on the error stream
 */
export async function runCli(args: readonly string[], options: CliOptions): Promise<number> {
  const program = createProgram(options)
  try {
    if (args.length === 0) {
      options.io.out(program.helpInformation())
      return 0
    }
    await program.parseAsync(args as string[], { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0
    if (error instanceof CommanderError && error.code === 'commander.help') {
      options.io.err('ERROR: which command? see --help\n')
      return 1
    }
    options.io.err(
      `ERROR: ${errorMessage(error)
        .replace(/^error: /, '')
        .replace(/\s*\n\s*/g, ' ')}\n`,
    )
    return 1
  }
}
