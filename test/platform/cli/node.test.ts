/** What `daemon` and `devnet` make of the command line. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { addNodeCommands } from '../../../platform/cli/commands/node.ts'
import type { DaemonOptions, DevnetRunOptions, ReplicaOptions } from '../../../platform/server/options.ts'
import { MAX_READ_THREADS } from '../../../src/base/bounds.ts'
import { leadingTo, petrel, type RunOptions, startFakeNode } from './fakeNode.ts'

/** Runs the command with a runner that only notes what it was given. */
async function started(args: string[], options: RunOptions = {}) {
  const seen: { daemon?: DaemonOptions; devnet?: DevnetRunOptions; replica?: ReplicaOptions } = {}
  const ran = await petrel(args, {
    ...options,
    addNodeCommands: (program, context) =>
      addNodeCommands(program, context, {
        daemon: (given) => {
          seen.daemon = given
          return Promise.resolve()
        },
        devnet: (given) => {
          seen.devnet = given
          return Promise.resolve()
        },
        replica: (given) => {
          seen.replica = given
          return Promise.resolve()
        },
        signer: () => Promise.reject(new Error('not asked for')),
        sign: () => Promise.reject(new Error('not asked for')),
      }),
  })
  return { ...ran, ...seen }
}

describe('replica', () => {
  it('takes disk for fetched blocks, and no less than it can work with', async () => {
    const args = ['replica', '--index', 'postgres://reader@localhost/chain', '--blocks', 'http://localhost:1234']
    expect((await started(args)).replica?.diskCacheMib).toBe(4096)
    expect((await started([...args, '--disk-cache', '64'])).replica?.diskCacheMib).toBe(64)
    expect((await started([...args, '--disk-cache', '63'])).err).toContain('disk-cache: at least 64 MiB')
  })
})

describe('daemon', () => {
  it('has defaults', async () => {
    expect((await started(['daemon'])).daemon).toEqual({
      repo: '/home/someone/.petrel',
      host: '127.0.0.1',
      port: 1234,
      corsOrigins: [],
      apiNames: [],
      trustedProxies: [],
      monitor: false,
      maxRequestBytes: undefined,
      passphrase: undefined,
      net: { listen: [], announce: [], hide: [], bootstrap: [], upnp: false },
      keepState: 2000,
      log: { levels: 'info', format: 'text', toFile: false },
      configText: expect.stringContaining('[daemon]') as string,
      reload: expect.any(Function) as () => Promise<never>,
      network: undefined,
      snapshot: undefined,
      genesis: undefined,
      validate: undefined,
      light: { sources: [], pushesToSources: false, checkpoint: undefined },
    })
  })

  it('takes how many heads are heard before the first sync, by the name in Lotus too', async () => {
    expect((await started(['daemon'])).daemon?.syncPeers).toBeUndefined()
    expect((await started(['daemon', '--sync-peers', '1'])).daemon?.syncPeers).toBe(1)
    const env = { LOTUS_SYNC_BOOTSTRAP_PEERS: '2' }
    expect((await started(['daemon'], { env })).daemon?.syncPeers).toBe(2)
    expect((await started(['daemon', '--sync-peers', '3'], { env })).daemon?.syncPeers).toBe(3)
    expect((await started(['devnet'], { env })).err).toBe('')
    for (const wrong of ['0', '65']) {
      expect((await started(['daemon', '--sync-peers', wrong])).err).toContain('sync-peers: expected 1 to 64')
    }
  })

  it('takes how many threads answer reads, none to all that can count together', async () => {
    expect((await started(['daemon'])).daemon?.rpcThreads).toBeUndefined()
    for (const most of [0, MAX_READ_THREADS]) {
      expect((await started(['daemon', '--rpc-threads', `${most}`])).daemon?.rpcThreads).toBe(most)
      expect((await started(['devnet', '--rpc-threads', `${most}`])).devnet?.rpcThreads).toBe(most)
    }
    for (const wrong of [-1, MAX_READ_THREADS + 1, 100_000]) {
      const { err, daemon } = await started(['daemon', '--rpc-threads', `${wrong}`])
      expect([err, daemon]).toEqual([`ERROR: rpc-threads: expected 0 to 16, got "${wrong}"\n`, undefined])
    }
  })

  it('takes memory for caches, and no less than it can work with', async () => {
    expect((await started(['daemon'])).daemon?.cacheMib).toBeUndefined()
    expect((await started(['daemon', '--cache', '64'])).daemon?.cacheMib).toBe(64)
    expect((await started(['daemon', '--cache', '31'])).err).toContain('cache: at least 32 MiB')
  })

  it('takes network, snapshot, repo, API', async () => {
    const args = [
      '--repo',
      '/r',
      'daemon',
      '--network',
      'calibnet',
      '--snapshot',
      'x.car.zst',
      '--api',
      '0',
      '--api-host',
      '::1',
    ]
    const cors = ['--cors-origin', 'http://a', '--cors-origin', 'http://b', '--api-max-req-size', '1000']
    expect((await started([...args, ...cors])).daemon).toMatchObject({
      repo: '/r',
      network: 'calibnet',
      snapshot: 'x.car.zst',
      port: 0,
      host: '::1',
      corsOrigins: ['http://a', 'http://b'],
      apiNames: [],
      maxRequestBytes: 1000,
    })
  })

  it('takes the passphrase from a file or the environment, never from an argument', async () => {
    expect((await started(['daemon'], { env: { PETREL_PASSPHRASE: 'abc' } })).daemon?.passphrase).toBe('abc')
    const files = { '/p': 'a b \n' }
    expect((await started(['daemon', '--passphrase-file', '/p'], { files })).daemon?.passphrase).toBe('a b ')
    expect((await started(['daemon', '--passphrase-file', '/p'], { files: { '/p': '\n' } })).err).toBe(
      'ERROR: the passphrase is empty\n',
    )
    expect((await started(['daemon', '--passphrase', 'x'])).code).toBe(2)
  })

  it('stop asks the running node', async () => {
    const fake = await startFakeNode({ Shutdown: null })
    const ran = await started(['daemon', 'stop'], leadingTo(fake))
    expect(ran).toEqual({ code: 0, out: 'node is stopping\n', err: '' })
    expect(fake.calls[0]?.method).toBe('Shutdown')
    await fake.close()
  })
})

