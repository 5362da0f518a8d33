/** Where an option's value is from: command line, environment, file, default. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { parse } from 'smol-toml'
import { afterAll, describe, expect, it } from 'vitest'
import { applySettings, defaultConfig, withSetting } from '../../../platform/cli/configFile.ts'

const home = mkdtempSync(join(tmpdir(), 'petrel-config-'))
afterAll(() => rmSync(home, { recursive: true }))

function daemon(args: readonly string[] = []): Command {
  const collect = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value]
  const command = new Command('daemon')
    .option('--api <port>', 'port', '1234')
    .option('--api-host <address>', 'address', '127.0.0.1')
    .option('--listen <multiaddr>', 'where (repeatable)', collect)
    .option('--no-net', 'nobody')
    .option('--log-file', 'a file')
  return command.parse([...args], { from: 'user' })
}

function settings(file: string, args: readonly string[] = [], env: Record<string, string> = {}) {
  writeFileSync(join(home, 'config.toml'), file)
  const command = daemon(args)
  const all = applySettings(command, [command], home, env)
  return {
    opts: command.opts<Record<string, unknown>>(),
    sources: Object.fromEntries(all.map(({ key, source }) => [key, source])),
  }
}

describe('the environment', () => {
  it('a variable that is almost an option’s is refused, with the one that was meant', () => {
    expect(() => settings('', [], { PETREL_LISTE: '/ip4/0.0.0.0/tcp/0' })).toThrow(
      'no option is called PETREL_LISTE in the environment; is it PETREL_LISTEN?',
    )
    expect(() => settings('', [], { PETREL_PASPHRASE: 'x' })).toThrow('is it PETREL_PASSPHRASE?')
  })

  it('names of others, and those of other commands of the node, are none of its business', () => {
    const others = { PETREL_SERVICE_HOST: '10.0.0.1', PETREL_SERVICE_PORT: '80', PETREL_PORT: 'tcp://10.0.0.1:80' }
    expect(settings('', [], { ...others, PETREL_HOME: home, PETREL_API: '2345' }).opts.api).toBe('2345')
  })

  it.each([
    // Of a service called petrel-api, as Kubernetes names them.
    ['PETREL_API_PORT', 'tcp://10.0.0.1:1234'],
    ['PETREL_API_PORT', 'udp://10.0.0.1:1234'],
    ['PETREL_API_PORT_1_TCP', 'tcp://10.0.0.1:1'],
    ['PETREL_API_SERVICE_HOST', '10.0.0.1'],
    ['PETREL_LISTEN_SERVICE_PORT', '1'],
    ['PETREL_HOST', 'node-1'],
    ['PETREL_NAME', 'first'],
    ['PETREL_TAG', '1.2'],
    ['PETREL_UID', '1000'],
  ])('%s=%s is passed over', (name, value) => {
    expect(settings('', [], { [name]: value }).opts.api).toBe('1234')
  })

  it.each([
    ['PETREL_APY', 'PETREL_API'],
    ['PETREL_API_PORT', 'PETREL_API_HOST'],
    ['PETREL_HOMES', 'PETREL_HOME'],
  ])('%s is refused: is it %s?', (name, meant) => {
    expect(() => settings('', [], { [name]: '1' })).toThrow(`is it ${meant}?`)
  })
})

describe('config.toml', () => {
  it('an option is not set where the file would be unreadable then', () => {
    const commands = [daemon()]
    for (const text of [
      'daemon = { api = 1 }\n',
      '[daemon]\n"api" = 1\n',
      '[ daemon ]\napi = 1\n',
      '[daemon]\nx = y\n',
    ]) {
      expect(() => withSetting(text, commands, 'daemon.api', '2'), text).toThrow('Cannot set daemon.api')
    }
    expect(parse(withSetting('[daemon]\napi = 1 # one\n', commands, 'daemon.api', '2'))).toEqual({
      daemon: { api: '2' },
    })
  })

  it('the command line goes above the environment, that above the file', () => {
    const file = '[daemon]\napi = 1\napi-host = "a"\nlisten = ["/x", "/y"]\nnet = false\n'
    const { opts, sources } = settings(file, ['--api', '3'], {
      PETREL_API: '2',
      PETREL_API_HOST: 'b',
      PETREL_LOG_FILE: 'true',
    })
    expect(opts).toEqual({ api: '3', apiHost: 'b', listen: ['/x', '/y'], net: false, logFile: true })
    const expected = {
      api: 'command line',
      'api-host': 'environment',
      listen: 'file',
      net: 'file',
      'log-file': 'environment',
    }
    expect(sources).toEqual(expected)
    expect(settings('').opts).toEqual({ api: '1234', apiHost: '127.0.0.1', net: true })
  })

  it("takes Lotus' variable for where the API listens", () => {
    const { opts } = settings('', [], { LOTUS_API_LISTENADDRESS: '/ip4/0.0.0.0/tcp/2345/http' })
    expect([opts.apiHost, opts.api]).toEqual(['0.0.0.0', '2345'])
    const unread = (): unknown => settings('', [], { LOTUS_API_LISTENADDRESS: '/dns4/node/tcp/2345/http' })
    expect(unread).toThrow(/LOTUS_API_LISTENADDRESS: expected .*, got "\/dns4\/node/)
  })

  it('what was set is forgotten when it stands there no more', () => {
    const command = daemon()
    writeFileSync(join(home, 'config.toml'), '[daemon]\napi = 7\nnet = false\n')
    applySettings(command, [command], home, {})
    expect(command.opts()).toMatchObject({ api: '7', net: false })
    writeFileSync(join(home, 'config.toml'), '')
    applySettings(command, [command], home, {})
    expect(command.opts()).toMatchObject({ api: '1234', net: true })
  })

  it('names what was meant, and where text is no TOML', () => {
    expect(() => settings('[daemon]\napi-hots = "a"\n')).toThrow(
      'no option of daemon is called api-hots; is it api-host?',
    )
    expect(() => settings('[deamon]\n')).toThrow('no table is called deamon; is it daemon?')
    expect(() => settings('api = 1\n')).toThrow('api stands in no table')
    expect(() => settings('[daemon]\nnet = "no"\n')).toThrow('daemon.net: expected true or false')
    expect(() => settings('[daemon]\napi = \n')).toThrow(/config\.toml:2:/)
  })

  it('the first file sets nothing and is TOML; what is set in it counts, once', () => {
    const first = defaultConfig([daemon()])
    expect(parse(first)).toEqual({ daemon: {} })
    expect(parse(first.replace(/^# (?=[a-z-]+ = )/gm, ''))).toMatchObject({
      daemon: { api: '1234', net: true, 'log-file': false },
    })
    const once = withSetting(first, [daemon()], 'daemon.api', '5')
    const twice = withSetting(withSetting(once, [daemon()], 'daemon.api', '6'), [daemon()], 'daemon.listen', '/x,/y')
    expect(parse(twice)).toEqual({ daemon: { api: '6', listen: ['/x', '/y'] } })
    expect(() => withSetting(first, [daemon()], 'daemon.apy', '5')).toThrow('is it api?')
  })
})
