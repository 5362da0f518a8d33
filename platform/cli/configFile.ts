/**
 * `config.toml` in a node's home: the options of the commands that run a node, one table for each command. The command line goes
 * above the environment (`PETREL_API=…`, Lotus' `LOTUS_API_LISTENADDRESS`), the environment above the file.
 */
import type { Command, Option } from 'commander'
import { parse, TomlError } from 'smol-toml'
import { Home, readTextFile } from '../server/home.ts'
import { CliError } from './errors.ts'

type TomlValue = string | number | boolean | bigint | readonly unknown[] | object
type Tables = ReadonlyMap<string, ReadonlyMap<string, TomlValue>>

/** Where an option's value is from. */
export type ValueSource = 'command line' | 'environment' | 'file' | 'default'

/** An option with its value. */
export interface Setting {
  readonly key: string
  readonly value: unknown
  readonly source: ValueSource
}

/** Key of an option: its long name; of `--no-net`: `net`. */
function keyOf(option: Option): string {
  return (option.long ?? '').replace(/^--(no-)?/, '')
}

/** Options that a file may set. */
function fileOptions(command: Command): Option[] {
  return command.options.filter(({ hidden, long }) => !hidden && long !== '--help')
}

/** Letters that are put in, left out or another between two words. */
function changes(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      next[j] = Math.min((next[j - 1] as number) + 1, (row[j] as number) + 1, (row[j - 1] as number) + same)
    }
    row = next
  }
  return row[b.length] as number
}

/** What was meant: the key with the fewest changes. */
function nearest(word: string, keys: readonly string[]): string | undefined {
  return [...keys].sort((a, b) => changes(word, a) - changes(word, b))[0]
}

function unknownKey(path: string, what: string, word: string, keys: readonly string[]): CliError {
  const meant = nearest(word, keys)
  return new CliError(
    'FAILED',
    `${path}: no ${what} is called ${word}${meant === undefined ? '' : `; is it ${meant}?`}`,
  )
}

function parsed(text: string, path: string): Tables {
  try {
    const tables = Object.entries(parse(text))
    return new Map(
      tables.map(([name, table]) => {
        if (typeof table === 'object' && !Array.isArray(table)) return [name, new Map(Object.entries(table as object))]
        throw new CliError('FAILED', `${path}: ${name} stands in no table: [daemon] or [devnet] is missing above it`)
      }),
    )
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause
    const reason = cause.message.split('\n')[0] ?? ''
    throw new CliError('FAILED', `${path}:${cause.line}:${cause.column}: ${reason}`, {}, { cause })
  }
}

/** The value of an option as the command line would have given it. */
function settingOf(option: Option, value: TomlValue, where: string): unknown {
  const wrong = (expected: string): CliError => new CliError('FAILED', `${where}: expected ${expected}`)
  if (option.isBoolean() || option.negate) {
    if (typeof value !== 'boolean') throw wrong('true or false')
    return value
  }
  const text = (given: unknown): string => {
    if (typeof given === 'string') return given
    if (typeof given === 'number' || typeof given === 'bigint') return String(given)
    throw wrong(option.parseArg === undefined ? 'a text or a number' : 'a list of texts')
  }
  if (option.parseArg === undefined) return text(value)
  return (Array.isArray(value) ? value : [value]).map(text)
}

/**
 * The values that a file's text gives to the options of a command.
 * @throws CliError `FAILED` for what is no TOML, a key that there is not, a value of another kind
 */
export function fileValues(
  text: string,
  path: string,
  commands: readonly Command[],
  command: Command,
): Map<string, unknown> {
  const tables = parsed(text, path)
  const out = new Map<string, unknown>()
  for (const [name, table] of tables) {
    const owner = commands.find((candidate) => candidate.name() === name)
    if (owner === undefined)
      throw unknownKey(
        path,
        'table',
        name,
        commands.map((candidate) => candidate.name()),
      )
    const options = fileOptions(owner)
    for (const [key, value] of table) {
      const option = options.find((candidate) => keyOf(candidate) === key)
      if (option === undefined) throw unknownKey(path, `option of ${name}`, key, options.map(keyOf))
      const read = settingOf(option, value, `${path}: ${name}.${key}`)
      if (owner === command) out.set(key, read)
    }
  }
  return out
}

type Environment = Readonly<Record<string, string | undefined>>

const PREFIX = 'PETREL_'

/** Name of an option in the environment. */
function variableOf(option: Option): string {
  return `${PREFIX}${keyOf(option).toUpperCase().replace(/-/g, '_')}`
}

