/** `config show|check|default|set|path`: the file of a node's options. */
import { existsSync, mkdirSync } from 'node:fs'
import type { Command } from 'commander'
import { PetrelError } from '../../../src/base/errors.ts'
import type { Json } from '../../../src/codec/jsonText.ts'
import { Home, readTextFile, writeFile } from '../../server/home.ts'
import { line } from '../../server/programIo.ts'
import { applySettings, defaultConfig, withSetting } from '../configFile.ts'
import type { CliContext } from '../context.ts'
import { CliError } from '../errors.ts'
import { repoPath } from '../rpcClient.ts'

/** A command that runs a node. */
export interface ConfiguredCommand {
  readonly command: Command
  /** What it makes of its options. @throws CliError, PlatformError for values that it does not take */
  read(command: Command): Promise<unknown>
}

/**
 * Adds `config` and its subcommands.
 * @param configured - the commands whose options the file may hold
 */
export function addConfigCommands(
  program: Command,
  context: CliContext,
  configured: readonly ConfiguredCommand[],
): void {
  const { io } = context
  const commands = configured.map(({ command }) => command)
  const home = (): string => repoPath(io, context.repo())
  const path = (): string => new Home(home()).settings
  const settingsOf = (name: string): ReturnType<typeof applySettings> => {
    const command = commands.find((candidate) => candidate.name() === name)
    if (command === undefined)
      throw new CliError('USAGE', `expected ${commands.map((candidate) => candidate.name()).join(' or ')}`)
    return applySettings(command, commands, home(), io.env)
  }
  const config = program.command('config').description("Manage the file of the node's options, config.toml")
  config
    .command('show')
    .description('Print every option with its value and where that is from')
    .argument('[command]', 'daemon or devnet', 'daemon')
    .action((name: string) => {
      const settings = settingsOf(name)
      context.result(settings.map(({ key, value, source }) => ({ key, value: (value ?? null) as Json, source })))
      for (const { key, value, source } of settings) line(io, `${key} = ${JSON.stringify(value ?? null)}  (${source})`)
    })
  config
    .command('check')
    .description('Read the file and say what is wrong with it')
    .action(async () => {
      for (const { command, read } of configured) {
        try {
          await read(command)
        } catch (error) {
          if (!(error instanceof PetrelError)) throw error
          const text = error.message.startsWith(path())
            ? error.message
            : `${path()}: ${command.name()}: ${error.message}`
          throw new CliError('FAILED', text, {}, { cause: error })
        }
      }
      line(io, existsSync(path()) ? `${path()} is right` : `there is no ${path()}: defaults hold`)
    })
  config
    .command('default')
    .description('Print the file as it is at first')
    .action(() => io.out(defaultConfig(commands)))
  config
    .command('set')
    .description('Set an option in the file; lists with commas between')
    .argument('<option>', 'daemon.api')
    .argument('<value>')
    .action((name: string, value: string) => {
      const text = withSetting(readTextFile(path()) ?? defaultConfig(commands), commands, name, value)
      mkdirSync(home(), { recursive: true, mode: 0o700 })
      writeFile(path(), text)
      line(io, `${path()}: ${name} is set; a running node reads it at its next start, or at SIGHUP`)
    })
  config
    .command('path')
    .description('Print where the file is')
    .action(() => line(io, path()))
}