describe('config check', () => {
  const home = mkdtempSync(join(tmpdir(), 'petrel-check-'))
  afterAll(() => rmSync(home, { recursive: true }))
  const check = async (file: string) => {
    writeFileSync(join(home, 'config.toml'), file)
    return await started(['--repo', home, 'config', 'check'])
  }

  it.each([
    ['[daemon]\napi = 99999', 'daemon: api: 99999 is no port'],
    ['[daemon]\nkeep-state = 5', 'daemon: keep-state: at least 1800 epochs are needed'],
    ['[daemon]\nvalidate = "some"', 'daemon: validate: expected execute or headers or light, got "some"'],
    ['[devnet]\nlog = "info,p2q=debug"', 'no part is called p2q'],
    ['[devnet]\nblock-time = "x"', 'devnet: block-time: "x" is no number of seconds above 0'],
    ['[devnet]\nblok-time = 1', 'is it block-time?'],
  ])('names what a start would refuse: %j', async (file, why) => {
    const { code, err, daemon, devnet } = await check(file)
    expect(err).toContain(`${join(home, 'config.toml')}: `)
    expect(err).toContain(why)
    expect([code, daemon, devnet]).toEqual([1, undefined, undefined])
  })

  it('says that a file is right', async () => {
    const { code, out } = await check('[daemon]\napi = 2345\nlog = "warn,p2p=debug"\n[devnet]\nblock-time = 0.5\n')
    expect([code, out]).toEqual([0, `${join(home, 'config.toml')} is right\n`])
  })
})

describe('devnet', () => {
  it('has defaults', async () => {
    const { devnet } = await started(['devnet'])
    expect(devnet).toMatchObject({ port: 1234, inMemory: false })
    expect(devnet?.devnet).toMatchObject({ miners: 1, blockTimeMs: 4000, instant: false, balance: 10n ** 24n })
  })

  it('takes its options', async () => {
    const args = [
      'devnet',
      '--miners',
      '3',
      '--block-time',
      '0.25',
      '--instant',
      '--seed',
      's',
      '--memory',
      '--balance',
      '5 FIL',
    ]
    const { devnet } = await started([
      ...args,
      '--accounts',
      '2',
      '--genesis-time',
      '1700000000',
      '--network-name',
      'n',
      '--actor-debugging',
    ])
    expect(devnet?.inMemory).toBe(true)
    expect(devnet?.devnet).toEqual({
      miners: 3,
      blockTimeMs: 250,
      instant: true,
      seed: 's',
      balance: 5n * 10n ** 18n,
      accountsPerKind: 2,
      genesisTimestamp: 1700000000,
      networkName: 'n',
      actorDebugging: true,
    })
    expect((await started(['devnet'])).devnet?.devnet.actorDebugging).toBe(false)
    expect((await started(['devnet', '--manual'])).devnet?.devnet.blockTimeMs).toBe(0)
  })

  it.each([
    [['devnet', '--miners', 'x'], 'miners: "x" is no whole number'],
    [['devnet', '--miners', '0'], 'Cannot start devnet: miners is 0, expected 1 to 50'],
    [['devnet', '--block-time', '0'], 'block-time: "0" is no number of seconds above 0'],
    [['devnet', '--api', '70000'], 'api: 70000 is no port'],
    [['devnet', '--log', 'info,p2q=debug'], 'no part is called p2q'],
    [
      ['devnet', '--cors-origin', 'example.com'],
      'cors-origin: expected an origin (https://host:port) or *, got "example.com"',
    ],
    [['daemon', '--cors-origin', 'https://example.com/'], 'cors-origin: expected an origin'],
    [
      ['daemon', '--trusted-proxy', 'nginx'],
      'trusted-proxy: expected an address or a network (10.0.0.0/8), got "nginx"',
    ],
    [['daemon', '--trusted-proxy', '0.0.0.0/0'], 'trusted-proxy: 0.0.0.0/0 is everybody'],
    [['devnet', '--balance', 'much'], 'failed to parse "much" as a decimal number'],
    [['devnet', 'extra'], 'too many arguments'],
  ])('%s is refused', async (args, text) => {
    const ran = await started(args)
    expect(ran.code).toBe(2)
    expect(ran.devnet).toBeUndefined()
    expect(ran.err).toMatch(/^ERROR: [^\n]+\n$/)
    expect(ran.err).toContain(text)
  })
})