/** Read elsewhere: the home, the keystore's passphrase, where `CreateBackup` writes. */
const OTHER_VARIABLES: readonly string[] = ['PETREL_HOME', 'PETREL_PASSPHRASE', 'PETREL_BACKUP_BASE_PATH']
/** More are another name: of a short word two changes make any other one (`PETREL_HOST`, `PETREL_TAG`). */
const misspeltBy = (word: string): number => (word.length <= SHORT_WORD ? 1 : 2)
const SHORT_WORD = 4

/**
 * Kubernetes tells a container of each service of its namespace, Docker of each link: `PETREL_API_PORT=tcp://10.0.0.1:1234` of one that is
 * called petrel-api.
 * @see kubernetes pkg/kubelet/envvars/envvars.go FromServices, makeLinkVariables
 */
function isOfService(name: string, value: string): boolean {
  return (
    /^(tcp|udp|sctp):\/\//.test(value) ||
    /_SERVICE_(HOST|PORT(_\w+)?)$/.test(name) ||
    /_PORT_\d+_(TCP|UDP|SCTP)(_\w+)?$/.test(name)
  )
}

/** What is read of the environment; undefined where Deno does not permit it. */
function permitted<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'NotCapable') throw error
    return undefined
  }
}

/** All that are set; none where Deno may read single ones alone. */
function namesOf(env: Environment): string[] {
  return permitted(() => Object.keys(env)) ?? []
}

/** @throws CliError `USAGE` for a variable that is almost an option's */
function assertSpelling(commands: readonly Command[], env: Environment): void {
  const known = [...OTHER_VARIABLES, ...commands.flatMap((command) => fileOptions(command).map(variableOf))]
  for (const name of namesOf(env)) {
    if (!name.startsWith(PREFIX) || known.includes(name) || isOfService(name, env[name] ?? '')) continue
    const meant = nearest(name, known)
    if (meant === undefined || changes(name, meant) > misspeltBy(name.slice(PREFIX.length))) continue
    throw new CliError('USAGE', `no option is called ${name} in the environment; is it ${meant}?`)
  }
}

function environmentValues(command: Command, env: Environment): Map<string, unknown> {
  const out = new Map<string, unknown>()
  // Lotus' name for where the API listens. @see lotus node/config (environment: LOTUS_<section>_<key>)
  const listenAddress = env.LOTUS_API_LISTENADDRESS ?? ''
  if (listenAddress !== '') {
    const lotus = /^\/ip[46]\/([^/]+)\/tcp\/(\d+)(\/http)?$/.exec(listenAddress)
    if (lotus === null) {
      const expected = 'expected such as /ip4/127.0.0.1/tcp/1234/http'
      throw new CliError('USAGE', `LOTUS_API_LISTENADDRESS: ${expected}, got "${listenAddress}"`)
    }
    out.set('api-host', lotus[1])
    out.set('api', lotus[2])
  }
  // @see lotus chain/sync_manager.go init
  if (fileOptions(command).some((option) => keyOf(option) === 'sync-peers')) {
    // Tasks of Deno from before it had a meaning do not name it.
    const syncPeers = permitted(() => env.LOTUS_SYNC_BOOTSTRAP_PEERS) ?? ''
    if (syncPeers !== '') out.set('sync-peers', syncPeers)
  }
  for (const option of fileOptions(command)) {
    const variable = variableOf(option)
    const text = env[variable]
    if (text === undefined || text === '') continue
    const isSwitch = option.isBoolean() || option.negate
    if (isSwitch && text !== 'true' && text !== 'false')
      throw new CliError('USAGE', `${variable}: expected true or false`)
    out.set(keyOf(option), isSwitch ? text === 'true' : option.parseArg === undefined ? text : text.split(','))
  }
  return out
}

/**
 * Gives a command the values of environment and file, below those of the command line.
 * @param commands - all that have a table
 * @throws CliError `USAGE` for what the environment has wrong, `FAILED` for the file
 * @returns every option, with where its value is from
 */
