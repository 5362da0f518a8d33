import type { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { CliError } from '../errors.ts'

/** What may follow a command. */
interface Node {
  /** Words up to it, without the program's name. */
  readonly path: readonly string[]
  readonly commands: readonly { readonly name: string; readonly summary: string }[]
  readonly options: readonly { readonly flag: string; readonly summary: string }[]
}

function* nodesOf(command: Command, path: readonly string[]): Iterable<Node> {
  const visible = command.createHelp().visibleCommands(command)
  yield {
    path,
    commands: visible.map((child) => ({ name: child.name(), summary: child.description() })),
    options: command
      .createHelp()
      .visibleOptions(command)
      .flatMap((option) => (option.long === undefined ? [] : [{ flag: option.long, summary: option.description }])),
  }
  for (const child of visible) {
    if (child.name() !== 'help') yield* nodesOf(child, [...path, child.name()])
  }
}

function words({ commands, options }: Node): string {
  return [...commands.map((command) => command.name), ...options.map((option) => option.flag)].join(' ')
}

/** Words of the line that are commands: options and what is after them are left out. */
const PATH_OF_LINE = `  local path="" word
  for word in "\${words[@]:1:$((current - 1))}"; do
    case "$word" in -*) ;; *) case " $(_petrel_words "$path") " in *" $word "*) path="$path/$word" ;; esac ;; esac
  done`

function cases(nodes: readonly Node[]): string {
  return nodes
    .map((node) => `    "${node.path.map((word) => `/${word}`).join('')}") echo "${words(node)}" ;;`)
    .join('\n')
}

function bash(nodes: readonly Node[]): string {
  return `# bash completion of petrel: petrel completion bash > /etc/bash_completion.d/petrel
_petrel_words() {
  case "$1" in
${cases(nodes)}
  esac
}
_petrel() {
  local words=("\${COMP_WORDS[@]}") current=$COMP_CWORD
${PATH_OF_LINE}
  COMPREPLY=($(compgen -W "$(_petrel_words "$path")" -- "\${words[current]}"))
}
complete -o default -F _petrel petrel
`
}

function zsh(nodes: readonly Node[]): string {
  return `#compdef petrel
# zsh completion of petrel: petrel completion zsh > "\${fpath[1]}/_petrel"
_petrel_words() {
  case "$1" in
${cases(nodes)}
  esac
}
_petrel() {
  local -a reply
  local path_="" word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ "$word" == -* ]] && continue
    [[ " $(_petrel_words "$path_") " == *" $word "* ]] && path_="$path_/$word"
  done
  reply=(\${(s: :)"$(_petrel_words "$path_")"})
  compadd -- $reply
  [[ \${words[CURRENT]} == -* ]] || _files
}
compdef _petrel petrel
`
}

const quoted = (text: string): string => `'${text.replace(/\\/g, '\\\\').replace(/'/g, "\\'")}'`

function fish(nodes: readonly Node[]): string {
  const lines = ['# fish completion of petrel: petrel completion fish > ~/.config/fish/completions/petrel.fish']
  lines.push(
    'function __petrel_at',
    '  set -l words (commandline -opc)[2..-1]',
    "  set -l path (string match -v -- '-*' $words)",
  )
  lines.push('  test "$path" = "$argv"', 'end')
  for (const { path, commands, options } of nodes) {
    const at = `-n ${quoted(`__petrel_at ${path.join(' ')}`.trim())}`
    for (const { name, summary } of commands) lines.push(`complete -c petrel ${at} -f -a ${name} -d ${quoted(summary)}`)
    for (const { flag, summary } of options) {
      lines.push(`complete -c petrel ${at} -l ${flag.slice(2)} -d ${quoted(summary)}`)
    }
  }
  return `${lines.join('\n')}\n`
}

const SHELLS: Readonly<Record<string, (nodes: readonly Node[]) => string>> = { bash, zsh, fish }

/** `completion bash|zsh|fish`: scripts out of the command tree. */
export function addCompletionCommand(program: Command, { io }: CliContext): void {
  program
    .command('completion')
    .description('Print a script that completes command lines')
    .argument('<shell>', Object.keys(SHELLS).join(', '))
    .action((shell: string) => {
      const script = SHELLS[shell]
      if (script === undefined) {
        throw new CliError('USAGE', `shell: expected ${Object.keys(SHELLS).join(', ')}, got "${shell}"`)
      }
      io.out(script([...nodesOf(program, [])]))
    })
}
