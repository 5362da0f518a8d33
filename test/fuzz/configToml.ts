/** `config.toml` as an operator, or somebody else, may have written it, read with options of each kind. */
import { Command } from 'commander'
import { fileValues, withSetting } from '../../platform/cli/configFile.ts'
import { fromUtf8, utf8 } from '../../src/base/bytes.ts'
import type { FuzzTarget } from './fuzzTarget.ts'

const collect = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value]
const command = (name: string): Command =>
  new Command(name)
    .option('--api <port>', 'port', '1234')
    .option('--bootstrap <address>', 'peers (repeatable)', collect)
    .option('--no-net', 'nobody')
    .option('--log-file', 'a file')
const daemon = command('daemon')
const commands = [daemon, command('devnet')]

/** What a file that this program wrote says of one option; a file that cannot be read then is a fault. */
function readApi(text: string): unknown {
  try {
    return fileValues(text, 'config.toml', commands, daemon).get('api')
  } catch (cause) {
    throw new Error('a file in which an option was set cannot be read', { cause })
  }
}

/** What is taken is of the option's kind, and is still there when another is set. */
export const configToml: FuzzTarget = {
  seeds: () => [
    utf8('[daemon]\napi = 1\nbootstrap = ["/x", "/y"]\nnet = false\n\n[devnet]\nlog-file = true\n'),
    utf8("# words\n[daemon]\n\"api\" = \"2345\" # more\nbootstrap = '''\n/x'''\n"),
    utf8('daemon = { api = 0x10, net = true }\n'),
    utf8('[daemon]\napi = 1979-05-27T07:32:00Z\n'),
  ],
  run: (input) => {
    const text = fromUtf8(input)
    const values = fileValues(text, 'config.toml', commands, daemon)
    for (const [key, value] of values) {
      const kinds: Readonly<Record<string, boolean>> = {
        api: typeof value === 'string',
        bootstrap: Array.isArray(value) && value.every((one) => typeof one === 'string'),
        net: typeof value === 'boolean',
        'log-file': typeof value === 'boolean',
      }
      if (kinds[key] !== true) throw new Error(`${key} is ${String(value)}`)
    }
    const set = withSetting(text, commands, 'daemon.api', '7')
    if (readApi(set) !== '7') throw new Error('an option that was set is not set')
  },
}