export function applySettings(
  command: Command,
  commands: readonly Command[],
  home: string,
  env: Environment,
): Setting[] {
  const path = new Home(home).settings
  const file = fileValues(readTextFile(path) ?? '', path, commands, command)
  assertSpelling(commands, env)
  const environment = environmentValues(command, env)
  return fileOptions(command).map((option) => {
    const key = keyOf(option)
    const name = option.attributeName()
    const isGiven = command.getOptionValueSource(name) === 'cli'
    // What an earlier reading set is read again.
    if (!isGiven) command.setOptionValueWithSource(name, option.negate ? true : option.defaultValue, 'default')
    const source = isGiven ? 'command line' : environment.has(key) ? 'environment' : file.has(key) ? 'file' : 'default'
    if (source === 'environment') command.setOptionValueWithSource(name, environment.get(key), 'env')
    if (source === 'file') command.setOptionValueWithSource(name, file.get(key), 'config')
    return { key, value: command.getOptionValue(name) as unknown, source }
  })
}

function tomlValue(option: Option, value: unknown): string {
  if (option.isBoolean() || option.negate) return String(value ?? false)
  if (option.parseArg !== undefined) return JSON.stringify(value ?? [])
  return JSON.stringify(value === undefined ? '' : String(value))
}

/** The file as it is written at first: every option in a comment, with its default. */
export function defaultConfig(commands: readonly Command[]): string {
  const lines = [
    '# The options of a node. What is given on the command line goes above the environment (PETREL_API=…), that above this file.',
    '# `petrel config check` reads it, `petrel config set daemon.api 2345` writes it; SIGHUP makes a running node read log, cors-origin,',
    '# api-name, api-max-req-size, trusted-proxy and bootstrap again.',
  ]
  for (const command of commands) {
    lines.push('', `[${command.name()}]`)
    for (const option of fileOptions(command)) {
      lines.push(
        `# ${option.description}`,
        `# ${keyOf(option)} = ${tomlValue(option, option.negate ? true : option.defaultValue)}`,
      )
    }
  }
  return `${lines.join('\n')}\n`
}

/**
 * A file's text with one option set.
 * @param name - `daemon.api`
 * @throws CliError `USAGE`, `FAILED`
 */
export function withSetting(text: string, commands: readonly Command[], name: string, value: string): string {
  const [table = '', key = ''] = name.split('.')
  const command = commands.find((candidate) => candidate.name() === table)
  if (command === undefined)
    throw unknownKey(
      name,
      'table',
      table,
      commands.map((candidate) => candidate.name()),
    )
  const options = fileOptions(command)
  const option = options.find((candidate) => keyOf(candidate) === key)
  if (option === undefined) throw unknownKey(name, `option of ${table}`, key, options.map(keyOf))
  if ((option.isBoolean() || option.negate) && value !== 'true' && value !== 'false') {
    throw new CliError('USAGE', `${name}: expected true or false`)
  }
  const given = option.parseArg === undefined ? value : value === '' ? [] : value.split(',')
  const changed = withLine(text, table, key, `${key} = ${tomlValue(option, given)}`)
  assertSet(changed, commands, command, {
    name,
    key,
    given: option.isBoolean() || option.negate ? value === 'true' : given,
  })
  return changed
}

/** The text with a line of a table in place of the one with that key, or behind the comment about it. */
function withLine(text: string, table: string, key: string, set: string): string {
  const lines = text.split('\n')
  const start = lines.findIndex((line) => line.trim() === `[${table}]`)
  if (start < 0) return `${text.trimEnd()}\n\n[${table}]\n${set}\n`
  const next = lines.findIndex((line, i) => i > start && /^\s*\[/.test(line))
  const end = next < 0 ? lines.length : next
  const isKey = (line: string): boolean => line.split('=')[0]?.trim() === key
  const isComment = (line: string): boolean => isKey(line.replace(/^\s*#\s*/, ''))
  const inTable = (test: (line: string) => boolean): number =>
    lines.findIndex((line, i) => i > start && i < end && test(line))
  const at = inTable(isKey)
  const below = inTable(isComment)
  if (at >= 0) lines[at] = set
  else lines.splice(below >= 0 ? below + 1 : start + 1, 0, set)
  return lines.join('\n')
}

/** A table or a key may be written in other ways than this program writes them: a second one would make the file unreadable. */
function assertSet(
  text: string,
  commands: readonly Command[],
  command: Command,
  { name, key, given }: { readonly name: string; readonly key: string; readonly given: unknown },
): void {
  let read: unknown
  let cause: unknown
  try {
    read = fileValues(text, 'config.toml', commands, command).get(key)
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    cause = error
  }
  if (JSON.stringify(read) === JSON.stringify(given)) return
  const reason = cause instanceof CliError ? ` (${cause.message})` : ''
  throw new CliError('FAILED', `Cannot set ${name}: with it the file could not be read any more; edit it${reason}`)
}
